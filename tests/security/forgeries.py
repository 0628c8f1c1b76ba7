"""Every kind of forged evidence that its form allows, sealed so that all of it agrees."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.security.forger import Case, Forgery, write_evil_base

CODE = "Backtest/codes/quick_dip.py"
TESTS = "tests/test_quick_dip.py"
CONTRACT = "contracts/dip.yaml"
CANDLES = "data/btc.csv"
Change = Callable[[Path, Case], object]


def _file(path: str, old: bytes, new: bytes) -> Change:
    return lambda place, case: case.replace(path, old, new)


def _evidence(name: str, old: bytes, new: bytes) -> Change:
    return lambda place, case: case.replace(f"{case.folder}/{name}", old, new)


def _whole(name: str, content: bytes | None) -> Change:
    return lambda place, case: case.files.__setitem__(f"{case.folder}/{name}", content)


def _json(name: str, change: Callable[[Any], object]) -> Change:
    return lambda place, case: case.change_json(name, change)


def _says(**values: Any) -> Change:
    return lambda place, case: case.statement["predicate"].update(values)


def _coder(name: str) -> Change:
    def change(place: Path, case: Case) -> None:
        case.statement["predicate"]["coder"] = name
        case.trailer("Coder", name)
        case.replace(CODE, b"30", b"29")

    return change


def _coder_only(place: Path, case: Case) -> None:
    case.statement["predicate"]["coder"] = "agent"
    case.trailer("Coder", "agent")


def _model(place: Path, case: Case) -> None:
    case.statement["predicate"]["model"] = "some-model"
    case.trailer("Model", "some-model")


def _prompt(place: Path, case: Case) -> None:
    case.statement["predicate"]["prompt_hash"] = "sha256:" + "1" * 64
    case.trailer("Prompt-Hash", "sha256:" + "1" * 64)


def _version_of(version: str) -> Change:
    def change(place: Path, case: Case) -> None:
        predicate = case.statement["predicate"]
        predicate["versions"]["stratwright"] = predicate["product"]["version"] = version

    return change


def _product(digest: str) -> Change:
    return lambda place, case: case.statement["predicate"]["product"].update(digest=digest)


def _tool(name: str, version: str) -> Change:
    return lambda place, case: case.statement["predicate"]["versions"].update({name: version})


def _gates(change: Callable[[list[dict[str, Any]]], object]) -> Change:
    return _json("gates.json", lambda value: change(value["gates"]))


def _reported(change: Callable[[list[dict[str, Any]]], object]) -> Change:
    return _json("test_report.json", lambda value: change(value["tests"]))


def _id(place: Path, case: Case) -> None:
    case.statement["predicate"]["correlation_id"] = "corr_0123456789ab"
    case.trailer("Correlation-Id", "corr_0123456789ab")


def _linked(place: Path, case: Case) -> None:
    case.files[CODE] = b"/etc/passwd"
    case.modes[CODE] = "120000"


def _on_evil_base(place: Path, case: Case) -> None:
    case.parents = [write_evil_base(place, case)]


def _two_parents(place: Path, case: Case) -> None:
    case.parents.append(write_evil_base(place, case))


def _unlisted(path: str) -> Change:
    def change(place: Path, case: Case) -> None:
        case.files[path] = b"x = 1\n"
        case.unlisted.add(path)

    return change


def _spaced(place: Path, case: Case) -> None:
    case.raw_statement = (json.dumps(case.statement, indent=4, sort_keys=True) + "\n").encode()


def _deep(place: Path, case: Case) -> None:
    case.files[f"{case.folder}/gates.json"] = b'{"gates": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


def _set(**values: Any) -> Change:
    def change(place: Path, case: Case) -> None:
        for name, value in values.items():
            setattr(case, name, value)

    return change


def _trailers(change: Callable[[list[tuple[str, str]]], list[tuple[str, str]]]) -> Change:
    return lambda place, case: setattr(case, "trailers", change(case.trailers))


LATER = ("not-verified",)
NOT_HERE = ("cannot-check",)


def _transcript(coder: str, **changes: Any) -> Change:
    """A transcript in the product's own form, with origin and messages that agree with it."""
    answer = {"assumptions": [], "cannot": "", "expression": "rsi < 30"}
    request = {"answer": "expression", "max_tokens": 8000, "messages": [], "model": "mine",
               "system": "", "temperature": None}  # fmt: skip
    reply = {"stop_reason": "end_turn", "text": json.dumps(answer), "usage": {}}
    call = {"cost": 1, "failed": "", "reply": reply, "request": request, "round": 1,
            "rule": "enter_long"}  # fmt: skip
    plain = {"answers": {"enter_long": answer}, "asked": "sha256:" + "0" * 64, "calls": [call],
             "coder": coder, "draft": None, "model": "mine", "prices": "x", "version": 1,
             **changes}  # fmt: skip

    def change(place: Path, case: Case) -> None:
        text = json.dumps(plain, indent=1, sort_keys=True) + "\n"
        case.files[f"{case.folder}/transcript.json"] = text.encode("ascii")
        case.statement["predicate"].update(coder=coder, model="mine")
        case.trailer("Coder", coder)
        case.trailer("Model", "mine")

    return change


def _signed(place: Path, case: Case) -> None:
    _transcript("agent")(place, case)
    name = f"{case.folder}/transcript.sig"
    case.files[name] = b"-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"


def _as_draft(place: Path, case: Case) -> None:
    """A whole contract is said to have been drafted: the very one that is there."""
    path = next(name for name in case.files if name.startswith("contracts/"))
    text = (case.files[path] or b"").decode()
    _transcript("agent", answers={}, draft={"assumptions": [], "text": text})(place, case)


def _coder_cli_only(place: Path, case: Case) -> None:
    _coder_only(place, case)
    case.statement["predicate"]["coder"] = "cli"
    case.trailer("Coder", "cli")


FORGERIES = (
    Forgery("coder agent with code of its own", _coder("agent"), LATER),
    Forgery("coder cli with code of its own", _coder("cli"), LATER),
    Forgery("coder somebody with code of its own", _coder("somebody"), LATER),
    Forgery("coder agent, the template's own code", _coder_only, LATER),
    Forgery("a model that nobody asked", _model),
    Forgery("another prompt hash", _prompt),
    Forgery("another version", _version_of("9.9.9"), ("broken", "cannot-check")),
    Forgery("a product that is not this one", _product("sha256:" + "7" * 64), NOT_HERE),
    Forgery("a product without a digest", _product(""), NOT_HERE),
    Forgery("another pandas", _tool("pandas", "9.9.9"), NOT_HERE),
    Forgery("another python", _tool("python", "2.7.18"), NOT_HERE),
    Forgery("a tool that nobody uses", _tool("luck", "1.0"), NOT_HERE),
    Forgery("code with another number", _file(CODE, b"30", b"29")),
    Forgery("code with a comment more", _file(CODE, b"\nclass ", b"\n# reviewed\nclass ")),
    Forgery("code that cannot be decoded", _file(CODE, b"\nclass ", b"\n# \xff\nclass ")),
    Forgery("no code at all", lambda place, case: case.files.__setitem__(CODE, b"")),
    Forgery("tests that always pass", _file(TESTS, b"assert ", b"assert True or ")),
    Forgery("tests without one assertion", _file(TESTS, b"    assert ", b"    ")),
    Forgery("an empty test file", lambda place, case: case.files.__setitem__(TESTS, b"")),
    Forgery("more trades", _evidence("summary.json", b'"total_trades": ', b'"total_trades": 9')),
    Forgery("a better return", _evidence("summary.json", b'"total_pnl": ', b'"total_pnl": 9')),
    Forgery("a figure more", _json("summary.json", lambda value: value.update(luck=1.0))),
    Forgery("summary of a null", _whole("summary.json", b"null\n")),
    Forgery("a gate's figure", _gates(lambda gates: gates[0].update(figure="9 files"))),
    Forgery("a gate's figure is null", _gates(lambda gates: gates[0].update(figure=None))),
    Forgery("a gate passed with 1", _gates(lambda gates: gates[0].update(passed=1))),
    Forgery("a gate less", _gates(lambda gates: gates.pop())),
    Forgery("a gate more", _gates(lambda gates: gates.append({"name": "audited", "passed": True}))),
    Forgery("gates in another order", _gates(lambda gates: gates.reverse())),
    Forgery("gates that are no JSON", _whole("gates.json", b"passed\n")),
    Forgery("gates that are no text", _whole("gates.json", b"\xff\xfe\n")),
    Forgery("gates nested without end", _deep),
    Forgery("gates of ten megabytes", _whole("gates.json", b'{"gates": []}' + b" " * 10_000_000)),
    Forgery("a test less", _reported(lambda tests: tests.pop())),
    Forgery("a test more", _reported(lambda tests: tests.append(dict(tests[0])))),
    Forgery("a failed test", _reported(lambda tests: tests[0].update(outcome="failed"))),
    Forgery(
        "a test report with a time", _json("test_report.json", lambda v: v.update(created=1.5))
    ),
    Forgery("a page with other words", _evidence("report.html", b"QuickDip", b"SlickDip")),
    Forgery(
        "a page with a script", _evidence("report.html", b"</body>", b"<script></script></body>")
    ),
    Forgery("another picture", _evidence("equity.svg", b"<svg", b"<svg id='x'")),
    Forgery("another exit", _evidence("trades.csv", b"exit_long", b"exit_love")),
    Forgery("trades cut off", _whole("trades.csv", b"position_id\n")),
    Forgery("more equity", _evidence("equity_curve.csv", b",10000", b",20000")),
    Forgery("another event", _evidence("events.log", b"position_opened", b"position_closed")),
    Forgery("no events", _whole("events.log", b"")),
    Forgery("another id in the statement", _id),
    Forgery("another rule in the contract", _file(CONTRACT, b"rsi > 60", b"rsi > 61")),
    Forgery("looser acceptance", _file(CONTRACT, b"min_trades: 3", b"min_trades: 0")),
    Forgery("a contract that is none", _file(CONTRACT, b"risk:", b"risks:")),
    Forgery("a contract with a comment", _file(CONTRACT, b"risk:", b"# fine\nrisk:"), ("holds",)),
    Forgery("other candles", lambda p, case: case.files.__setitem__(CANDLES, b"x\n")),
    Forgery("another digest of candles", _says(data={"files": [CANDLES], "digest": "sha256:0"})),
    Forgery("another path of the contract", _says(contract={"path": "contracts/x.yaml"})),
    Forgery("a claim more", _says(audited="yes")),
    Forgery("a statement in other spacing", _spaced),
    Forgery("a statement of a list", _set(raw_statement=b"[]\n")),
    Forgery("a statement of nothing", _set(raw_statement=b"")),
    Forgery("an unlisted file of evidence", _unlisted("artifacts/dip/strategy/more.json")),
    Forgery("a listed file of evidence more", _whole("more.json", b"{}\n")),
    Forgery("an unlisted conftest.py", _unlisted("conftest.py")),
    Forgery(
        "a listed workflow",
        lambda p, c: c.files.__setitem__(".github/workflows/x.yml", b"on: push\n"),
    ),
    Forgery("no summary", _whole("summary.json", None)),
    Forgery("no tests", lambda place, case: case.files.__setitem__(TESTS, None)),
    Forgery("code that is a link", _linked),
    Forgery("code that may be run", lambda p, case: case.modes.__setitem__(CODE, "100755")),
    Forgery("on a base of the forger's own", _on_evil_base, LATER),
    Forgery("with a second parent", _two_parents),
    Forgery("without a parent", _set(parents=[])),
    Forgery("words of approval", _set(more_words="Approved by Ada.\n\n")),
    Forgery("another subject", _set(subject="ai: approve QuickDip")),
    Forgery("a trailer more", _trailers(lambda rows: [*rows, ("Approved-By", "Ada")])),
    Forgery("a trailer less", _trailers(lambda rows: rows[:-1])),
    Forgery(
        "another contract digest",
        _trailers(
            lambda rows: [
                (key, "sha256:0" if key == "Contract-Digest" else value) for key, value in rows
            ]
        ),
    ),
    Forgery("a tag with other words", _set(tag_words="reviewed\n")),
    Forgery("a lightweight tag", _set(annotated=False)),
    Forgery("another date", _set(date="1000000000 +0000")),
    Forgery("code that is a submodule", lambda p, case: case.modes.__setitem__(CODE, "160000")),
    Forgery("evidence with a line end in its name", _unlisted("artifacts/dip/strategy/a\n::x::")),
    Forgery("evidence with a name that is no text", _unlisted("artifacts/dip/strategy/\udcff")),
    Forgery("a version that no file can hold", _version_of("\ud800")),
    Forgery("a version that moves the cursor", _tool("pandas", "\x1b[2J")),
    Forgery("a tool that moves the cursor", _tool("\x1b[2J", "1.0")),
    Forgery("coder cli, the template's own code", _coder_cli_only, LATER),
    Forgery("coder agent with a transcript", _transcript("agent"), ("broken",)),
    Forgery("coder cli with a transcript", _transcript("cli"), ("broken",)),
    Forgery("coder agent with an empty transcript", _transcript("agent", calls=[]), ("broken",)),
    Forgery("coder agent without answers", _transcript("agent", answers={}), ("broken",)),
    Forgery("coder agent with a signature of nobody", _signed, ("broken",)),
    Forgery("coder agent that drafted the contract", _as_draft, ("broken", "not-verified")),
)
