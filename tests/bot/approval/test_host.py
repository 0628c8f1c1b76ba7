"""The host's file: its owner's alone, outside what it judges, understood to the last word."""

import os
from pathlib import Path

import pytest

from bot.approval.host import VARIABLE, host_path, read_host
from bot.approval.host_state import HaltSeen, HostState, Start
from bot.errors import InputError, WorldError
from tests.bot.approval.worlds import BOB


def write(folder: Path, text: str = "host: trader-1\n") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "allowed_signers").write_text(f"bob {BOB.line}\n")
    path = folder / "approval.yml"
    path.write_text(text)
    for each in (path, folder / "allowed_signers"):
        each.chmod(0o600)
    return path


def test_it_is_read_with_its_signers(tmp_path: Path) -> None:
    path = write(tmp_path / "host", "host: trader-1\npolicy: {live: {people: 2}}\n")
    host = read_host(path, tmp_path / "repository")
    assert host.signers.lines[0].principals == ("bob",)
    assert host.floor.live.people == 2


def test_it_is_refused_where_others_could_write_it_or_the_repository_could_hold_it(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "host")
    with pytest.raises(InputError, match="lies in the repository"):
        read_host(path, tmp_path)
    link = tmp_path / "link.yml"
    link.symlink_to(path)
    with pytest.raises(InputError, match="lies in the repository"):
        read_host(link, tmp_path / "host")
    for name in ("allowed_signers", "approval.yml"):
        (tmp_path / "host" / name).chmod(0o620)
        with pytest.raises(InputError, match="written by others"):
            read_host(path, tmp_path / "repository")
        (tmp_path / "host" / name).chmod(0o600)
    for text in ("host: trader-1\nallowed_signers: gone\n", "host: trader-1\nrevoked: gone\n"):
        with pytest.raises(InputError, match="cannot be read"):
            read_host(write(tmp_path / "host", text), tmp_path / "repository")
    with pytest.raises(InputError, match="cannot be read"):
        read_host(tmp_path / "nowhere.yml", tmp_path / "repository")


@pytest.mark.parametrize("name", ["allowed_signers", "approval.yml"])
def test_a_link_that_the_repository_holds_is_refused_wherever_it_leads(
    tmp_path: Path, name: str
) -> None:
    repository = tmp_path / "repository"
    home, path = tmp_path / "host", write(repository)
    write(home)
    (repository / name).unlink()
    (repository / name).symlink_to(home / name)
    with pytest.raises(InputError, match="lies in the repository"):
        read_host(path, repository)


def test_a_folder_that_others_may_write_could_hold_another_file_tomorrow(tmp_path: Path) -> None:
    path = write(tmp_path / "host")
    link = write(tmp_path / "linked")
    (tmp_path / "linked/allowed_signers").unlink()
    (tmp_path / "linked/allowed_signers").symlink_to(tmp_path / "host/allowed_signers")
    assert read_host(link, tmp_path / "repository").signers.lines
    (tmp_path / "host").chmod(0o770)
    for each in (path, link):
        with pytest.raises(InputError, match="written by others"):
            read_host(each, tmp_path / "repository")
    (tmp_path / "host").chmod(0o1777)  # there nobody takes away what is another's
    assert read_host(path, tmp_path / "repository").signers.lines


@pytest.mark.parametrize(
    "text", ["", "hots: x\n", "host: a b\n", "host: x\npolicy: {live: {peple: 2}}\n", "- x\n"]
)
def test_what_is_not_understood_is_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"approval\.yml"):
        read_host(write(tmp_path / "host", text), tmp_path / "repository")


def test_where_it_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert host_path() == tmp_path / "stratwright/approval.yml"
    monkeypatch.setenv(VARIABLE, "/etc/stratwright/approval.yml")
    assert host_path() == Path("/etc/stratwright/approval.yml")
    assert host_path(tmp_path) == tmp_path


def test_a_halt_file_stops_and_stays_remembered_when_it_is_taken_away(tmp_path: Path) -> None:
    state = HostState(tmp_path / "all" / "one")
    assert state.halts(100) == ()
    state.folder.mkdir(parents=True)
    file = state.folder / "HALT"
    file.write_text("oversold-dip/strategy\n")
    assert {halt.scope for halt in state.halts(100)} == {"oversold-dip/strategy"}
    assert max(halt.at for halt in state.halts(200)) == 200
    file.unlink()
    assert [(halt.scope, halt.at) for halt in state.halts(300)] == [("oversold-dip/strategy", 100)]
    (tmp_path / "all" / "HALT").write_text("")
    assert HaltSeen("*", 0, "file").covers("any/task")
    assert {halt.scope for halt in state.halts(400)} == {"*", "oversold-dip/strategy"}


@pytest.mark.parametrize(
    "text",
    ["stop, see https://wiki/7", "ai/a/b/corr_0123456789ab", "A/b", "a/b c", "\u00e4/b", "/"],
)
def test_a_halt_file_with_any_other_words_stops_everything(tmp_path: Path, text: str) -> None:
    (tmp_path / "HALT").write_text(text, "utf-8")
    assert {halt.scope for halt in HostState(tmp_path).halts(100)} == {"*"}


@pytest.mark.parametrize("kind", ["folder", "link", "unreadable", "fifo"])
def test_a_halt_file_that_is_no_file_stops_everything(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "HALT"
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(tmp_path / "nowhere")
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.write_bytes(b"\xff/\xff")
    assert {halt.scope for halt in HostState(tmp_path).halts(100)} == {"*"}


def test_a_halt_heard_elsewhere_is_remembered_where_it_is_heard_no_more(tmp_path: Path) -> None:
    state, heard = HostState(tmp_path), HaltSeen("a/b", 7, "bus", "why")
    assert state.halts(100, [heard, heard]) == (heard,)
    assert state.halts(100, [heard]) == (heard,)
    assert state.halts(100) == (heard,)


@pytest.mark.parametrize("line", ["{", "{}", "[]", '{"scope": "*"', "null"])
def test_a_torn_line_of_the_memory_stops_and_is_told(tmp_path: Path, line: str) -> None:
    for name in ("starts.jsonl", "halts.jsonl"):
        (tmp_path / name).write_text(f"{line}\n")
    with pytest.raises(WorldError, match=r"starts\.jsonl cannot be read"):
        HostState(tmp_path).starts()
    with pytest.raises(WorldError, match=r"halts\.jsonl cannot be read"):
        HostState(tmp_path).halts(1)


def test_a_start_is_noted_once_and_for_good(tmp_path: Path) -> None:
    state = HostState(tmp_path)
    first, second = Start("n", "sha256:a", 1), Start("n", "sha256:b", 2)
    state.note_start(first)
    state.note_start(second)
    assert state.starts() == {"n": first}


def test_a_clock_that_is_set_back_is_noticed(tmp_path: Path) -> None:
    state = HostState(tmp_path)
    assert [state.latest(at) for at in (1000, 1030, 900, 1200, 1)] == [1000, 1030, 1000, 1200, 1200]
    (tmp_path / "clock").write_text("soon")
    with pytest.raises(WorldError, match="cannot be read"):
        state.latest(1300)


def test_a_damaged_memory_stops(tmp_path: Path) -> None:
    (tmp_path / "seen.json").write_text("{")
    with pytest.raises(WorldError, match="cannot be read"):
        _ = HostState(tmp_path).seen
