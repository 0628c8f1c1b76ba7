"""Turns a contract into the acceptance criteria of its four milestones, in words."""

from bot.contract.indicators import Prose, TalibIndicator
from bot.contract.model import Contract
from bot.contract.risk import AtrLevel, Level

CANDLE_COLUMNS = "timestamp, open, high, low, close, volume"


def data_criteria(contract: Contract) -> tuple[str, ...]:
    """Say what the candles must be."""
    market, data = contract.market, contract.data
    origin = " ".join(part for part in (data.source, data.path, data.exchange) if part)
    criteria = [
        f"Candles of {', '.join(market.symbols)} at {market.timeframe} come from {origin}.",
        f"They have the columns {CANDLE_COLUMNS}; no price is missing; timestamps rise and are "
        "the candles' opens in UTC.",
    ]
    if data.start or data.end:
        criteria.append(
            f"Only candles from {data.start or 'the first'} to {data.end or 'the last'} count."
        )
    return tuple(criteria)


def indicator_criteria(contract: Contract, warmup: int | None) -> tuple[str, ...]:
    """Name every indicator with its function and arguments."""
    criteria = []
    for name, indicator in contract.indicators.items():
        if isinstance(indicator, TalibIndicator):
            arguments = [f"{key}={value}" for key, value in indicator.arguments.items()]
            if indicator.input is not None:
                given = [indicator.input] if isinstance(indicator.input, str) else indicator.input
                arguments.insert(0, f"of {' and '.join(given)}")
            words = f"{name} is TA-Lib's {indicator.function}({', '.join(arguments)})"
        else:
            words = f"{name} is {indicator.expression}"
        if indicator.timeframe:
            words += f", of {indicator.timeframe} candles, each seen once it has closed"
        criteria.append(f"{words}.")
    if not criteria:
        criteria.append("The rules use prices alone; there is no indicator to compute.")
    for name, parameter in contract.parameters.items():
        span = f", from {parameter.range[0]} to {parameter.range[1]}" if parameter.range else ""
        criteria.append(f"The parameter {name} is {parameter.default}{span}.")
    if warmup is not None:
        criteria.append(f"All are complete after {warmup} candles of warm-up.")
    return tuple(criteria)


def entry_criteria(contract: Contract) -> tuple[str, ...]:
    """Give the enter rules, and what an order carries."""
    risk = contract.risk
    size = ", ".join(f"{k} {v}" for k, v in risk.size.model_dump(exclude_none=True).items())
    criteria = [
        _rule(contract, "enter_long", "Buy"),
        _rule(contract, "enter_short", "Sell short"),
        f"An order's size is {size}; at most {risk.max_positions} open at once.",
        f"It carries a stop at {_level(risk.stop_loss)}"
        + (f" and a target at {_level(risk.take_profit)}." if risk.take_profit else ", no target."),
        "find_entries returns an order_request or None and never places an order itself.",
    ]
    return tuple(line for line in criteria if line)


def exit_criteria(contract: Contract) -> tuple[str, ...]:
    """Give the exit rules, the levels that end a trade, and what the back-test must reach."""
    risk = contract.risk
    criteria = [
        _rule(contract, "exit_long", "Close a long position"),
        _rule(contract, "exit_short", "Close a short position"),
        f"The stop at {_level(risk.stop_loss)} ends a trade, counted from the fill.",
    ]
    if risk.take_profit:
        criteria.append(f"The target at {_level(risk.take_profit)} ends a trade.")
    if risk.trailing_stop:
        criteria.append(_trailing(contract))
    if risk.roi:
        steps = ", ".join(f"{profit} from minute {minute}" for minute, profit in risk.roi.items())
        criteria.append(f"A net profit ends a trade: {steps}.")
    if risk.exit_profit_only:
        criteria.append("The exit rule counts only while the trade is in profit after fees.")
    if risk.ignore_roi_if_entry_signal:
        criteria.append("The net profit is not taken while the entry rule is still true.")
    costs = contract.costs
    criteria.append(
        f"Orders fill at {contract.execution} with commission {costs.commission}, slippage "
        f"{costs.slippage}, spread {costs.spread}, from a capital of {contract.capital:g}."
    )
    goals = contract.acceptance.model_dump(exclude_none=True)
    criteria += [
        f"The back-test on the contract's candles keeps {k} {v}." for k, v in goals.items()
    ]
    return tuple(line for line in criteria if line)


def _rule(contract: Contract, name: str, action: str) -> str:
    rule = getattr(contract.rules, name)
    if rule is None:
        return ""
    text = str(rule.expression if isinstance(rule, Prose) else rule)
    return f"{action} ({name}) on every bar where {' '.join(text.split())}, and on no other."


def _level(level: Level) -> str:
    if isinstance(level, AtrLevel):
        return f"{level.atr} times ATR({level.timeperiod})"
    return f"{level} of the entry price"


def _trailing(contract: Contract) -> str:
    trailing = contract.risk.trailing_stop
    if trailing is None:
        return ""
    text = f"A stop trails the best price by {trailing.distance}"
    if trailing.activate_at is None:
        return f"{text}."
    before = (
        "nothing trails" if trailing.only_after_activation else "it trails by the stop's distance"
    )
    return f"{text} from a profit of {trailing.activate_at} on; before that, {before}."
