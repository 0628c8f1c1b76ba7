"""Hostile files are refused, honest ones pass: our own and those of reviews. Nothing is run.

`hostile` and `benign` were written beside the gate; `corpus` (with its manifest) and `review` came
from others, who looked for ways through; `attacks` and `honest` from somebody who knew the
documentation alone.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.gates.static.static_check import check_bytes
from bot.gates.static.vocabulary import FILE_CLASSES, FileClass
from tests.security.attack_files import attacks

HERE = Path(__file__).resolve().parent
HOSTILE = sorted((HERE / "hostile").glob("*.py.txt"))
BENIGN = sorted((HERE / "benign").glob("*.py.txt"))


CORPUS = HERE / "corpus"
REVIEW = sorted((HERE / "review").glob("a*.py"))
HONEST = sorted((HERE / "honest").glob("*.py.txt"))


def entries(kind: str) -> list[dict[str, Any]]:
    manifest = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))
    return list(manifest[kind])


def class_of(content: bytes) -> FileClass:
    word = content.split(b"class: ", 1)[1].split()[0].decode()
    return next(file_class for file_class in FILE_CLASSES if file_class == word)


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path.name[:-7])
def test_our_attacks_are_refused(path: Path) -> None:
    content = path.read_bytes()
    offences = check_bytes(content, class_of(content))
    assert offences
    assert all(offence.name != "checker" for offence in offences), "refused only by a crash"
    assert all(offence.why and offence.instead for offence in offences)


@pytest.mark.parametrize("path", BENIGN, ids=lambda path: path.name[:-7])
def test_our_honest_files_pass(path: Path) -> None:
    content = path.read_bytes()
    assert check_bytes(content, class_of(content)) == ()


def test_the_corpus_is_large_enough() -> None:
    assert len(HOSTILE) >= 60
    assert len(BENIGN) >= 40
    assert (len(entries("hostile")), len(entries("benign"))) == (74, 15)
    listed = {entry["file"] for kind in ("hostile", "benign") for entry in entries(kind)}
    assert listed == {str(path.relative_to(CORPUS)) for path in CORPUS.glob("*/*.py")}
    assert {class_of(path.read_bytes()) for path in HOSTILE} == set(FILE_CLASSES)
    assert {class_of(path.read_bytes()) for path in BENIGN} == set(FILE_CLASSES)


def test_attacks_of_others_are_refused() -> None:
    passed = [
        entry["file"]
        for entry in entries("hostile")
        if entry["expected_layer"] == "static"
        and not check_bytes((CORPUS / entry["file"]).read_bytes(), entry["file_class"])
    ]
    assert passed == []


def test_honest_files_of_others_pass() -> None:
    refused = {
        entry["file"]: check_bytes((CORPUS / entry["file"]).read_bytes(), entry["file_class"])
        for entry in entries("benign")
    }
    assert {path: found for path, found in refused.items() if found} == {}


def test_attacks_written_from_the_documentation_are_refused_where_they_stand() -> None:
    found = attacks()
    assert len(found) >= 60
    missed = []
    for attack in found:
        offences = check_bytes(attack.text.encode(), "strategy")
        assert all(offence.name != "checker" for offence in offences), attack.name
        if not any(offence.line in attack.lines for offence in offences):
            missed.append(attack.name)
    assert missed == []


@pytest.mark.parametrize("path", REVIEW, ids=lambda path: path.stem)
def test_the_files_of_the_review_are_refused(path: Path) -> None:
    assert check_bytes(path.read_bytes(), "strategy")


def test_honest_files_written_from_the_documentation_pass() -> None:
    assert len(HONEST) >= 20
    refused = {path.name: check_bytes(path.read_bytes(), "strategy") for path in HONEST}
    assert {name: found for name, found in refused.items() if found} == {}
