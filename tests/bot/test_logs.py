import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import logs
from tests.bot.git.worlds import HOUSE

LOGGER = logging.getLogger("bot.test")


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    logs.set_up(stream=stream)
    yield stream
    for name in logs.LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.NOTSET)


def only(stream: io.StringIO) -> dict[str, object]:
    (line,) = stream.getvalue().splitlines()
    values = json.loads(line)
    assert isinstance(values, dict)
    return values


def test_a_record_is_one_line_with_time_and_correlation_id(stream: io.StringIO) -> None:
    with logs.correlated("corr_0123456789ab"):
        LOGGER.info(
            "position_opened", extra={"symbol": "AAPL", "price": 150.5, "bad": float("nan")}
        )
    values = only(stream)
    assert values["correlation_id"] == "corr_0123456789ab"
    assert str(values["timestamp"]).endswith("Z")
    assert (values["event"], values["symbol"], values["price"]) == (
        "position_opened",
        "AAPL",
        150.5,
    )
    assert values["bad"] == "nan"


def test_a_line_without_a_run_says_so(stream: io.StringIO) -> None:
    LOGGER.warning("hello")
    assert only(stream)["correlation_id"] == logs.NO_CORRELATION


def test_setting_up_twice_logs_once(stream: io.StringIO) -> None:
    logs.set_up(stream=stream)
    LOGGER.info("once")
    assert only(stream)["event"] == "once"


def test_secrets_never_reach_the_log(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKER_API_SECRET", "value-of-the-variable")
    logs.set_up(stream=stream)
    key = "ghp_" + "a1B2" * 9
    try:
        raise ValueError(f"cannot use {key}")
    except ValueError:
        LOGGER.exception(
            "push with %s and value-of-the-variable",
            key,
            extra={
                "token": "abc",
                "nested": {"list": [{"api_key": "abc"}, key]},
                "url": "x://a:bbbb@c",
            },
        )
    text = stream.getvalue()
    for secret in (key, "value-of-the-variable", '"abc"', "bbbb"):
        assert secret not in text
    assert "ValueError" in str(only(stream)["exception"])


def test_a_line_cannot_be_forged_coloured_or_obeyed(stream: io.StringIO) -> None:
    text = 'a\n{"event": "forged"}\r\n\x1b[31m::error::x ##[set-env]\u2028'
    LOGGER.info(text, extra={"k::x": text})
    line = stream.getvalue()
    assert line.isascii()
    assert not any(mark in line for mark in ("\x1b", "::", "##[", "\r"))
    assert only(stream)["event"] == text


def test_a_file_is_shared_by_runs_and_turned_over(tmp_path: Path) -> None:
    code = (
        "import logging, sys; from pathlib import Path; from bot import logs\n"
        "logs.FILE_LIMIT = 20_000\nlogs.FILES_KEPT = 100\n"
        "logs.set_up(logs.log_file(Path(sys.argv[1])))\n"
        "logger = logging.getLogger('bot.x')\n"
        "for n in range(100): logger.info('n %d', n, extra={'fill': 'x' * 500})\n"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", code, tmp_path], cwd=HOUSE) for _ in range(3)
    ]
    assert [child.wait(60) for child in children] == [0] * 3
    files = list((tmp_path / "logs").iterdir())
    assert len(files) > 5
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert len(lines) == 300
    assert all(line["correlation_id"] for line in lines)


def test_a_log_that_cannot_be_written_is_told_once(
    tmp_path: Path, stream: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "logs").write_text("a file is in the way")
    logs.set_up(logs.log_file(tmp_path))
    LOGGER.info("one")
    LOGGER.info("two")
    assert capsys.readouterr().err.count("cannot append") == 1
