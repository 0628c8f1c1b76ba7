"""Turns a contract's file into a checked contract, or into all of its problems at once."""

import errno
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from bot.contract.coherence import check_coherence
from bot.contract.document.problems import (
    ContractError,
    Fault,
    Flaw,
    Problem,
    field_name,
    nearest,
    printable,
    quoted,
)
from bot.contract.document.source import MAX_BYTES, Form, Source, read_source
from bot.contract.explain import explain
from bot.contract.model import AnyContract, Contract, ModuleContract
from bot.contract.symbols import file_symbol
from bot.errors import InputError

FORMS: dict[str, Form] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}
MAX_PROBLEMS = 200


@dataclass(frozen=True)
class LoadedContract:
    """Holds a contract without a known mistake, with the file it came from."""

    contract: AnyContract
    path: Path
    data: bytes
    source: Source

    @property
    def strategy(self) -> Contract:
        """Gives the contract of a strategy; a module's is refused with a reason."""
        if isinstance(self.contract, Contract):
            return self.contract
        hint = "Give a contract of kind: strategy; modules are written by a model."
        raise InputError(f"{self.path} asks for a module, not for a strategy", hint)

    def problem(self, fault: Fault) -> Problem:
        """Place a fault of a later stage in this file."""
        return _place(fault, self.source, str(self.path))


def load_contract(path: Path, *, models: bool = False) -> LoadedContract:
    """Read and check a contract.

    `models`: who asks lets a model write code where the contract names one as its coder.

    Raises:
        ContractError: with every problem found, in the order of the file.
        InputError: if there is no such file, or it is none that can be read.
    """
    form = FORMS.get(path.suffix.lower())
    if form is None:
        name = printable(str(path))
        raise InputError(f"{name} is not a contract's file name", "Use .yaml, .yml or .json.")
    data = read_file(path)
    above = path.resolve().parents
    root = next((folder for folder in above if (folder / ".git").exists()), None)
    return parse_contract(data, form, path, root, models=models)


def parse_contract(
    data: bytes,
    form: Form,
    path: Path,
    root: Path | None = None,
    *,
    models: bool = False,
) -> LoadedContract:
    """Checks the bytes of a contract; with mistakes, for missing candles below `root` too."""
    source = read_source(data, form)
    problems = [_flaw(flaw, source, str(path)) for flaw in source.flaws]
    contract: AnyContract | None = None
    if source.root is not None:
        contract, faults = _check(source.root, models=models)
        spoilt = {flaw.where for flaw in source.flaws if flaw.where}
        problems += [
            _place(fault, source, str(path))
            for fault in faults
            if not any(fault.where[: len(where)] == where for where in spoilt)
        ]
    if problems and root is not None and source.root is not None:
        problems += [_place(f, source, str(path)) for f in missing_candles(source.root, root)]
    if problems or contract is None:
        raise ContractError(_in_order(problems))
    return LoadedContract(contract, path, data, source)


def missing_candles(document: Mapping[str | int, object], root: Path) -> list[Fault]:
    """Name the files of candles that are not there; what is not written properly is not looked for.

    A contract without other mistakes does not need this: reading its candles says the same.
    """
    data, market = document.get("data"), document.get("market")
    name = data.get("path") if isinstance(data, dict) else None
    symbols = market.get("symbols") if isinstance(market, dict) else None
    if not isinstance(name, str) or "\0" in name:
        return []
    listed = symbols if isinstance(symbols, list) else []
    known = [file_symbol(symbol) for symbol in listed if isinstance(symbol, str)]
    files = dict.fromkeys(name.replace("{symbol}", symbol) for symbol in known)
    if "{symbol}" not in name:
        files = {name: None}
    absent = [file for file in files if not _leaves(file) and not (root / file).exists()]
    return [
        Fault(
            ("data", "path"),
            f"{printable(file)} is not there",
            allowed="a path from the top of the repository; `stratwright data list` shows candles",
            nearest=_beside(root / file),
        )
        for file in absent
    ]


def _beside(path: Path) -> str:
    """Gives the file of the same folder that was probably meant, or nothing."""
    try:
        meant = nearest(path.name, (file.name for file in path.parent.iterdir()))
    except OSError:
        return ""
    return quoted(meant) if meant else ""


def check_document(root: dict[str | int, object]) -> list[Fault]:
    """Gives every mistake in a contract that is at hand as data."""
    return _check(root)[1]


def read_file(path: Path) -> bytes:
    """Read a regular file up to the size limit, and never wait for a pipe or a device."""
    name = printable(str(path))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InputError(f"{name} is not a regular file", "Give the path of a contract's file.")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _unreadable(name, error) from None
    finally:
        os.close(descriptor)


def _unreadable(name: str, error: OSError | ValueError) -> InputError:
    if isinstance(error, OSError) and error.errno == errno.ENOENT:
        return InputError(f"there is no file {name}", "Check the path; examples are in contracts/.")
    reason = (error.strerror or "unknown reason") if isinstance(error, OSError) else "a bad path"
    return InputError(
        f"cannot read {name}: {reason.lower()}", "Check the path and its permissions."
    )


def _check(
    root: dict[str | int, object], *, models: bool = False
) -> tuple[AnyContract | None, list[Fault]]:
    model: type[Contract] | type[ModuleContract] = Contract
    if root.get("kind") == "module":
        model = ModuleContract
    # Only text is a key at the top; the model reports the others.
    named = {key: value for key, value in root.items() if isinstance(key, str)}
    asked = {"models": models}
    shape: list[Fault] = []
    contract: AnyContract | None = None
    try:
        contract = model.model_validate(root, context=asked)
    except ValidationError as error:
        shape = explain(error, root)
    told = {(fault.where, fault.message) for fault in shape}
    shape += [f for f in check_coherence(named, **asked) if (f.where, f.message) not in told]
    language = [] if model is ModuleContract else _check_language(named)
    known = {fault.where for fault in shape}
    faults = shape + [fault for fault in language if fault.where not in known]
    return contract, faults


def _check_language(named: dict[str, object]) -> list[Fault]:
    # Importing TA-Lib costs half a second; a document that says nothing in the language is
    # answered without it.
    if not any(named.get(section) for section in ("parameters", "indicators", "rules")):
        return []
    from bot.contract.language.program import check_language

    return check_language(named)


def _leaves(file: str) -> bool:
    """Tells whether a path leads out of the repository, which is another mistake."""
    path = PurePosixPath(file)
    return path.is_absolute() or ".." in path.parts


def _place(fault: Fault, source: Source, file: str) -> Problem:
    # A mapping as a whole is best found by its key; its value starts on the next line.
    on_key = fault.on_key or isinstance(source.at(fault.where), dict)
    index = source.locate(fault.where, on_key=on_key, offset=fault.offset)
    told = (fault.message, fault.found, fault.allowed, fault.nearest)
    return Problem(file, *source.line_and_column(index), field_name(fault.where), *told)


def _flaw(flaw: Flaw, source: Source, file: str) -> Problem:
    place = source.line_and_column(flaw.index)
    return Problem(file, *place, field_name(flaw.where), flaw.message)


def _in_order(problems: list[Problem]) -> list[Problem]:
    """Sort by place, each place and message once."""
    once = {(p.line, p.column, p.field, p.message): p for p in reversed(problems)}
    return [once[key] for key in sorted(once)][:MAX_PROBLEMS]
