"""Turns a contract into a source of signals for the bridge, or says what a signal cannot carry."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.errors import MANUAL, InputError

if TYPE_CHECKING:
    from bot.contract.language.program import Program
    from bot.contract.model import Contract
    from integration.schema.signal import TradingSignal

MOST_CANDLES = 999
_HINT = f"Schema 1.0 of the bridge has one entry, a stop and targets; see {MANUAL}/bridge.md."


class ContractSource:
    """Decides by a contract's own entry rule, on the last complete candle.

    Attributes:
        count: how many candles it has to be given.
    """

    def __init__(self, path: Path, symbol: str, timeframe: str) -> None:
        """Loads the contract and refuses what a signal cannot carry.

        Raises:
            InputError: the contract is wrong, or a signal cannot carry what it says.
        """
        from bot.contract.language.program import compile_contract
        from bot.contract.language.warmup import warmup
        from bot.contract.load import load_contract

        self.contract = load_contract(path).strategy
        reasons = [*cannot_carry(self.contract, symbol, timeframe)]
        if reasons:
            raise InputError(f"{path}: " + "; ".join(reasons), _HINT)
        self.program: Program = compile_contract(self.contract)
        # Recursive indicators forget their beginning slowly: as many candles as can be had.
        self.count = MOST_CANDLES
        if warmup(self.program) >= self.count:
            message = f"{path} needs {warmup(self.program)} candles before it can decide"
            raise InputError(message, f"One answer of the exchange has {self.count}.")

    def __call__(self, candles: Sequence[dict[str, Any]], symbol: str) -> "TradingSignal | None":
        """Gives the signal of the last candle, if the contract enters there."""
        import pandas as pd

        from bot.contract.language.contract_decisions import contract_decisions
        from integration.schema.signal import RiskPlan, TakeProfit, TradingSignal
        from integration.signal_gen import decision_id

        df = pd.DataFrame(list(candles)).set_index("timestamp")
        entries = contract_decisions(self.contract, self.program, df, symbol)["entries"]
        order = entries.get(str(len(df) - 1))
        if order is None:
            return None
        entry = float(candles[-1]["close"])
        # The bridge leaves fully at the first target; the schema wants a second one behind it.
        targets = (
            TakeProfit(price=order["tp"], size_pct=1.0),
            TakeProfit(price=entry + 2 * (order["tp"] - entry), size_pct=0.0),
        )
        name = f"{self.contract.workflow}/{self.contract.task}"
        return TradingSignal(
            decision_id=decision_id(name, symbol, candles[-1]["timestamp"]),
            timestamp=datetime.now(UTC),
            symbol=symbol,
            side="long",
            confidence=1.0,
            entry={"type": "market", "price": entry},
            risk=RiskPlan(
                initial_stop=order["sl"],
                take_profits=targets,
                max_capital_pct=order["size"]["equity"],
            ),
            rationale=f"{self.contract.name}: enter_long"[:60],
        )


def cannot_carry(contract: "Contract", symbol: str, timeframe: str) -> Iterator[str]:
    """Finds what a contract says and a signal of schema 1.0 cannot."""
    rules, risk = contract.rules, contract.risk
    if rules.exit_long is not None:
        yield "an exit rule (exit_long) cannot be carried: a signal ends at its stop or target"
    if rules.enter_short is not None or rules.exit_short is not None:
        yield "shorts are not traded by the bridge"
    if rules.enter_long is None:
        yield "there is no enter_long"
    for name in ("trailing_stop", "roi"):
        if getattr(risk, name) is not None:
            yield f"risk.{name} cannot be carried: a signal's stop and targets do not move"
    if risk.take_profit is None:
        yield "risk.take_profit is needed: a signal has targets"
    if risk.size.equity is None:
        yield "risk.size has to be {equity: ...}: a signal carries a part of the capital"
    if contract.execution != "next_open":
        yield f"execution: {contract.execution} cannot be kept: a signal is traded after its candle"
    if contract.market.type != "spot":
        yield "the bridge trades spot"
    if tuple(contract.market.symbols) != (symbol,):
        yield f"it trades {', '.join(contract.market.symbols)}, DEFAULT_SYMBOL is {symbol}"
    if contract.market.timeframe != timeframe:
        yield f"its timeframe is {contract.market.timeframe}, TIMEFRAME is {timeframe}"
