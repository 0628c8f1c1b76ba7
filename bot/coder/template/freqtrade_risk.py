"""Turns a contract's risk into the settings and callbacks of a Freqtrade strategy."""

import textwrap

from bot.contract.numbers import FAR_STOP, RiskNumbers
from bot.contract.risk import AtrLevel


def settings(numbers: RiskNumbers) -> list[str]:
    """Writes the class attributes that state the risk, one line each."""
    risk = numbers.contract.risk
    stop = FAR_STOP if isinstance(risk.stop_loss, AtrLevel) else numbers.of(risk.stop_loss)
    steps = {str(minutes): numbers.of(profit) for minutes, profit in (risk.roi or {}).items()}
    table = ", ".join(f'"{minutes}": {profit!r}' for minutes, profit in steps.items())
    lines = [f"minimal_roi: dict[str, float] = {{{table}}}"]
    if len(lines[0]) > 90:
        rows = [f'    "{minutes}": {profit!r},' for minutes, profit in steps.items()]
        lines = ["minimal_roi: dict[str, float] = {", *rows, "}"]
    if isinstance(risk.stop_loss, AtrLevel):
        lines += [
            "# The stop is measured in average true ranges: see custom_stoploss.",
            f"stoploss = -{stop!r}",
            "use_custom_stoploss = True",
        ]
    else:
        lines.append(f"stoploss = -{stop!r}")
    if risk.take_profit is not None:
        lines += ["# The target is a price: see custom_roi.", "use_custom_roi = True"]
    if risk.trailing_stop is not None:
        lines += _trailing(numbers)
    lines.append(f"max_open_trades = {risk.max_positions}")
    exits = {"exit_long", "exit_short"} & set(numbers.program.rules)
    lines.append(f"use_exit_signal = {bool(exits)}")
    lines.append(f"exit_profit_only = {risk.exit_profit_only}")
    lines.append(f"ignore_roi_if_entry_signal = {risk.ignore_roi_if_entry_signal}")
    return lines


def _trailing(numbers: RiskNumbers) -> list[str]:
    trailing = numbers.contract.risk.trailing_stop
    if trailing is None:
        return []
    lines = ["trailing_stop = True", f"trailing_stop_positive = {numbers.of(trailing.distance)!r}"]
    if trailing.activate_at is not None:
        offset = numbers.of(trailing.activate_at)
        lines.append(f"trailing_stop_positive_offset = {offset!r}")
    lines.append(f"trailing_only_offset_is_reached = {trailing.only_after_activation}")
    return lines


def callbacks(numbers: RiskNumbers, columns: dict[str, str]) -> list[str]:
    """Writes the methods that the contract's risk needs; `columns` has the column of each ATR."""
    risk = numbers.contract.risk
    methods = [_stake(numbers, columns)]
    if isinstance(risk.stop_loss, AtrLevel):
        methods.append(_stop(numbers, risk.stop_loss, columns["stop_loss"]))
    if isinstance(risk.take_profit, AtrLevel):
        methods.append(_remember_target(numbers, risk.take_profit, columns["take_profit"]))
    if risk.take_profit is not None:
        methods.append(_target(numbers))
    if columns:
        methods.append(_AT_DECISION)
    return [textwrap.indent(textwrap.dedent(method).strip("\n"), "    ") for method in methods]


_STAKE = '''
def custom_stake_amount(
    self,
    pair: str,
    current_time: datetime,
    current_rate: float,
    proposed_stake: float,
    min_stake: float | None,
    max_stake: float,
    leverage: float,
    entry_tag: str | None,
    side: str,
    **kwargs: Any,
) -> float:
    """{doc}"""
{body}
    # Too little cash, or too small for the exchange: no trade, never another size.
    return stake if (min_stake or 0.0) <= stake <= max_stake else 0.0
'''


def _stake(numbers: RiskNumbers, columns: dict[str, str]) -> str:
    form, value, cap = numbers.contract.risk.size.parts
    amount = numbers.of(value)
    equity = "self.wallets.get_total_stake_amount()"
    stop = numbers.contract.risk.stop_loss
    if form == "equity":
        doc = f"Put {amount!r} of the account into a trade."
        body = [f"stake = {amount!r} * {equity}"]
    elif form == "units":
        doc = f"Trade {amount!r} units."
        body = [
            "# A hair more, because Freqtrade rounds the amount down.",
            f"stake = {amount!r} * current_rate * (1 + 1e-9)",
        ]
    elif isinstance(stop, AtrLevel):
        doc = f"Lose {amount!r} of the account where the stop is hit."
        column = columns["stop_loss"]
        body = [
            f'atr = self._at_decision(pair, current_time, "{column}")',
            f"distance = {numbers.of(stop.atr)!r} * atr",
            "if not distance > 0:",
            "    return 0.0",
            f"stake = {amount!r} * {equity} * current_rate / distance",
        ]
    else:
        doc = f"Lose {amount!r} of the account where the stop is hit."
        body = [f"stake = {amount!r} * {equity} / {numbers.of(stop)!r}"]
    if cap is not None:
        body.append(f"stake = min(stake, {numbers.of(cap)!r} * {equity})")
    return _STAKE.format(doc=doc, body=textwrap.indent("\n".join(body), "    "))


def _stop(numbers: RiskNumbers, level: AtrLevel, column: str) -> str:
    sign = "-"
    side = ""
    if numbers.shorts:
        side = "    side = -1 if trade.is_short else 1\n"
        sign = "- side *"
    return f'''
def custom_stoploss(
    self,
    pair: str,
    trade: Trade,
    current_time: datetime,
    current_rate: float,
    current_profit: float,
    after_fill: bool,
    **kwargs: Any,
) -> float | None:
    """Set the stop once, from the price that was paid and the range at the decision."""
    if not after_fill:
        return None
    atr = self._at_decision(pair, trade.open_date_utc, "{column}")
{side}    stop = trade.open_rate {sign} {numbers.of(level.atr)!r} * atr
    distance = stoploss_from_absolute(
        stop, current_rate, is_short=trade.is_short, leverage=trade.leverage
    )
    # To Freqtrade 0 means no stop at all.
    return max(distance, 1e-9)
'''


def _remember_target(numbers: RiskNumbers, level: AtrLevel, column: str) -> str:
    return f'''
def order_filled(
    self, pair: str, trade: Trade, order: Order, current_time: datetime, **kwargs: Any
) -> None:
    """Remember the target's distance, from the range at the decision."""
    if order.ft_order_side == trade.entry_side:
        atr = self._at_decision(pair, trade.open_date_utc, "{column}")
        trade.set_custom_data("target", {numbers.of(level.atr)!r} * atr)
'''


def _target(numbers: RiskNumbers) -> str:
    level = numbers.contract.risk.take_profit
    lines: list[str] = []
    if isinstance(level, AtrLevel):
        lines += [
            'distance = trade.get_custom_data("target")',
            "if distance is None:",
            "    return None",
            "gain = distance / trade.open_rate",
        ]
    elif level is not None:
        lines.append(f"gain = {numbers.of(level)!r}")
    lines += ["# Freqtrade counts a profit after both fees; the target is a price."]
    if numbers.shorts:
        lines += [
            "if trade.is_short:",
            "    return float(1 - (1 - gain) * (1 + trade.fee_close) / (1 - trade.fee_open))",
        ]
    lines.append("return float((1 + gain) * (1 - trade.fee_close) / (1 + trade.fee_open) - 1)")
    body = textwrap.indent("\n".join(lines), "    ")
    return f'''
def custom_roi(
    self,
    pair: str,
    trade: Trade,
    current_time: datetime,
    trade_duration: int,
    entry_tag: str | None,
    side: str,
    **kwargs: Any,
) -> float | None:
    """Take the profit at the target."""
{body}
'''


_AT_DECISION = '''
def _at_decision(self, pair: str, opened: datetime, column: str) -> float:
    """A value on the last candle that was closed when a trade was opened."""
    dataframe, _ = self.dp.get_analyzed_dataframe(pair, self.timeframe)
    first = timeframe_to_prev_date(self.timeframe, opened)
    values = dataframe.loc[dataframe["date"] < first, column]
    return float(values.iloc[-1]) if len(values) else float("nan")
'''
