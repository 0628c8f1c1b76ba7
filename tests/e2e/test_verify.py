"""`verify` finds every changed byte of strategy, tests, evidence, contract or data."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli import main
from bot.errors import InputError
from bot.git.repository import open_repository
from bot.proof.evidence import sha256
from bot.proof.verification import Checker, verify
from sandbox_runner.port import Job, Outcome, Sandbox
from tests.bot.git.worlds import World, quiet_environment, sh
from tests.e2e.forgery import files_of, forge, git, move_tag, read, write_commit, write_tree
from tests.e2e.lines import ChangedCoder, checked, line_world, run, stratwright
from tests.remembered import Remembering
from tests.security.forger import read_case, seal, write_tag

EVIDENCE = "artifacts/dip/strategy"
FILES = (
    "Backtest/codes/quick_dip.py",
    "README.md",
    *(
        f"{EVIDENCE}/{name}"
        for name in (
            *("equity.svg", "equity_curve.csv", "events.log", "gates.json", "provenance.json"),
            *("report.html", "summary.json", "test_report.json", "trades.csv"),
        )
    ),
    "contracts/dip.yaml",
    "data/btc.csv",
    "tests/test_quick_dip.py",
)
POSITIONS = 1


@pytest.fixture(scope="module")
def sealed(
    tmp_path_factory: pytest.TempPathFactory, sandbox: Remembering
) -> Iterator[tuple[World, str, str]]:
    """A delivered contract: repository, tag and the tag's own object."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in quiet_environment().items():
            patch.setenv(name, value)
        world = line_world(tmp_path_factory.mktemp("sealed"))
        tag = run(world, sandbox).tag
        yield world, tag, sh(world.work, "rev-parse", f"refs/tags/{tag}")


@pytest.fixture
def case(sealed: tuple[World, str, str]) -> Iterator[tuple[Path, str, str]]:
    world, tag, original = sealed
    yield world.work, tag, sh(world.work, "rev-parse", f"{original}^{{commit}}")
    git(world.work, "update-ref", f"refs/tags/{tag}", original)


def broken(work: Path, tag: str, sandbox: Sandbox | None = None) -> list[str]:
    """The names of the checks that do not hold; without a sandbox it must be found early."""
    found = checked(work, tag, sandbox or NoSandbox())
    return [finding.name for finding in found.findings if not finding.holds]


class NoSandbox:
    """A sandbox that may not be asked."""

    name = "none"

    def run(self, job: Job) -> Outcome:
        raise AssertionError("code was run before the cheaper checks were through")


def exit_code(work: Path, tag: str) -> int:
    return checked(work, tag, NoSandbox()).exit_code


def test_untouched_evidence_holds(
    case: tuple[Path, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    work, tag, commit = case
    assert sorted(files_of(work, commit)) == sorted(FILES)
    assert main(["verify", tag, "--repository", str(work), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["holds"], answer["outcome"], answer["left_out"]) == (True, "holds", [])
    summary = json.loads(read(work, commit, f"{EVIDENCE}/summary.json"))
    assert answer["figures"]["total_trades"] == summary["total_trades"]
    assert all(check["outcome"] == "holds" for check in answer["checks"])


def test_a_quick_look_names_what_it_left_out_and_never_says_holds(
    case: tuple[Path, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    work, tag, _ = case
    command = ["verify", tag, "--repository", str(work), "--quick"]
    assert main(command) == 1
    *_, figures, said = capsys.readouterr().out.splitlines()
    assert figures.startswith("the tag claims: ")
    assert " · hold " in figures
    assert said.startswith("not contradicted, not verified: left out")
    assert all(word in said for word in ("pytest", "lookahead", "gates.json", "report.html"))
    assert main([*command, "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["holds"], answer["outcome"]) == (False, "not-verified")
    assert "test_report.json" in answer["left_out"]


def test_a_quick_look_names_the_gates_of_code_that_the_template_did_not_write(
    case: tuple[Path, str, str],
) -> None:
    """Another coder is named, and the tag has what it writes; no gate has seen that code."""
    work, tag, _ = case
    code = "Backtest/codes/quick_dip.py"
    old, new = "\nclass Strategy:", "\nLEAST = 1\n\n\nclass Strategy:"

    def change(files: dict[str, str]) -> dict[str, str]:
        return {**files, code: files[code].replace(old, new)}

    parts = read_case(work, tag)
    parts.replace(code, old.encode(), new.encode())
    made = write_tag(work, parts, seal(work, parts), tag)
    git(work, "update-ref", f"refs/tags/{tag}", made)
    checker = Checker(lambda contract: ChangedCoder(change))
    found = verify(tag, open_repository(work, to_write=False), checker)
    assert all(finding.holds for finding in found.findings), found.findings[-1]
    assert {"template", "mutation"} <= set(found.left_out)


def test_it_holds_in_a_clone_too(case: tuple[Path, str, str], tmp_path: Path) -> None:
    work, tag, _ = case
    sh(tmp_path, "clone", "-q", str(work), "clone")
    done = stratwright(tmp_path / "clone", "verify", tag)
    *_, figures, said = done.stdout.splitlines()
    assert (done.returncode, said) == (0, "the evidence holds")
    assert figures.startswith("computed again: ")
    assert re.search(r" · dd [\d.]+ % · Sharpe \S+ · \d+ trades", figures)


@pytest.mark.parametrize("summary", [b"[" * 100_000, b'{"bars": "x"}', b"\xff", b'{"bars": 1}'])
def test_a_tag_with_odd_figures_is_broken_not_a_bug(
    case: tuple[Path, str, str], summary: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    work, tag, _ = case
    forge(work, tag, {f"{EVIDENCE}/summary.json": summary})
    assert main(["verify", tag, "--repository", str(work), "--quick"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("the evidence is broken: ")


@pytest.mark.parametrize("path", FILES)
def test_every_changed_byte_is_found(path: str, case: tuple[Path, str, str]) -> None:
    work, tag, commit = case
    content = read(work, commit, path)
    chance = random.Random(path)
    places = {0, len(content) - 1, *(chance.randrange(len(content)) for _ in range(POSITIONS))}
    for place in sorted(places):
        other = bytes([content[place] ^ (1 << chance.randrange(8))])
        forge(work, tag, {path: content[:place] + other + content[place + 1 :]})
        assert broken(work, tag), f"byte {place} of {path} may change unseen"
    for changed in (content + b"\n", content[:-1], b"", None, ("100755", content)):
        forge(work, tag, {path: changed})
        assert exit_code(work, tag) == 1, f"{path} may become {str(changed)[:40]} unseen"


@pytest.mark.parametrize(
    "path", ["conftest.py", f"{EVIDENCE}/more.json", "Backtest/codes/other.py", "tests/test_x.py"]
)
def test_an_added_file_is_found(path: str, case: tuple[Path, str, str]) -> None:
    work, tag, _ = case
    forge(work, tag, {path: b"x = 1\n"})
    assert broken(work, tag)


@pytest.mark.parametrize("path", FILES)
def test_a_file_that_became_a_link_is_found(path: str, case: tuple[Path, str, str]) -> None:
    work, tag, commit = case
    forge(work, tag, {path: ("120000", read(work, commit, path)[:60].replace(b"\n", b""))})
    assert exit_code(work, tag) == 1


def test_a_moved_tag_is_found(case: tuple[Path, str, str]) -> None:
    work, tag, _ = case
    move_tag(work, tag, sh(work, "rev-parse", "main"))
    assert exit_code(work, tag) == 1


def test_a_lightweight_tag_is_found(case: tuple[Path, str, str]) -> None:
    work, tag, commit = case
    git(work, "update-ref", f"refs/tags/{tag}", commit)
    assert broken(work, tag)[0] == "tag"


def test_a_tag_under_another_name_is_found(case: tuple[Path, str, str]) -> None:
    work, tag, _ = case
    git(work, "update-ref", f"refs/tags/{tag}.2", sh(work, "rev-parse", f"refs/tags/{tag}"))
    assert broken(work, f"{tag}.2")[0] == "tag"
    git(work, "update-ref", "-d", f"refs/tags/{tag}.2")


@pytest.mark.parametrize("where", ["commit", "tag", "both"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"ai: propose", b"ai: PROPOSE"),
        (b"Coder: template", b"Coder: somebody"),
        (b"Model: none\n", b"Model: none\nModel: other\n"),
        (b"Model: none\n", b"Model: none\n\n"),
        (b"Prompt-Hash: sha256:", b"Prompt-Hash: sha256:0"),
        (b"\n\nEvidence: ", b"\n\nApproved by Ada.\n\nEvidence: "),
    ],
)
def test_edited_messages_are_found(
    where: str, old: bytes, new: bytes, case: tuple[Path, str, str]
) -> None:
    work, tag, commit = case
    message = git(work, "cat-file", "commit", commit).partition(b"\n\n")[2]
    edited = message.replace(old, new)
    assert edited != message
    tree = sh(work, "rev-parse", f"{commit}^{{tree}}")
    made = write_commit(work, commit, tree, edited if where != "tag" else None)
    move_tag(work, tag, made, edited if where != "commit" else None)
    assert broken(work, tag)


def resealed(work: Path, tag: str, commit: str, changes: dict[str, bytes]) -> None:
    """Change files and everything that seals them, as one who knows the product would."""
    path = f"{EVIDENCE}/provenance.json"
    statement = json.loads(changes.pop(path, read(work, commit, path)))
    for subject in statement["subject"]:
        if subject["name"] in changes:
            digest = sha256(changes[subject["name"]]).removeprefix("sha256:")
            subject["digest"]["sha256"] = digest
    provenance = (json.dumps(statement, indent=2, sort_keys=True) + "\n").encode()
    message = git(work, "cat-file", "commit", commit).partition(b"\n\n")[2]
    old = sha256(read(work, commit, path)).encode()
    sealed_anew = message.replace(old, sha256(provenance).encode())
    tree = write_tree(work, commit, {**changes, path: provenance})
    move_tag(work, tag, write_commit(work, commit, tree, sealed_anew), sealed_anew)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("Backtest/codes/quick_dip.py", b"30", b"29"),
        ("tests/test_quick_dip.py", b"assert", b"assert True or"),
        (f"{EVIDENCE}/summary.json", b'"total_trades": ', b'"total_trades": 9'),
        (f"{EVIDENCE}/trades.csv", b"exit_long", b"exit_love"),
        (f"{EVIDENCE}/equity_curve.csv", b",10000", b",20000"),
        (f"{EVIDENCE}/events.log", b"position_opened", b"position_closed"),
        (f"{EVIDENCE}/gates.json", b'"figure": "2 files"', b'"figure": "9 files"'),
        (f"{EVIDENCE}/test_report.json", b'"outcome": "passed"', b'"outcome": "failed"'),
        (f"{EVIDENCE}/report.html", b"QuickDip", b"SlickDip"),
        (f"{EVIDENCE}/equity.svg", b"<svg", b"<svg id='x'"),
        ("contracts/dip.yaml", b"rsi > 60", b"rsi > 61"),
        (f"{EVIDENCE}/provenance.json", b'"pandas": "', b'"pandas": "9'),
        (f"{EVIDENCE}/provenance.json", b'"coder": "template"', b'"coder": "agent"'),
    ],
)
def test_evidence_that_was_changed_and_sealed_anew_is_found(
    path: str, old: bytes, new: bytes, case: tuple[Path, str, str], sandbox: Remembering
) -> None:
    work, tag, commit = case
    content = read(work, commit, path)
    assert old in content
    resealed(work, tag, commit, {path: content.replace(old, new, 1)})
    assert broken(work, tag, sandbox)


@pytest.mark.parametrize("path", ["../../outside.txt", "/outside.txt", "", "a//b", "."])
def test_a_statement_that_names_files_outside_is_refused(
    path: str, case: tuple[Path, str, str]
) -> None:
    work, tag, commit = case
    name = f"{EVIDENCE}/provenance.json"
    statement = json.loads(read(work, commit, name))
    statement["subject"][0]["name"] = path
    statement["predicate"]["data"]["files"] = [path]
    resealed(work, tag, commit, {name: json.dumps(statement).encode()})
    assert exit_code(work, tag) == 1


def test_a_statement_of_any_other_form_is_broken_and_no_crash(case: tuple[Path, str, str]) -> None:
    work, tag, commit = case
    name = f"{EVIDENCE}/provenance.json"
    statement = json.loads(read(work, commit, name))
    for key in ("subject", "predicate", "_type", "predicateType"):
        for odd in (None, [], [None], [{"name": 7, "digest": {"sha256": []}}]):
            resealed_raw(work, tag, commit, {**statement, key: odd})
            assert exit_code(work, tag) == 1, f"{key} = {odd!r}"
    for key in statement["predicate"]:
        for odd in (None, [], "x"):
            predicate = {**statement["predicate"], key: odd}
            resealed_raw(work, tag, commit, {**statement, "predicate": predicate})
            assert exit_code(work, tag) == 1, f"predicate.{key} = {odd!r}"


def resealed_raw(work: Path, tag: str, commit: str, statement: object) -> None:
    path = f"{EVIDENCE}/provenance.json"
    provenance = (json.dumps(statement, indent=2, sort_keys=True) + "\n").encode()
    message = git(work, "cat-file", "commit", commit).partition(b"\n\n")[2]
    old = sha256(read(work, commit, path)).encode()
    anew = message.replace(old, sha256(provenance).encode())
    tree = write_tree(work, commit, {path: provenance})
    move_tag(work, tag, write_commit(work, commit, tree, anew), anew)


@pytest.mark.parametrize("tag", ["ai/dip/strategy/corr_000000000000", "nothing", "-x", "ai/../x"])
def test_a_tag_that_is_not_there_is_bad_input(tag: str, case: tuple[Path, str, str]) -> None:
    with pytest.raises(InputError):
        checked(case[0], tag, NoSandbox())


def test_a_tag_of_somebody_else_is_bad_input(case: tuple[Path, str, str]) -> None:
    git(case[0], "tag", "v1", "main")
    with pytest.raises(InputError, match="not a tag of ours"):
        checked(case[0], "v1", NoSandbox())


def test_candles_outside_git_are_read_from_the_checkout(
    tmp_path: Path, sandbox: Remembering
) -> None:
    world = line_world(tmp_path)
    (world.work / ".gitignore").write_text("data/\n", "utf-8")
    sh(world.work, "rm", "-q", "--cached", "data/btc.csv")
    sh(world.work, "add", ".gitignore")
    sh(world.work, "commit", "-q", "-m", "keep the candles out of Git")
    sh(world.work, "push", "-q", "origin", "main")
    tag = run(world, sandbox).tag
    assert broken(world.work, tag, sandbox) == []
    candles = world.work / "data/btc.csv"
    candles.write_bytes(candles.read_bytes() + b"\n")
    found = checked(world.work, tag, NoSandbox())
    assert (found.outcome, found.exit_code) == ("cannot-check", 4)
    candles.unlink()
    found = checked(world.work, tag, NoSandbox())
    assert (found.outcome, found.exit_code) == ("cannot-check", 4)
    assert "neither in the commit nor in the checkout" in found.findings[-1].detail


def test_in_a_shallow_clone_it_says_what_to_fetch(
    case: tuple[Path, str, str], tmp_path: Path
) -> None:
    work, tag, _ = case
    sh(tmp_path, "clone", "-q", "--depth=1", "-b", tag, f"file://{work}", "clone")
    with pytest.raises(InputError) as stop:
        checked(tmp_path / "clone", tag, NoSandbox())
    assert "--unshallow" in stop.value.hint
