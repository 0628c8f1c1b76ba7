import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.errors import WorldError
from bot.files import append_line, read_lines
from tests.bot.git.worlds import HOUSE

WRITE = (
    "import sys; from pathlib import Path; from bot.files import append_line\n"
    "for n in range(int(sys.argv[3])): append_line(Path(sys.argv[1]), "
    "f'{sys.argv[2]} {n} '.encode() + b'x' * 5000, keep=50, limit=int(sys.argv[4]))\n"
)


def crowd(path: Path, count: int, limit: int) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, path, str(who), str(count), str(limit)], cwd=HOUSE
        )
        for who in range(4)
    ]
    assert [child.wait(60) for child in children] == [0] * 4


def test_lines_of_several_programs_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "deep/er/lines"
    crowd(path, 50, 0)
    lines = [line.data.split() for line in read_lines(path)]
    assert all(len(line[2]) == 5000 for line in lines)
    for who in range(4):
        numbers = [int(line[1]) for line in lines if int(line[0]) == who]
        assert numbers == list(range(50))


def test_no_line_is_lost_when_the_file_is_turned_over(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    crowd(path, 40, 60_000)
    files = sorted(tmp_path.iterdir())
    assert len(files) > 10
    assert sum(len(list(read_lines(file))) for file in files) == 160


def test_a_torn_line_spoils_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append_line(path, b"one")
    with path.open("ab") as file:
        file.write(b"to")
    assert [line.data for line in read_lines(path)] == [b"one"]
    append_line(path, b"three")
    assert [line.data for line in read_lines(path)] == [b"one", b"to", b"three"]


def test_a_part_of_a_line_is_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append_line(path, b"one")
    code = (
        "import resource, sys; from pathlib import Path; from bot.files import append_line\n"
        "from bot.errors import WorldError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))\n"
        "try: append_line(Path(sys.argv[1]), b'x' * 100)\n"
        "except WorldError as error: print(error.message)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, path], cwd=HOUSE, capture_output=True, text=True, check=True
    )
    assert "cannot append" in told.stdout
    assert path.read_bytes() == b"one\n"


def test_reading_goes_on_from_a_place(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    assert list(read_lines(path)) == []
    append_line(path, b"one\nstill one")
    (first,) = read_lines(path)
    append_line(path, b"two")
    assert first.data == b"one still one"
    assert [line.data for line in read_lines(path, first.end)] == [b"two"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    (tmp_path / "lines").symlink_to(target)
    with pytest.raises(WorldError, match="cannot append"):
        append_line(tmp_path / "lines", b"x")
    assert not target.exists()
    assert os.listdir(tmp_path) == ["lines"]


def test_a_file_that_another_program_begins_at_the_turn_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lines"
    append_line(path, b"old")
    move = Path.replace

    def begin_the_next(newer: Path, older: Path) -> Path:
        moved = move(newer, older)
        if newer == path:
            path.write_bytes(b"theirs\n")
        return moved

    monkeypatch.setattr(Path, "replace", begin_the_next)
    append_line(path, b"ours", keep=2, limit=1)
    assert path.read_bytes() == b"theirs\nours\n"
    assert path.with_name("lines.1").read_bytes() == b"old\n"


def test_a_full_file_that_is_not_kept_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append_line(path, b"old")
    append_line(path, b"new", limit=1)
    assert path.read_bytes() == b"new\n"
    assert list(tmp_path.iterdir()) == [path]
