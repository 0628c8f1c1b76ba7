"""The command line, as a user meets it: a real process, its output and its exit code."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "plan"
SECONDS = 10.0  # of the processor; what is not stopped takes for ever


def stratwright(
    *arguments: str | Path, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bot.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


def test_help_fits_one_screen_and_imports_nothing_heavy() -> None:
    script = (
        "import sys, bot.cli\n"
        "bot.cli.build_parser().format_help()\n"
        "heavy = {'pydantic', 'pandas', 'numpy', 'talib', 'yaml', 'jinja2'} & set(sys.modules)\n"
        "sys.exit(','.join(sorted(heavy)) or 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    shown = stratwright("--help")
    assert shown.returncode == 0
    assert len(shown.stdout.splitlines()) <= 48


def test_version() -> None:
    assert stratwright("--version").stdout.startswith("stratwright 0.")


def test_plan_prints_a_table_and_json() -> None:
    table = stratwright("plan", "tests/golden/plan/oversold_dip.yaml")
    assert table.returncode == 0, table.stderr
    assert "2. Indicators" in table.stdout
    assert max(map(len, table.stdout.splitlines())) <= 100
    plan = stratwright("plan", "tests/golden/plan/oversold_dip.yaml", "--json")
    assert plan.stdout == (GOLDEN / "oversold_dip.json").read_text(encoding="utf-8")


def test_mistakes_are_told_on_stderr_with_exit_code_2(tmp_path: Path) -> None:
    contract = tmp_path / "x.yaml"
    contract.write_text("version: 1.0\nkind: strategy\nrisk: {stop_loss: 2}\n")
    done = stratwright("plan", contract)
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"{contract}:3:19 risk.stop_loss: out of bounds; found 2" in done.stderr
    assert "contracts/schema/contract-1.0.json has every field" in done.stderr


def test_mistakes_are_json_with_json(tmp_path: Path) -> None:
    contract = tmp_path / "x.yaml"
    contract.write_text("version: 1.0\n")
    done = stratwright("plan", contract, "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 2
    assert done.stderr == ""
    assert "version" in [problem["field"] for problem in answer["problems"]]
    assert set(answer) == {"error", "hint", "problems"}


@pytest.mark.parametrize(
    "arguments", [(), ("plan",), ("dance",), ("plan", "x.yaml", "--fast"), ("generate", "x.yaml")]
)
def test_wrong_arguments_exit_2(arguments: tuple[str, ...]) -> None:
    done = stratwright(*arguments)
    assert done.returncode == 2
    assert "Run stratwright" in done.stderr
    assert json.loads(stratwright(*arguments, "--json").stdout)["problems"] == []


def test_generate_writes_the_files_and_prints_them(tmp_path: Path) -> None:
    done = stratwright("generate", GOLDEN / "oversold_dip.yaml", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    strategy = tmp_path / "Backtest" / "codes" / "oversold_dip.py"
    assert str(strategy) in done.stdout.splitlines()
    compile(strategy.read_text(encoding="utf-8"), str(strategy), "exec")
    listed = json.loads(
        stratwright("generate", GOLDEN / "oversold_dip.yaml", "--out", tmp_path, "--json").stdout
    )
    assert [tmp_path / file["path"] for file in listed["files"]] == [
        Path(line) for line in done.stdout.splitlines()
    ]


@pytest.mark.parametrize("command", ["plan", "generate", "backtest", "sweep", "gate", "run"])
def test_what_a_command_does_not_carry_out_is_refused(tmp_path: Path, command: str) -> None:
    text = (GOLDEN / "oversold_dip.yaml").read_text(encoding="utf-8")
    text = text.replace("rsi < oversold and close > trend", "{prose: buy the dip}")
    contract, remote = tmp_path / "work" / "x.yaml", tmp_path / "remote.git"
    contract.parent.mkdir()
    contract.write_text(f"{text}optimize: {{metric: sharpe}}\ncoder: agent\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
    for git in (
        ["init", "-q"],
        ["config", "user.name", "a"],
        ["config", "user.email", "a@example.com"],
        ["remote", "add", "origin", str(remote)],
        ["add", "x.yaml"],
        ["commit", "-q", "-m", "first"],
        ["push", "-q", "origin", "HEAD"],
    ):
        subprocess.run(["git", "-C", contract.parent, *git], check=True)
    out = ["--out", tmp_path / "out"] if command in ("generate", "backtest") else []
    done = stratwright(command, contract, *out)
    assert done.returncode == 2, done.stderr
    if command != "run":  # which lets a model write, once every rule is an expression
        assert "coder: code by a model: only `stratwright run` on your machine" in done.stderr
        assert "allowed: template, auto" in done.stderr
    assert "enter_long: rsi < 30 and close > trend" in done.stderr
    assert not (tmp_path / "out").exists()


def test_generate_refuses_two_contracts_for_one_file(tmp_path: Path) -> None:
    copy = tmp_path / "copy.yaml"
    copy.write_bytes((GOLDEN / "oversold_dip.yaml").read_bytes())
    out = tmp_path / "out"
    done = stratwright("generate", GOLDEN / "oversold_dip.yaml", copy, "--out", out)
    assert done.returncode == 2
    assert "both write Backtest/codes/oversold_dip.py" in done.stderr
    assert not out.exists()


def test_generate_tells_the_problems_of_all_contracts(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text("version: 1.0\n")
    done = stratwright("generate", tmp_path / "a.yaml", tmp_path / "b.yaml", "--out", tmp_path)
    assert done.returncode == 2
    assert "a.yaml:1:10" in done.stderr
    assert "b.yaml:1:10" in done.stderr


def run_broken(tmp_path: Path, error: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command that fails in a way nobody foresaw."""
    script = (
        "import sys, bot.cli, bot.commands.plan as plan\n"
        f"def fail(args): raise {error}\n"
        "plan.run = fail\n"
        "sys.exit(bot.cli.main(['plan', 'x.yaml']))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path), **environment},
    )


def test_a_bug_is_confessed_with_exit_code_3(tmp_path: Path) -> None:
    done = run_broken(tmp_path, "RuntimeError('no')")
    assert done.returncode == 3
    assert "this is a bug" in done.stderr
    assert "Traceback" not in done.stderr
    report = next(tmp_path.glob("stratwright-bug-*.txt"))
    assert str(report) in done.stderr
    assert "RuntimeError: no" in report.read_text(encoding="utf-8")


def test_a_bug_shows_its_traceback_on_request(tmp_path: Path) -> None:
    done = run_broken(tmp_path, "RuntimeError('no')", STRATWRIGHT_DEBUG="1")
    assert done.returncode == 3
    assert "RuntimeError: no" in done.stderr
    assert not list(tmp_path.iterdir())


def test_an_interrupt_exits_130(tmp_path: Path) -> None:
    assert run_broken(tmp_path, "KeyboardInterrupt").returncode == 130


def test_a_reader_that_goes_away_is_no_bug() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "bot.cli", "plan", "tests/golden/plan/oversold_dip.yaml"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    complaints = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=30) == 141
    assert complaints == b""


def test_a_terminal_without_utf_8_is_no_bug(tmp_path: Path) -> None:
    text = (GOLDEN / "oversold_dip.yaml").read_text(encoding="utf-8")
    contract = tmp_path / "x.yaml"
    contract.write_text(
        text.replace("data: {source", "data: {source: csv, path: caf\u00e9.csv} #"),
        encoding="utf-8",
    )
    done = stratwright("plan", contract, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "caf\\xe9" in done.stdout


def test_a_file_that_gives_no_document_is_refused_without_importing_ta_lib() -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom bot.contract.load import parse_contract\n"
        "from bot.errors import InputError\n"
        "for data in (b'[', b'a: .nan', b'a: 1'):\n"
        "    try: parse_contract(data, 'yaml', Path('x'))\n"
        "    except InputError: pass\n"
        "sys.exit('talib' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0


def laughs(anchor: str) -> bytes:
    lines = [f"a0: {anchor}a0 [lol]"]
    lines += [f"a{n}: {anchor}a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    return "\n".join(lines).encode()


HEAD = b'version: "1.0"\n'
HOSTILE = {
    "laughs.yaml": laughs("&"),
    "tag.yaml": HEAD + b"workflow: !!python/object/apply:os.system ['touch pwned']\n",
    "merge.yaml": HEAD + b"<<: {task: x}\n",
    "duplicate.yaml": HEAD + HEAD,
    "duplicate.json": b'{"version": "1.0", "version": "1.0"}',
    "nan.yaml": HEAD + b"capital: .nan\n",
    "nan.json": b'{"version": "1.0", "capital": NaN}',
    "infinity.json": b'{"version": "1.0", "capital": 1e999}',
    "integer.yaml": HEAD + b"seed: " + b"9" * 100_000,
    "integer.json": b'{"seed": ' + b"9" * 100_000 + b"}",
    "large.yaml": HEAD + b"# " + b"x" * 10_000_000,
    "large.json": b'{"version": "' + b"x" * 10_000_000 + b'"}',
    "deep.yaml": b"[" * 100_000,
    "deep_maps.yaml": b"{" * 100_000,
    "deep_lines.yaml": b"".join(b" " * n + b"a:\n" for n in range(450)),
    "deep.json": b"[" * 100_000 + b"]" * 100_000,
    "deep_maps.json": b'{"a":' * 20_000,
    "wide.yaml": HEAD + b"".join(b"k%d: 1\n" % n for n in range(12_000)),
    "wide.json": b"{" + b",".join(b'"k%d": 1' % n for n in range(10_000)) + b"}",
    "traversal.yaml": HEAD + b"workflow: ../../../etc\ntask: ..\n",
    "traversal.json": b'{"workflow": "../../../etc", "task": "a/b"}',
    "confusable.yaml": HEAD + "workflow: \u043eversold\nname: Over\u0455old\n".encode(),
    "confusable.json": '{"w\u043erkflow": "x"}'.encode(),
    "bidi.yaml": HEAD + "notes: \u202etxt.evil\n".encode(),
    "bidi.json": b'{"notes": "\\u202e"}',
    "surrogate.json": b'{"notes": "\\ud800"}',
    "escape.yaml": HEAD + b'notes: "\\UFFFFFFFF"\n',
    "terminal.yaml": HEAD + b"\x1b]0;owned\x07: 1\n",
    "latin.yaml": HEAD + b"notes: caf\xe9\n",
    "latin.json": b'{"notes": "caf\xe9"}',
    "bom.yaml": b"\xef\xbb\xbf" + HEAD,
    "utf16.json": '{"version": "1.0"}'.encode("utf-16"),
    "nul.yaml": HEAD + b"notes: a\x00b\n",
    "documents.yaml": HEAD + b"---\n" + HEAD,
    "documents.json": b"{} {}",
    "empty.yaml": b"",
    "empty.json": b"",
    "list.yaml": b"- 1\n",
    "scalar.json": b"7",
}
HOSTILE_RULES = {
    "rule.yaml": HEAD + b"rules: {enter_long: '" + b"(" * 3000 + b"'}\n",
    "minus.yaml": HEAD + b"rules: {enter_long: '" + b"-" * 3000 + b"1 > 0'}\n",
    "chain.json": b'{"rules": {"enter_long": "' + b"close > " * 400 + b'1"}}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_exit_2_soon_without_a_traceback(name: str, tmp_path: Path) -> None:
    contract = tmp_path / name
    contract.write_bytes(HOSTILE[name])
    check_refused(contract, tmp_path)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("name", HOSTILE_RULES)
def test_hostile_rules_exit_2_soon_without_a_traceback(name: str, tmp_path: Path) -> None:
    contract = tmp_path / name
    contract.write_bytes(HOSTILE_RULES[name])
    check_refused(contract, tmp_path)


def test_what_is_no_file_exits_2_soon(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    (tmp_path / "tty.json").symlink_to("/dev/tty")
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    for name in ("folder", "pipe", "zero", "loop", "missing"):
        check_refused(tmp_path / f"{name}.yaml", tmp_path)
    check_refused(tmp_path / "tty.json", tmp_path)
    check_refused(tmp_path / ("x" * 300 + ".yaml"), tmp_path)
    check_refused(Path("/etc/passwd"), tmp_path)


def check_refused(contract: Path, cwd: Path) -> None:
    done, seconds = timed("plan", contract, cwd=cwd)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr
    assert seconds < SECONDS


def timed(*arguments: str | Path, cwd: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    """Run a command and count the processor's seconds, which other programs do not lengthen."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = stratwright(*arguments, cwd=cwd)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
