"""Hostile files are refused, honest ones pass: our own and the shared corpus. Nothing is run."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.gates.static.check import check_bytes
from bot.gates.static.vocabulary import FILE_CLASSES, FileClass

HERE = Path(__file__).resolve().parent
HOSTILE = sorted((HERE / "hostile").glob("*.py.txt"))
BENIGN = sorted((HERE / "benign").glob("*.py.txt"))


def shared_corpus() -> Path | None:
    for folder in HERE.parents:
        if (folder / "shared" / "security" / "corpus" / "manifest.json").is_file():
            return folder / "shared" / "security" / "corpus"
    return None


CORPUS = shared_corpus()


def entries(kind: str) -> list[dict[str, Any]]:
    if CORPUS is None:
        return []
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
    assert {class_of(path.read_bytes()) for path in HOSTILE} == set(FILE_CLASSES)
    assert {class_of(path.read_bytes()) for path in BENIGN} == set(FILE_CLASSES)


@pytest.mark.skipif(CORPUS is None, reason="no shared/security/corpus beside the repository")
def test_shared_attacks_are_refused() -> None:
    assert CORPUS is not None
    passed = [
        entry["file"]
        for entry in entries("hostile")
        if entry["expected_layer"] == "static"
        and not check_bytes((CORPUS / entry["file"]).read_bytes(), entry["file_class"])
    ]
    assert passed == []


@pytest.mark.skipif(CORPUS is None, reason="no shared/security/corpus beside the repository")
def test_shared_honest_files_pass() -> None:
    assert CORPUS is not None
    refused = {
        entry["file"]: check_bytes((CORPUS / entry["file"]).read_bytes(), entry["file_class"])
        for entry in entries("benign")
    }
    assert {path: found for path, found in refused.items() if found} == {}
