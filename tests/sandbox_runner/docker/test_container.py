"""A container gets what the security page lists, and its output is read strictly."""

import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_runner.docker.container import Places, describe_container
from sandbox_runner.docker.container_stream import Conversation, converse, read_answer
from sandbox_runner.namespace.syscalls import DENIED
from sandbox_runner.port import Job
from tests.chance import examples

HOUSE = Path(__file__).resolve().parents[3]
PLACES = Places(Path("/a/job"), Path("/a/packages"))
MARK = b"0123456789abcdef"


def describe(**changes: Any) -> dict[str, Any]:
    job = Job(**({"command": ("python", "-c", "pass"), "files": {}} | changes))
    return describe_container(job, "sha256:abc", PLACES, {}, 0.5)


def test_the_container_is_what_the_security_page_lists() -> None:
    body = describe()
    host = body["HostConfig"]
    assert body["User"] == "10001:10001"
    assert body["Image"].startswith("sha256:")
    assert (host["NetworkMode"], host["ReadonlyRootfs"]) == ("none", True)
    assert (host["CapDrop"], host["PidsLimit"]) == (["ALL"], 64)
    assert host["Memory"] == host["MemorySwap"] == 1 << 30
    assert host["NanoCpus"] == 500_000_000
    assert (host["IpcMode"], host["LogConfig"]["Type"]) == ("none", "none")
    assert host["SecurityOpt"][0] == "no-new-privileges"
    assert host["SecurityOpt"][1].startswith("seccomp={")
    limits = {limit["Name"]: limit["Hard"] for limit in host["Ulimits"]}
    assert (limits["nofile"], limits["core"]) == (256, 0)
    assert limits["fsize"] == 64 << 20
    assert all(mount["ReadOnly"] for mount in host["Mounts"])
    assert sorted(host["Tmpfs"]) == ["/dev/shm", "/out", "/tmp"]  # noqa: S108
    assert all("size=67108864" in options for options in host["Tmpfs"].values())
    assert "Privileged" not in host
    assert "Binds" not in host


def test_the_system_call_profile_lets_no_denied_call_through() -> None:
    profile = json.loads((HOUSE / "sandbox_runner/docker/seccomp.json").read_text("utf-8"))
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    allowed = {
        name
        for rule in profile["syscalls"]
        if rule["action"] == "SCMP_ACT_ALLOW"
        for name in rule["names"]
    }
    assert allowed & set(DENIED) == set()
    sockets = {"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4"}
    assert allowed & sockets == set()
    assert "clone3" not in allowed
    for name in ("clone", "prlimit64"):
        rules = [rule for rule in profile["syscalls"] if name in rule["names"]]
        assert len(rules) == 1
        assert rules[0]["args"]


# --- the answer of the keeper


def test_outputs_are_read_in_their_order() -> None:
    answer = b"0 taken 3\nabc1 refused 18\nit was not written2 taken 0\n"
    collected = read_answer(answer, ("a", "b", "c"), 100)
    assert collected.taken == {"a": b"abc", "c": b""}
    assert collected.refused == {"b": "it was not written"}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"",
        b"1 taken 3\nabc",
        b"0 taken 4\nabc",
        b"0 taken -1\nabc",
        b"0 given 3\nabc",
        b"0 taken 9999999999999\nabc",
        b"\xff\xfe",
    ],
)
def test_an_answer_that_is_not_exact_gives_nothing(answer: bytes | None) -> None:
    collected = read_answer(answer, ("a",), 100)
    assert collected.taken == {}
    assert list(collected.refused) == ["a"]


def test_outputs_beyond_the_limit_are_refused_whatever_the_inside_says() -> None:
    answer = b"0 taken 60\n" + b"x" * 60 + b"1 taken 60\n" + b"y" * 60
    collected = read_answer(answer, ("a", "b"), 100)
    assert list(collected.taken) == ["a"]
    assert "60 bytes" in collected.refused["b"]


def test_words_from_the_inside_are_cleaned() -> None:
    words = b"\x1b[31mred\x07" + b"z" * 5000
    collected = read_answer(b"0 refused %d\n" % len(words) + words, ("a",), 100_000)
    assert len(collected.refused["a"]) <= 200
    assert collected.refused["a"].isprintable()


@examples(200)
@given(st.binary(max_size=300))
def test_no_answer_breaks_the_reader(answer: bytes) -> None:
    collected = read_answer(answer, ("a", "b"), 50)
    assert set(collected.taken) | set(collected.refused) == {"a", "b"}


# --- the stream


def frame(which: int, data: bytes) -> bytes:
    return bytes((which, 0, 0, 0)) + len(data).to_bytes(4, "big") + data


def talk(data: list[bytes], **changes: Any) -> Any:
    ours, theirs = socket.socketpair()

    def speak() -> None:
        with theirs:
            for piece in data:
                theirs.sendall(piece)

    speaker = threading.Thread(target=speak)
    speaker.start()
    with ours:
        conversation = Conversation(
            **{
                "connection": ours,
                "mark": MARK,
                "collect": ("a",),
                "collect_limit": 1000,
                "output_limit": 1000,
                "deadline": time.monotonic() + 10,
                "out_of_memory": lambda: False,
                "kill": lambda: None,
            }
            | changes
        )
        conclusion = converse(conversation)
    speaker.join()
    return conclusion


@examples(60)
@given(
    st.lists(st.tuples(st.sampled_from((1, 2)), st.binary(max_size=40)), max_size=8),
    st.integers(1, 40),
)
def test_frames_and_the_mark_are_found_however_they_are_cut(
    printed: list[tuple[int, bytes]], piece: int
) -> None:
    whole = b"".join(frame(which, data) for which, data in printed)
    whole += frame(1, MARK[:5]) + frame(1, MARK[5:] + b"0 taken") + frame(1, b" 2\nok")
    conclusion = talk([whole[start : start + piece] for start in range(0, len(whole), piece)])
    assert conclusion.captured.stdout.kept == b"".join(
        data for which, data in printed if which == 1
    )
    assert conclusion.captured.stderr.kept == b"".join(
        data for which, data in printed if which == 2
    )
    assert conclusion.collected.taken == {"a": b"ok"}
    assert conclusion.answered


def test_output_beyond_the_limit_is_dropped_and_the_answer_still_found() -> None:
    data = [frame(1, b"x" * 900) for _ in range(10)]
    conclusion = talk([*data, frame(1, MARK + b"0 taken 2\nok")])
    assert conclusion.captured.stdout.kept == b"x" * 1000
    outcome = conclusion.captured.outcome(0, False, conclusion.collected, 0.1)
    assert outcome.truncated
    assert outcome.exit_code == 0
    assert conclusion.collected.taken == {"a": b"ok"}


def test_a_connection_that_ends_early_is_unanswered() -> None:
    conclusion = talk([frame(1, b"half")[:-2]])
    assert conclusion.captured.stdout.kept == b"ha"
    assert not conclusion.answered
    assert conclusion.collected.taken == {}


def test_a_container_that_no_kill_ends_is_given_up() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(TimeoutError):
        converse(
            Conversation(
                ours, MARK, (), 10, 10, time.monotonic() + 0.1, lambda: False, lambda: None,
                farewell_s=0.1, death_s=0.2,
            )
        )  # fmt: skip
