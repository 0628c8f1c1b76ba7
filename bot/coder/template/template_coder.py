"""Turns a contract into a candidate without a model: the rule compiler fills fixed templates."""

import hashlib
from functools import cache
from pathlib import Path

import jinja2

from bot import __version__
from bot.coder.by_text import ByText
from bot.coder.port import Candidate, Failure
from bot.coder.template import strategy
from bot.coder.template.expected import Expected, expect
from bot.coder.template.freqtrade_strategy import strategy_context
from bot.coder.template.test_file import test_context
from bot.contract.digest import contract_digest
from bot.contract.language.program import Program, compile_contract
from bot.contract.language.warmup import warmup
from bot.contract.model import AnyContract, Contract, ModuleContract
from bot.contract.numbers import flat_settings
from bot.errors import InputError
from bot.plan.todo import refuse_inexpressible

TEMPLATES = Path(__file__).parent / "templates"
_EXPECTED: dict[str, Expected] = {}
_MOST_EXPECTED = 4


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - Python, not HTML; contract strings come as literals only
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


class TemplateCoder(ByText):
    """Writes what the contract states exactly."""

    name = "template"
    rounds = 1

    def write(
        self, contract: AnyContract, contract_path: str, failures: tuple[Failure, ...] = ()
    ) -> Candidate:
        """Writes the strategy and its tests; the same again, whatever failed before.

        Raises:
            InputError: the contract needs a model.
        """
        if isinstance(contract, ModuleContract):
            raise InputError(
                "kind: module needs a model to write it",
                "The template coder writes contracts of kind: strategy.",
            )
        program = compile_contract(contract)
        files = {
            contract.strategy_file: strategy_text(contract, program, contract_path),
            contract.tests_file: tests_text(contract, program, contract_path),
        }
        if "freqtrade" in contract.targets:
            refuse_inexpressible(contract, warmup(program))
            text = freqtrade_text(contract, program, contract_path)
            files[contract.freqtrade_file] = text
        return Candidate(files, self.name, "", prompt_hash(contract, contract_path))


def strategy_text(contract: Contract, program: Program, contract_path: str) -> str:
    """Writes the adapter-driven strategy file."""
    settings = flat_settings(contract, program)
    entries_doc, entries = strategy.entries(program)
    exits_doc, exits = strategy.exits(program)
    body = strategy.preparation(program, settings)
    return _rendered(
        "adapter_strategy.py.j2",
        contract,
        contract_path,
        description=strategy.described(contract.description),
        default_cfg=strategy.default_cfg(settings),
        preparation=body,
        uses_numpy="np." in body,
        uses_talib="talib." in body,
        sizing="volume_of" if contract.risk.size.cap is None else "affordable, volume_of",
        entries_doc=entries_doc,
        entries=entries,
        exits_doc=exits_doc,
        exits=exits,
        both_sides={"enter_long", "enter_short"} <= set(program.rules),
        signals=strategy.signals(contract, program, settings),
        order=strategy.order(contract, program, settings),
    )


def freqtrade_text(contract: Contract, program: Program, contract_path: str) -> str:
    """Writes the Freqtrade strategy file."""
    return _rendered(
        "freqtrade_strategy.py.j2",
        contract,
        contract_path,
        description=strategy.described(contract.description),
        **strategy_context(contract, program),
    )


def tests_text(contract: Contract, program: Program, contract_path: str) -> str:
    """Writes the tests of the strategy, with expected values from the interpreter."""
    settings = flat_settings(contract, program)
    expected = _expected(contract, program)
    symbols = settings.key_of("symbols")
    return _rendered(
        "test_strategy.py.j2",
        contract,
        contract_path,
        stem=contract.file_stem,
        **test_context(expected, settings.defaults, symbols, contract.market.symbols[0]),
    )


def _expected(contract: Contract, program: Program) -> Expected:
    """Computes what the tests expect; kept, because a candidate is compared with it again."""
    key = contract_digest(contract)
    if key not in _EXPECTED:
        while len(_EXPECTED) >= _MOST_EXPECTED:
            _EXPECTED.pop(next(iter(_EXPECTED)))
        _EXPECTED[key] = expect(contract, program, flat_settings(contract, program).defaults)
    return _EXPECTED[key]


def _rendered(template: str, contract: Contract, contract_path: str, **slots: object) -> str:
    """Fills the slots of a template; what every file says of its origin comes from here."""
    origin = {
        "version": __version__,
        "contract_path": contract_path,
        "digest": contract_digest(contract),
        "name": contract.name,
    }
    return _environment().get_template(template).render(**origin, **slots)


def prompt_hash(contract: Contract, contract_path: str) -> str:
    """Digest of all that this coder is given: contract, path, templates and its own version."""
    digest = hashlib.sha256()
    for part in (__version__, contract_path, contract_digest(contract)):
        digest.update(part.encode() + b"\0")
    for template in sorted(TEMPLATES.glob("*.j2")):
        digest.update(template.name.encode() + b"\0" + template.read_bytes() + b"\0")
    return f"sha256:{digest.hexdigest()}"
