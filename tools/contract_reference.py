"""Turns the model and the functions into docs/contract.md: `python -m tools.contract_reference`."""

import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from bot.contract.explain import flow
from bot.contract.goals import Acceptance, Optimize, Optimized, WalkForward
from bot.contract.indicators import ExpressionIndicator, Parameter, Prose, Rules, TalibIndicator
from bot.contract.market import Data, Market
from bot.contract.model import Contract, Heading, ModuleContract, ModuleFile
from bot.contract.risk import AtrLevel, Costs, Risk, Size, Trailing

REFERENCE_PATH = Path("docs/contract.md")
TEMPLATE = Path(__file__).with_suffix(".md")
# Heading of each section, the key that leads there, and the part of the model it describes.
_SECTIONS: tuple[tuple[str, type[BaseModel]], ...] = (
    ("`market`", Market),
    ("`data`", Data),
    ("`parameters.<name>`", Parameter),
    ("`indicators.<name>` with a TA-Lib function", TalibIndicator),
    ("`indicators.<name>` with an expression", ExpressionIndicator),
    ("`rules`", Rules),
    ("`rules.<rule>` in prose", Prose),
    ("`risk`", Risk),
    ("`risk.stop_loss` and `risk.take_profit` by the average true range", AtrLevel),
    ("`risk.trailing_stop`", Trailing),
    ("`risk.size`", Size),
    ("`costs`", Costs),
    ("`acceptance`", Acceptance),
    ("`optimize`", Optimize),
    ("`optimize.walk_forward`", WalkForward),
    ("`optimized`", Optimized),
)


def reference_text() -> str:
    """Write the whole page."""
    text = TEMPLATE.read_text(encoding="utf-8")
    text = text.replace("<!-- fields -->", "\n\n".join(_fields()))
    return text.replace("<!-- functions -->", _functions())


def _fields() -> Iterator[str]:
    yield "### The top of every contract"
    yield _table(Heading)
    yield "### A contract of `kind: strategy`"
    yield _table(Contract, leave_out=Heading)
    for title, part in _SECTIONS:
        yield f"### {title}"
        yield _sentence(part)
        yield _table(part)
    yield "### A contract of `kind: module`"
    yield _sentence(ModuleContract)
    yield _table(ModuleContract, leave_out=Heading)
    yield "### `files[]`"
    yield _sentence(ModuleFile)
    yield _table(ModuleFile)


def _functions() -> str:
    from bot.contract.language.functions import FUNCTIONS

    rows = ["| function | meaning | example |", "|---|---|---|"]
    for function in FUNCTIONS.values():
        cells = (f"`{function.signature}`", function.meaning, f"`{function.example}`")
        rows.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return "\n".join(rows)


def _sentence(part: type[BaseModel]) -> str:
    return (part.__doc__ or "").strip()


def _table(part: type[BaseModel], leave_out: type[BaseModel] | None = None) -> str:
    rows = ["| key | default | meaning | example |", "|---|---|---|---|"]
    for name, field in part.model_fields.items():
        if leave_out and name in leave_out.model_fields:
            continue
        examples = " or ".join(f"`{name}: {flow(example)}`" for example in field.examples or ())
        cells = (f"`{name}`", _default(field), field.description or "", examples)
        rows.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return "\n".join(rows)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default is None:
        return "none"
    if isinstance(field.default, BaseModel):
        given = field.default.model_dump(exclude_none=True)
        return f"`{flow(given)}`" if given else "empty"
    if field.default in ("", (), {}):
        return "empty"
    return f"`{flow(field.default)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    REFERENCE_PATH.write_text(reference_text(), encoding="utf-8")
    sys.stdout.write(f"{REFERENCE_PATH}\n")
