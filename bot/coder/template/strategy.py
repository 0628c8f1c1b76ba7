"""Turns a contract and its Program into the text of the adapter-driven strategy file."""

import textwrap
from collections.abc import Mapping
from dataclasses import replace

from bot.coder.template.code_layout import WIDTH, Group, statement
from bot.coder.template.steps import (
    BODY,
    RULE_TITLES,
    Names,
    assign,
    longer_lines,
    price_lines,
    step_lines,
    words,
)
from bot.contract.language.program import Program
from bot.contract.language.tree import Price, names_in
from bot.contract.model import Contract
from bot.contract.numbers import CfgValue, Settings
from bot.contract.risk import Trailing

COSTS = ("commission", "slippage", "spread")


def preparation(program: Program, settings: Settings) -> str:
    """Writes the body of prepare_indicators: parameters, prices, indicators, rules."""
    names = Names()
    lines = _parameter_lines(program, names)
    lines += _price_lines(program, names)
    if lines and program.steps:
        lines.append("")
    longer = longer_lines(program, names, 'series.column({frame}, "{price}")')
    if longer and program.own_steps:
        longer.append("")
    lines += longer
    for step in program.own_steps:
        lines += step_lines(step, names)
    for field in program.atr_periods:
        prices = tuple(names.of(price) for price in ("high", "low", "close"))
        period = f'self.cfg["{settings.keys[f"{field}.timeperiod"]}"]'
        code = Group("talib.ATR(", (*prices, f"timeperiod={period}"))
        lines.append(assign(names.of(f"{field}.atr"), code))
    for rule, tree in program.rules.items():
        lines += ["", *words(RULE_TITLES[rule], tree)]
        lines.append(assign(rule, names.code(tree)))
    keys = [key for step in program.steps for key in step.keys]
    keys += [f"{field}.atr" for field in program.atr_periods]
    items = [(key, names.of(key)) for key in keys] + [(rule, rule) for rule in program.rules]
    lines.append(f"{' ' * BODY}return series.by_name(")
    lines.append(f"{' ' * BODY}    df,")
    lines.append(f"{' ' * BODY}    {{")
    lines += [
        statement(f'"{key}": ', Group("(", (name,), " "), BODY + 8, ",") for key, name in items
    ]
    lines += [f"{' ' * BODY}    }},", f"{' ' * BODY})"]
    return "\n".join(lines)


def _parameter_lines(program: Program, names: Names) -> list[str]:
    # The periods of ATR levels are read where they are used.
    used = replace(program, atr_periods={}).parameters_read
    return [
        assign(names.of(name), Group("(", (f'self.cfg["{name}"]',), " "))
        for name in program.parameters
        if name in used
    ]


def _price_lines(program: Program, names: Names) -> list[str]:
    trees = [tree for step in program.own_steps for tree in step.trees]
    used = names_in((*trees, *program.rules.values()), Price)
    if program.atr_periods:
        used |= {"high", "low", "close"}
    return price_lines(used, names, 'series.column(df, "{price}")')


def default_cfg(settings: Settings) -> str:
    """Writes the DEFAULT_CFG statement."""
    lines = ["DEFAULT_CFG: dict[str, Any] = {"]
    lines += [f'    "{key}": {_literal(value)},' for key, value in settings.defaults.items()]
    return "\n".join([*lines, "}"])


def _literal(value: CfgValue) -> str:
    if isinstance(value, str):
        return quoted(value)
    if not isinstance(value, list):
        return repr(value)
    text = f"[{', '.join(map(quoted, value))}]"
    if len(text) < 60:
        return text
    lines = [f"        {quoted(item)}," for item in value]
    return "\n".join(["[", *lines, "    ]"])


def quoted(text: str) -> str:
    """Writes a string literal in plain ASCII, in double quotes where that needs no escape."""
    literal = ascii(text)
    if literal.startswith("'") and '"' not in literal:
        return f'"{literal[1:-1]}"'
    return literal


def described(description: str) -> str:
    """Writes the contract's description as a literal that cannot become code."""
    if not description:
        return ""
    one_line = f"DESCRIPTION = {quoted(description)}"
    if len(one_line) <= WIDTH:
        return one_line
    # An escape may take ten characters, so pieces are cut by the length of their literal.
    pieces: list[str] = [""]
    for character in description:
        if len(quoted(pieces[-1] + character)) > WIDTH - 4:
            pieces.append("")
        pieces[-1] += character
    return "\n".join(["DESCRIPTION = (", *(f"    {quoted(piece)}" for piece in pieces), ")"])


def entries(program: Program) -> tuple[str, str]:
    """Docstring and body of find_entries."""
    sides = [rule for rule in ("enter_long", "enter_short") if rule in program.rules]
    if len(sides) == 2:
        doc = "The order of this bar, if one entry rule holds; both at once cancel out."
        body = """
        long = bool(indicators["enter_long"].iloc[idx])
        short = bool(indicators["enter_short"].iloc[idx])
        if long == short:
            return None
        return self._order(df, indicators, idx, "BUY" if long else "SELL")"""
        return doc, body[1:]
    body = f"""
        if not indicators["{sides[0]}"].iloc[idx]:
            return None
        return self._order(df, indicators, idx)"""
    return "The order of this bar, if the entry rule holds.", body[1:]


def exits(program: Program) -> tuple[str, str]:
    """Docstring and body of find_exits."""
    rules = [rule for rule in ("exit_long", "exit_short") if rule in program.rules]
    answer = """
        return {"position_id": position["position_id"], "reason": rule}"""
    if not rules:
        return (
            "No exit rule: the stop and the targets alone close a position.",
            " " * 8 + "return None",
        )
    doc = "Whether the exit rule of the position's side holds at this bar."
    if len(rules) == 2:
        body = """
        rule = "exit_long" if position["action"] == "BUY" else "exit_short"
        if not indicators[rule].iloc[idx]:
            return None"""
    else:
        action = "BUY" if rules[0] == "exit_long" else "SELL"
        body = f"""
        rule = "{rules[0]}"
        if position["action"] != "{action}" or not indicators[rule].iloc[idx]:
            return None"""
    return doc, body[1:] + answer


def order(contract: Contract, program: Program, settings: Settings) -> str:
    """Writes the body of _order."""
    cfg = {place: f'self.cfg["{key}"]' for place, key in settings.keys.items()}
    both = {"enter_long", "enter_short"} <= set(program.rules)
    lines = ['close = series.at(df, "close", idx)']
    if both:
        lines.append('side = 1 if action == "BUY" else -1')
    lines += _level_lines("stop", "stop_loss", cfg)
    if contract.risk.take_profit is not None:
        lines += _level_lines("target", "take_profit", cfg)
    missing = [
        f"pd.isna({name})"
        for name, field in (("stop", "stop_loss"), ("target", "take_profit"))
        if field in program.atr_periods
    ]
    if missing:
        lines += [f"if {' or '.join(missing)}:  # the ATR is still missing", "    return None"]
    lines.append("order: dict[str, Any] = {")
    lines += [
        f'    "{key}": {text},' for key, text in _order_items(contract, program, settings, cfg)
    ]
    lines.append("}")
    account = (f'self.cfg["{settings.key_of("capital")}"]', f'self.cfg["{settings.key_of("lot")}"]')
    volume = Group("volume_of(", ("order", account[0], "close", account[1]))
    lines.append(statement('order["volume"] = ', volume, 0, width=WIDTH - BODY))
    lines.append("return order")
    return textwrap.indent("\n".join(lines), " " * BODY)


def signals(contract: Contract, program: Program, settings: Settings) -> str:
    """Writes the body of signals: the rules' series, and the wishes of every order."""
    cfg = {place: f'self.cfg["{key}"]' for place, key in settings.keys.items()}
    lines: list[str] = []
    for name, field in (("stop", "stop_loss"), ("target", "take_profit")):
        if field in program.atr_periods:
            product = Group("(", (cfg[f"{field}.atr"], f'indicators["{field}.atr"]'), " * ")
            lines.append(statement(f"{name} = ", product, 0, width=WIDTH - BODY))
    items = [(rule, f'indicators["{rule}"]') for rule in program.rules]
    wishes = _order_items(contract, program, settings, cfg)
    items += [item for item in wishes if item[0] in ("stop", "target", "trail", "roi", "size")]
    lines += ["return {", *(f'    "{key}": {text},' for key, text in items), "}"]
    return textwrap.indent("\n".join(lines), " " * BODY)


def _order_items(
    contract: Contract, program: Program, settings: Settings, cfg: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Writes the keys of the order and the code of each value."""
    risk = contract.risk
    plus, minus = "+", "-"
    action, comment = '"BUY"', '"enter_long"'
    if "enter_long" not in program.rules:
        plus, minus = "-", "+"
        action, comment = '"SELL"', '"enter_short"'
    elif "enter_short" in program.rules:
        plus, minus = "+ side *", "- side *"
        action, comment = "action", '"enter_long" if action == "BUY" else "enter_short"'
    items = [
        ("action", action),
        ("symbol", f'self.cfg["{settings.key_of("symbol")}"]'),
        ("type", '"MARKET"'),
        ("sl", f"close {minus} stop"),
    ]
    if risk.take_profit is not None:
        items.append(("tp", f"close {plus} target"))
    items.append(("comment", comment))
    items.append(("stop", _level("stop", "stop_loss", cfg)))
    if risk.take_profit is not None:
        items.append(("target", _level("target", "take_profit", cfg)))
    if risk.trailing_stop is not None:
        items.append(("trail", _trail(risk.trailing_stop, cfg)))
    if risk.roi is not None:
        items.append(("roi", _roi(cfg)))
    form, _, cap = risk.size.parts
    size = f'{{"{form}": {cfg[f"size.{form}"]}}}'
    if cap is not None:
        costs = [f'self.cfg["{settings.key_of(name)}"]' for name in COSTS]
        lines = [f"            {text}," for text in (cfg["size.cap"], *costs)]
        capped = "\n".join(["affordable(", *lines, "        ),"])
        size = f'{{\n        "{form}": {cfg[f"size.{form}"]},\n        "cap": {capped}\n    }}'
    return [*items, ("size", size)]


def _level_lines(name: str, field: str, cfg: Mapping[str, str]) -> list[str]:
    if field in cfg:
        return [f"{name} = close * {cfg[field]}"]
    distance = f'float(indicators["{field}.atr"].iloc[idx])'
    product = Group("(", (cfg[f"{field}.atr"], distance), " * ")
    return [statement(f"{name} = ", product, 0, width=WIDTH - BODY)]


def _level(name: str, field: str, cfg: Mapping[str, str]) -> str:
    return f'{{"fraction": {cfg[field]}}}' if field in cfg else f'{{"distance": {name}}}'


def _trail(trailing: Trailing, cfg: Mapping[str, str]) -> str:
    lines = ["{", f'        "fraction": {cfg["trailing_stop.distance"]},']
    if trailing.activate_at is not None:
        lines.append(f'        "activate_at": {cfg["trailing_stop.activate_at"]},')
    lines.append(f'        "only_after_activation": {trailing.only_after_activation},')
    return "\n".join([*lines, "    }"])


def _roi(cfg: Mapping[str, str]) -> str:
    steps = {
        int(place.removeprefix("roi.")): text for place, text in cfg.items() if "roi." in place
    }
    lines = [f"        {minutes}: {text}," for minutes, text in sorted(steps.items())]
    return "\n".join(["{", *lines, "    }"])
