"""The receiver as GitHub and strangers meet it: a real process over real sockets."""

import asyncio
import gzip
import json
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.server.app import MOST_ARRIVING
from bot.server.deliveries import MOST_BYTES, Delivery, sign
from bot.server.intake import Intake, QueueUnavailable
from bot.server.queue import Added
from tests.bot.server.service import SECRET, Answer, Service, headers, make_service, wait_for
from tests.bot.workflow.hub import HOUSE, comment, push
from tests.doubles.github import GitHubServer

EXAMPLES = json.loads(
    gzip.decompress((HOUSE / "tests/fixtures/webhook_examples.json.gz").read_bytes())
)
PUSH = push("a" * 40, "b" * 40)


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A server without workers: what it accepts stays in the queue."""
    with GitHubServer() as hub:
        made = make_service(tmp_path_factory.mktemp("receiver"), hub)
        made.arguments = ("--workers", "0")
        made.start()
        yield made
        made.close()


def ids(state: Path) -> list[str]:
    """What is in the queue, read by nobody's code but SQLite's."""
    db = sqlite3.connect(state / "queue.sqlite3")
    found = [row[0] for row in db.execute("SELECT id FROM deliveries ORDER BY seq")]
    db.close()
    return found


def test_a_signed_delivery_is_accepted_and_on_the_disk(receiver: Service) -> None:
    answer = receiver.deliver("push", PUSH, "aaaaaaaa-1")
    assert (answer.status, answer.word) == (202, "accepted")
    assert "aaaaaaaa-1" in ids(receiver.state)


@pytest.mark.parametrize(
    ("changes", "status", "reason"),
    [
        ({"X-Hub-Signature-256": ""}, 401, "signature-missing"),
        ({"X-Hub-Signature-256": "sha256=" + "0" * 64}, 401, "signature-wrong"),
        ({"X-GitHub-Delivery": ""}, 400, "not-a-delivery"),
        ({"X-GitHub-Event": "../../etc"}, 400, "not-a-delivery"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415, "content-type"),
        ({"Content-Type": ""}, 415, "content-type"),
    ],
)
def test_what_is_not_github_s_is_refused(
    receiver: Service, changes: dict[str, str], status: int, reason: str
) -> None:
    before = ids(receiver.state)
    answer = receiver.deliver("push", PUSH, **changes)
    assert (answer.status, answer.word, answer.reason) == (status, "refused", reason)
    assert ids(receiver.state) == before


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("POST", "/", 404), ("POST", "/webhook/", 404), ("GET", "/webhook", 405), ("PUT", "/x", 404)],
)
def test_what_comes_to_another_address_is_told_which_one_it_is(
    receiver: Service, method: str, path: str, status: int
) -> None:
    answer = receiver.ask(method, path, b"{}" if method != "GET" else None)
    assert (answer.status, answer.word, answer.reason) == (status, "refused", "no-such-address")


def test_a_body_signed_by_somebody_else_is_refused(receiver: Service) -> None:
    body = json.dumps(PUSH).encode()
    answer = receiver.ask("POST", "/webhook", body, headers("push", body, secret="x" * 32))
    assert (answer.status, answer.reason) == (401, "signature-wrong")
    signed = headers("push", body)
    changed = body.replace(b"bbb", b"bbc", 1)
    assert receiver.ask("POST", "/webhook", changed, signed).status == 401


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"ref": 7}', b"[" * 9999]
)
def test_signed_nonsense_is_malformed(receiver: Service, body: bytes) -> None:
    answer = receiver.ask("POST", "/webhook", body, headers("push", body))
    assert (answer.status, answer.reason) == (400, "malformed-event")


def test_as_much_as_github_sends_is_taken_and_one_byte_more_is_not(receiver: Service) -> None:
    text = json.dumps({**PUSH, "padding": ""}).encode()
    whole = text[:-2] + b"x" * (MOST_BYTES - len(text)) + text[-2:]
    assert len(whole) == MOST_BYTES
    assert receiver.ask("POST", "/webhook", whole, headers("push", whole)).status == 202
    more = whole + b" "
    answer = receiver.ask("POST", "/webhook", more, headers("push", more))
    assert (answer.status, answer.reason) == (413, "too-large")


def test_a_body_without_a_length_is_measured_as_it_comes(receiver: Service) -> None:
    head = headers("push", b"")
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    with socket.create_connection(("127.0.0.1", receiver.port), timeout=60) as link:
        head = "POST /webhook HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
        link.sendall(f"{head}{lines}\r\n".encode())
        chunk = b"x" * 1_000_000
        piece = b"%x\r\n%b\r\n" % (len(chunk), chunk)
        try:
            for _ in range(30):
                link.sendall(piece)
        except OSError:
            pass  # it stopped listening, as it should
        assert link.recv(100).startswith(b"HTTP/1.1 413")


def test_who_comes_while_too_many_are_sending_is_told_why(receiver: Service) -> None:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers("push", b"").items())
    start = f"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n{lines}\r\n".encode()
    with ExitStack() as links:

        def send(count: int) -> Answer:
            for _ in range(count):
                link = socket.create_connection(("127.0.0.1", receiver.port), timeout=60)
                links.enter_context(link).sendall(start)
            return receiver.deliver("push", PUSH)

        told = send(MOST_ARRIVING)
        # Where that took so long that the first were given up, others come in their place.
        for _ in range(200):
            if told.status == 503:
                break
            told = send(20)
        assert (told.status, told.reason) == (503, "busy")
    wait_for(lambda: receiver.deliver("push", PUSH).status == 202, "room for another delivery")


def test_all_real_payloads_are_answered_politely(receiver: Service) -> None:
    words = set()
    for kind in EXAMPLES:
        for payload in kind["examples"][:4]:
            body = json.dumps(payload).encode()
            answer = receiver.ask("POST", "/webhook", body, headers(kind["name"], body))
            assert answer.status in (200, 202), (kind["name"], answer)
            words.add(answer.word)
    assert words == {"accepted", "ignored"}


def test_one_of_many_equal_deliveries_at_once_is_accepted(receiver: Service) -> None:
    name, said = str(uuid.uuid4()), []

    def send() -> None:
        said.append(receiver.deliver("push", PUSH, name).word)

    threads = [threading.Thread(target=send) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said) == ["accepted"] + ["duplicate"] * 19
    assert ids(receiver.state).count(name) == 1


def test_there_are_no_other_pages(receiver: Service) -> None:
    for path in ("/", "/docs", "/openapi.json", "/redoc", "/webhook"):
        assert receiver.ask("GET", path).status in (404, 405), path
    assert receiver.ask("GET", "/healthz").text == "ok\n"
    assert (receiver.ask("GET", "/readyz").status, receiver.ask("GET", "/readyz").text) == (
        200,
        "ready\n",
    )


def test_many_may_ask_at_once_whether_it_is_ready(receiver: Service) -> None:
    said: list[int] = []
    threads = [
        threading.Thread(target=lambda: said.append(receiver.ask("GET", "/readyz").status))
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == [200] * 20


def test_prometheus_reads_the_figures(receiver: Service) -> None:
    receiver.deliver("push", PUSH, "bbbbbbbb-1")
    receiver.deliver("push", PUSH, "bbbbbbbb-1")
    receiver.deliver("push", PUSH, **{"X-Hub-Signature-256": ""})
    receiver.deliver("star", PUSH)
    text = receiver.ask("GET", "/metrics").text
    families = {each.name: each for each in text_string_to_metric_families(text)}
    for name in ("accepted", "duplicate", "ignored", "refused", "done", "failed", "retried"):
        assert families[f"stratwright_{name}"].type == "counter", name
    reasons = {s.labels["reason"] for s in families["stratwright_refused"].samples}
    assert "signature-missing" in reasons
    times = families["stratwright_request_seconds"]
    assert times.type == "histogram"
    buckets = [s.value for s in times.samples if s.name.endswith("_bucket")]
    (count,) = [s.value for s in times.samples if s.name.endswith("_count")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == count >= 4
    assert receiver.figure("queue_depth") == len(ids(receiver.state))
    assert receiver.figure("duplicate_total") >= 1


def test_a_full_disk_is_told_and_nothing_is_accepted(tmp_path: Path, hub: GitHubServer) -> None:
    service = make_service(tmp_path, hub)
    service.arguments = ("--workers", "0")
    # A disk of one megabyte, of its own: real ENOSPC.
    mount = f"mkdir -p {service.state} && mount -t tmpfs -o size=1m tmpfs {service.state}"
    service.wrapper = ("unshare", "-r", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh")
    service.start()
    try:
        payload = {**PUSH, "padding": "x" * 100_000}
        answers = [service.deliver("push", payload) for _ in range(30)]
        statuses = [answer.status for answer in answers]
        assert set(statuses) == {202, 503}
        refused = next(answer for answer in answers if answer.status == 503)
        assert refused.reason == "queue-unavailable"
        assert service.figure("queue_depth") == statuses.count(202)
        assert service.ask("GET", "/healthz").status == 200
        assert service.figure("refused_total") == statuses.count(503)
    finally:
        service.close()


def sockets(process: int) -> set[str]:
    """Those that a process has open."""
    held = Path(f"/proc/{process}/fd")
    found = set()
    for number in os.listdir(held):
        with suppress(FileNotFoundError):
            found.add(os.readlink(held / number))
    return {name for name in found if name.startswith("socket:")}


def refuses(port: int) -> bool:
    """Whether nobody listens any more."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=60).close()
    except ConnectionRefusedError:
        return True
    return False


def test_sigterm_answers_what_has_begun_and_ends_well(service: Service) -> None:
    service.arguments = ("--workers", "1", "--grace", "20")
    service.start()
    body = json.dumps(PUSH).encode()
    lines = "".join(f"{k}: {v}\r\n" for k, v in headers("push", body, "cccccccc-1").items())
    assert service.process is not None
    process, held = service.process.pid, sockets(service.process.pid)
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as link:
        head = f"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n{lines}\r\n"
        link.sendall(head.encode() + body[:10])
        wait_for(lambda: sockets(process) - held, "the connection to be accepted")
        service.process.terminate()
        wait_for(lambda: refuses(service.port), "the end of listening")
        link.sendall(body[10:])
        assert link.recv(100).startswith(b"HTTP/1.1 202")
    assert service.process.wait(60) == 0
    assert service.log[-1] == "stopped"
    assert ids(service.state) == ["cccccccc-1"]
    assert refuses(service.port)


def test_sigterm_puts_unfinished_work_back_and_the_next_server_does_it(service: Service) -> None:
    number = service.world.hosted.open_issue("Strategy", "x", "alice", ["stratwright"]).number
    service.hub.faults.add(match="GET *collaborators*", kind="timeout_before", times=1, seconds=60)
    service.arguments = ("--workers", "1", "--grace", "1")
    service.start()
    service.deliver("issue_comment", comment(number, "/stratwright halt", comment_id=77))
    wait_for(lambda: service.figure("queue_leased") == 1, "the lease")
    wait_for(lambda: any("collab" in each.path for each in service.hub.requests), "the call")
    assert service.stop() == 0
    assert service.world.hosted.record.comments == {}
    service.start()
    wait_for(lambda: len(service.world.hosted.record.comments) == 1, "the answer")
    service.settle()
    assert len(service.world.hosted.record.comments) == 1
    assert service.figure("queue_aside") == 0


def test_a_worker_that_outlives_its_server_keeps_its_lease_until_it_is_gone(
    service: Service,
) -> None:
    number = service.world.hosted.open_issue("Strategy", "x", "alice", ["stratwright"]).number
    service.arguments = ("--workers", "0")
    service.start()
    service.deliver("issue_comment", comment(number, "/stratwright halt"))
    script = (
        "import sys, time, pathlib\n"
        "from bot.server.queue import Queue\n"
        "from bot.server.lease import hold_lock\n"
        "state = pathlib.Path(sys.argv[1])\n"
        "kept = hold_lock(state, 'old')\n"
        "print(Queue(state).claim('old').seq, flush=True)\n"
        "time.sleep(600)\n"
    )
    old = subprocess.Popen(
        [sys.executable, "-c", script, str(service.state)], stdout=subprocess.PIPE, cwd=HOUSE
    )
    assert old.stdout is not None
    assert old.stdout.readline().strip().isdigit()
    service.kill()
    service.arguments = ("--workers", "1")
    service.start()
    wait_for(lambda: service.figure("workers") == 1, "the worker")
    assert service.figure("queue_leased") == 1
    assert service.world.hosted.record.comments == {}
    old.kill()
    old.wait()
    old.stdout.close()
    wait_for(lambda: len(service.world.hosted.record.comments) == 1, "the answer")
    service.settle()
    assert len(service.world.hosted.record.comments) == 1


def test_a_delivery_is_known_again_after_a_restart_and_after_kill_9(service: Service) -> None:
    service.arguments = ("--workers", "0")
    service.start()
    assert service.deliver("push", PUSH, "dddddddd-1").status == 202
    for end in (service.kill, service.stop):
        end()
        service.start()
        again = service.deliver("push", PUSH, "dddddddd-1")
        assert (again.status, again.reason) == (200, "duplicate-delivery")
    assert ids(service.state) == ["dddddddd-1"]


def test_a_delivery_that_breaks_the_intake_does_not_end_it(tmp_path: Path) -> None:
    """Whatever goes wrong with one, the next is accepted."""

    async def two() -> None:
        intake = Intake(tmp_path)
        try:
            with pytest.raises(QueueUnavailable):
                await intake.take(Delivery("broken-1", "push", "a/b", 2**70, b"{}"))
            taken = await intake.take(Delivery("sound-01", "push", "a/b", 1, b"{}"))
            assert taken is Added.ACCEPTED
        finally:
            intake.close()

    asyncio.run(two())
    assert ids(tmp_path) == ["sound-01"]


def test_two_servers_do_not_share_a_folder(receiver: Service) -> None:
    command = [sys.executable, "-m", "bot.cli", "serve", "--port", "0"]
    done = subprocess.run(
        [*command, "--state", str(receiver.state)],
        env=receiver.environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=HOUSE,
        timeout=60,
    )
    assert done.returncode == 2
    assert "another stratwright serve uses" in done.stderr


def test_a_server_without_its_secrets_says_which(service: Service) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bot.cli", "serve", "--state", str(service.state)],
        env={**service.environment, "STRATWRIGHT_APP_PRIVATE_KEY": "nonsense"},
        capture_output=True,
        text=True,
        check=False,
        cwd=HOUSE,
        timeout=60,
    )
    assert done.returncode == 2
    assert "is not an RSA private key" in done.stderr
    assert SECRET not in done.stderr
    assert "nonsense" not in done.stderr


def test_secrets_can_come_from_files(service: Service, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{'new' * 10}\n{SECRET}\n")
    service.more = {
        "STRATWRIGHT_WEBHOOK_SECRET": "",
        "STRATWRIGHT_WEBHOOK_SECRET_FILE": str(tmp_path / "secret"),
    }
    service.arguments = ("--workers", "0")
    service.start()
    for secret in ("new" * 10, SECRET):
        body = json.dumps(PUSH).encode()
        signed = {**headers("push", body), "X-Hub-Signature-256": sign(body, secret.encode())}
        assert service.ask("POST", "/webhook", body, signed).status == 202


def test_no_program_that_the_server_starts_inherits_the_secrets(service: Service) -> None:
    service.start()
    assert service.process is not None
    children = Path(f"/proc/{service.process.pid}/task/{service.process.pid}/children")
    wait_for(lambda: children.read_text().split(), "the workers")
    for child in children.read_text().split():
        held = Path(f"/proc/{child}/environ").read_bytes()
        assert SECRET.encode() not in held
        assert b"PRIVATE KEY" not in held
    assert os.path.isdir(service.state)
