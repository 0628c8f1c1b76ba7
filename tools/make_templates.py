"""Turns the coder's own templates into the two that people read: seed 001's file and CODE-001.

`Backtest/codes/strategy_template_adapter_driven.py` is what the coder writes for the smallest
contract; `brain/code/CODE-001-istrategy.md` shows the IStrategy template with its slots, and the
same contract's file. A test holds both to the templates.
"""

import re
from pathlib import Path

from bot.coder.template.template_coder import TEMPLATES, freqtrade_text, strategy_text
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract

ROOT = Path(__file__).parents[1]
CONTRACT = "brain/code/template-contract.yaml"
STRATEGY = "Backtest/codes/strategy_template_adapter_driven.py"
PAGE = "brain/code/CODE-001-istrategy.md"
_TEMPLATE = "freqtrade_strategy.py.j2"
_SLOT = re.compile(r"\{\{ ([a-z_.]+) \}\}")

# What fills each slot; a test fails when the template gets one that is not here.
SLOTS = {
    "version": "the version that wrote it",
    "contract_path": "where the contract lies in its repository",
    "digest": "the contract's digest",
    "name": "the contract's name, which is the class's",
    "imports.typing": "the types that the annotations need",
    "imports.persistence": "`Trade`, where a callback takes one",
    "imports.strategy": "the names from `freqtrade.strategy`",
    "description": "the contract's description, as a constant",
    "aliases": "short names of types, where functions need them",
    "functions": "the rule language's functions that the rules use, as plain functions",
    "timeframe": "the market's",
    "can_short": "whether a rule enters short",
    "warmup": "the computed warm-up",
    "line": "settings (stop, ROI, trailing), then parameters as hyperopt's, with ranges",
    "indicators": "every indicator as a column",
    "entries": "the enter rules",
    "exits": "the exit rules",
    "method": "callbacks, only where the contract needs them",
}


def make_templates() -> dict[str, str]:
    """Both files by their path in the repository."""
    contract = load_contract(ROOT / CONTRACT).strategy
    program = compile_contract(contract)
    template = (TEMPLATES / _TEMPLATE).read_text("utf-8")
    return {
        STRATEGY: strategy_text(contract, program, CONTRACT),
        PAGE: _page(template, freqtrade_text(contract, program, CONTRACT)),
    }


def slots_of(template: str) -> list[str]:
    """The slots of a template, each once, in their order."""
    return list(dict.fromkeys(_SLOT.findall(template)))


def _page(template: str, example: str) -> str:
    rows = "\n".join(f"| `{slot}` | {SLOTS[slot]} |" for slot in slots_of(template))
    return f"""\
---
id: CODE-001
title: the IStrategy template
source: bot/coder/template
version: 1
date: 2026-11-17
tags: [freqtrade, template]
---
# CODE-001: the IStrategy template

Made by `python -m tools.make_templates` from the template that the coder fills; a test holds this
page to it. What stands outside double braces is fixed. The compiler fills the slots from the
contract; a contract that needs no callback has none.

| slot | filled with |
|---|---|
{rows}

## The template
```jinja
{template.rstrip()}
```

## Filled, for {CONTRACT}
```python
{example.rstrip()}
```
"""


def main() -> None:
    """Write both files."""
    for path, text in make_templates().items():
        place = ROOT / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        print(path)


if __name__ == "__main__":
    main()
