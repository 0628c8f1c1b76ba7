"""Redis as the bus: a real server, killed, started again, behind a password and behind TLS."""

import datetime
import ipaddress
import socket
from collections.abc import Generator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bot.bus.file import FileBus
from bot.bus.port import open_bus
from bot.bus.redis_streams import RedisBus, check_address, place_of
from bot.cli import main
from bot.errors import InputError, WorldError
from tests.bot.bus.test_file_bus import event
from tests.bot.git.worlds import make_world
from tests.redis_server import RedisServer, redis_server, start_redis

__all__ = ["redis_server"]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "not an address"),
        ("http://127.0.0.1", "not an address"),
        ("redis://", "not an address"),
        ("redis://127.0.0.1:port", "not an address"),
        ("unix://relative.sock", "not an address"),
        ("redis://10.0.0.7:6379/0", "without TLS"),
        ("redis://:word@redis.example.com", "without TLS"),
        ("redis://127.0.0.1.example.com", "without TLS"),
        ("rediss://redis.example.com", "without a password"),
        ("rediss://:word@redis.example.com?ssl_cert_reqs=none", "certificates off"),
        ("rediss://:word@redis.example.com?ssl_check_hostname=False", "certificates off"),
    ],
)
def test_an_address_that_others_could_use_is_refused(url: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as stop:
        check_address(url)
    assert "word@" not in str(stop.value)


@pytest.mark.parametrize(
    "url",
    [
        *("redis://localhost:6379/0", "redis://127.0.0.1", "redis://:word@[::1]:7000/2"),
        *("unix:///run/redis.sock", "rediss://me:word@redis.example.com:6380/1"),
    ],
)
def test_this_machine_a_socket_and_tls_with_a_password_are_taken(url: str) -> None:
    check_address(url)


def test_no_password_is_ever_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"unix://:hunter2@{tmp_path}/none.sock"
    assert "hunter2" not in place_of(url)
    with pytest.raises(WorldError, match=r"none\.sock did not do it") as stop:
        RedisBus(url, "o/r").publish(event())
    assert "hunter2" not in stop.value.message + stop.value.hint
    monkeypatch.setenv("REDIS_URL", url)
    world = make_world(tmp_path / "world", remote=False)
    assert main(["events", "--repository", str(world.work)]) == 4


def test_without_the_variable_the_bus_is_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)
    assert isinstance(open_bus(tmp_path), FileBus)
    monkeypatch.setenv("REDIS_URL", "")
    assert isinstance(open_bus(tmp_path), FileBus)


def test_repositories_share_a_server_and_not_their_events(redis_server: RedisServer) -> None:
    RedisBus(redis_server.url, "o/one").publish(event(n=1))
    assert [*RedisBus(redis_server.url, "o/other").read("task.events")] == []
    assert len([*RedisBus(redis_server.url, "o/one").read("task.events")]) == 1


def test_a_follower_waits_for_a_server_that_was_killed(redis_server: RedisServer) -> None:
    bus = RedisBus(redis_server.url, "o/r")
    bus.publish(event(n=0))
    notes: list[str] = []
    acts = iter(
        [
            redis_server.kill,
            lambda: None,
            redis_server.start,
            lambda: RedisBus(redis_server.url, "o/r").publish(event(n=1)),
        ]
    )

    def stop(_seconds: float) -> bool:
        act = next(acts, None)
        if act:
            act()
        return act is None

    seen = [each.data["n"] for each in bus.follow("task.events", stop, notes.append)]
    assert seen == [0, 1]
    assert len(notes) == 1
    assert "waiting for it" in notes[0]


def test_a_server_that_is_away_is_an_error_for_the_writer(redis_server: RedisServer) -> None:
    bus = RedisBus(redis_server.url, "o/r")
    bus.publish(event(n=0))
    redis_server.kill()
    with pytest.raises(WorldError):
        bus.publish(event(n=1))
    with pytest.raises(WorldError):
        list(bus.read("task.events"))
    redis_server.start()
    bus.publish(event(n=2))
    assert [each.data["n"] for each in bus.read("task.events")] == [0, 2]


def certificate(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def start_with_tls(folder: Path) -> Generator[int]:
    """Starts a server on a free port; tries another where somebody was quicker."""
    for left in reversed(range(5)):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port: int = free.getsockname()[1]
        servers = start_redis(
            *("--port", "0", "--tls-port", str(port), "--bind", "127.0.0.1"),
            *("--requirepass", "word", "--tls-auth-clients", "no"),
            *(
                "--tls-cert-file",
                str(folder / "cert.pem"),
                "--tls-key-file",
                str(folder / "key.pem"),
            ),
            *("--tls-ca-cert-file", str(folder / "cert.pem")),
        )
        try:
            next(servers)
        except AssertionError:
            if not left:
                raise
            continue
        yield port
        servers.close()
        return


def test_tls_and_a_password_are_really_asked_for(tmp_path: Path) -> None:
    certificate(tmp_path)
    ca = f"?ssl_ca_certs={tmp_path / 'cert.pem'}"
    for port in start_with_tls(tmp_path):
        good = RedisBus(f"rediss://:word@127.0.0.1:{port}/0{ca}", "o/r")
        good.publish(event(n=1))
        assert [each.data["n"] for each in good.read("task.events")] == [1]
        for url in (
            f"rediss://:other@127.0.0.1:{port}/0{ca}",
            f"rediss://:word@127.0.0.1:{port}/0",
            f"redis://:word@127.0.0.1:{port}/0",
        ):
            with pytest.raises(WorldError):
                RedisBus(url, "o/r").publish(event(n=2))
