"""Evidence: the same candidate gives the same bytes, in any process, with any hash seed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bot.coder.template.template_coder import TemplateCoder
from bot.contract.load import load_contract
from bot.data.market_data import read_market_data
from bot.gates.port import Verdict
from bot.proof.evidence import gates_file, provenance_file, read_gates, report_file, sha256
from bot.proof.examination import Examination
from bot.proof.judge import decide, judge
from bot.proof.line import Proven, write
from bot.proof.sealing import Destination, Sealed, commit_message, seal
from tests.bot.git.worlds import HOUSE, quiet_environment
from tests.bot.proof.assignments import assigned
from tests.e2e.lines import candles_text, contract_text

VERDICTS = (Verdict("syntax", True, "2 files"), Verdict("pytest", True, "19 tests"))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/btc.csv").write_text(candles_text(200), "utf-8")
    (tmp_path / "dip.yaml").write_text(contract_text(), "utf-8")
    return tmp_path


def sealed(place: Path) -> Sealed:
    loaded = load_contract(place / "dip.yaml")
    contract = loaded.strategy
    work = assigned(contract, read_market_data(contract, place))
    decisions = decide(contract, work.program, work.data)
    judgement = judge(contract, work.program, work.data, decisions)
    examination = Examination(VERDICTS, {"summary.json": b"{}\n"}, judgement)
    proven = Proven(work, write(work, TemplateCoder()), examination)
    return seal(proven, Destination("ai/dip/strategy/x"))


def digests(place: Path) -> dict[str, str]:
    made = sealed(place)
    return {name: sha256(data) for name, data in made.evidence.files.items()} | {
        "body": sha256(made.body.encode())
    }


@pytest.mark.parametrize("seed", ["0", "4242"])
def test_another_process_with_another_hash_seed_seals_the_same_bytes(
    seed: str, place: Path
) -> None:
    code = (
        "import json, sys\nfrom pathlib import Path\n"
        "from tests.bot.proof.test_evidence import digests\n"
        "print(json.dumps(digests(Path(sys.argv[1]))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(place)],
        cwd=HOUSE,
        env={**quiet_environment(), "PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == digests(place)


def test_the_statement_covers_every_other_file(place: Path) -> None:
    evidence = sealed(place).evidence
    statement = json.loads(evidence.files["provenance.json"])
    named = {item["name"]: item["digest"]["sha256"] for item in statement["subject"]}
    for name, data in evidence.files.items():
        if name != "provenance.json":
            assert named[f"{evidence.folder}/{name}"] == sha256(data).removeprefix("sha256:")
    assert {"contracts/dip.yaml", "tests/test_quick_dip.py"} <= set(named)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"


def test_a_report_keeps_no_clock() -> None:
    report = {"created": 7.0, "tests": [{"call": {"duration": 0.3}, "name": "created"}]}
    assert json.loads(report_file(report)) == {
        "created": 0.0,
        "tests": [{"call": {"duration": 0.0}, "name": "created"}],
    }


def test_no_gates_means_no(place: Path) -> None:
    assert json.loads(gates_file(()))["passed"] is False
    made = sealed(place).evidence
    assert made.passed
    assert not type(made)((), made.files, made.folder).passed


def test_the_message_names_the_sealed_statement(place: Path) -> None:
    contract = load_contract(place / "dip.yaml").strategy
    work = assigned(contract, read_market_data(contract, place))
    text, trailers = commit_message(work, write(work, TemplateCoder()), "sha256:e")
    assert text.splitlines()[0] == "ai: propose QuickDip for dip/strategy"
    assert text.splitlines()[-1] == "Evidence: artifacts/dip/strategy sha256:e"
    assert trailers.contract_digest == work.origin.contract_digest


def test_provenance_is_canonical(place: Path) -> None:
    contract = load_contract(place / "dip.yaml").strategy
    work = assigned(contract, read_market_data(contract, place))
    candidate = write(work, TemplateCoder())
    one = provenance_file(work, candidate, {"b": b"1", "a": b"2"}, {"z": "1"})
    two = provenance_file(work, candidate, {"a": b"2", "b": b"1"}, {"z": "1"})
    assert one == two
    assert work.data.files == ("data/btc.csv",)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"gates": null}',
        b'{"gates": {"a": 1}}',
        b'{"gates": [null]}',
        b'{"gates": [{"name": "a"}]}',
        b'{"gates": [{"name": "a", "passed": true, "figure": null}]}',
        b'{"gates": [{"name": "a", "passed": 1}]}',
        b'{"gates": [{"name": ["a"], "passed": true}]}',
        b'{"gates": [{"name": "a", "passed": true, "more": 1}]}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"gates": []}' + b" " * 10_000_000,
    ],
)
def test_gates_of_another_form_are_refused_and_no_crash(content: bytes) -> None:
    with pytest.raises(ValueError, match="not of the form"):
        read_gates(content)


def test_gates_are_read_as_they_were_written() -> None:
    assert read_gates(gates_file(VERDICTS, ("a note",))) == VERDICTS
