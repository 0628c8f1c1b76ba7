"""`stratwright check`: exit codes, classes and answers that scripts rely on."""

import json
from pathlib import Path

import pytest

from bot.cli import main
from bot.commands import check
from bot.gates.static.vocabulary import FILE_CLASSES


def write(folder: Path, name: str, content: bytes) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return str(path)


def test_honest_files_exit_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a.py", b'"""It says compile and os.system."""\n\nx = {"open": 1}\n')
    assert main(["check", path]) == 0
    assert capsys.readouterr().out == f"{path}: passed (strategy file, guessed)\n"


@pytest.mark.parametrize(
    "content", [b"import os\n", b"x = (\n", b"\xff\xfe", b"\x00", b"x = " + b"-" * 9000 + b"1"]
)
def test_refused_content_exits_1(tmp_path: Path, content: bytes) -> None:
    assert main(["check", write(tmp_path, "a.py", content)]) == 1


def test_an_offence_has_place_name_reason_and_advice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "a.py", b"x = 1\neval('x')\n")
    assert main(["check", path, "--class", "module"]) == 1
    first, second, last = capsys.readouterr().out.splitlines()
    assert first == f"{path}:2:1: imports: eval: this builtin is not on the list"
    assert second == "    write the expression in Python"
    assert last == f"{path}: refused, 1 found (module file)"


def test_json_lists_every_offence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = write(tmp_path, "a.py", b"x = 1\n")
    bad = write(tmp_path, "b.py", b"import os\nimport sys\n")
    assert main(["check", good, bad, "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["passed"] is False
    assert [item["passed"] for item in answer["files"]] == [True, False]
    found = answer["files"][1]["offences"]
    assert [(item["gate"], item["line"], item["name"]) for item in found] == [
        ("imports", 1, "os"),
        ("imports", 2, "sys"),
    ]


def test_a_missing_file_and_an_unknown_class_exit_2(tmp_path: Path) -> None:
    assert main(["check", str(tmp_path / "none.py")]) == 2
    assert main(["check", str(tmp_path)]) == 2
    assert main(["check", write(tmp_path, "a.py", b""), "--class", "poem"]) == 2


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("tests/test_a.py", b"import pytest\n", "test"),
        ("Backtest/freqtrade/A.py", b"x = 1\n", "freqtrade"),
        (
            "A.py",
            b"from freqtrade.strategy import IStrategy\n\n\nclass A(IStrategy):\n    x = 1\n",
            "freqtrade",
        ),
        ("Backtest/codes/a.py", b"x = 1\n", "strategy"),
        ("a.py", b"x = 1\n", "strategy"),
    ],
)
def test_the_class_is_guessed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, expected: str
) -> None:
    assert main(["check", write(tmp_path, name, content), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)["files"][0]
    assert (answer["class"], answer["guessed"]) == (expected, True)


def test_the_classes_are_those_of_the_gate() -> None:
    assert set(check._CLASSES) == set(FILE_CLASSES)
