"""Turns a contract's numbers into the flat DEFAULT_CFG of a strategy, and its risk into numbers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from bot.contract.language.program import Program
from bot.contract.model import Contract
from bot.contract.risk import AtrLevel

# Freqtrade wants a stop of its own beside an ATR stop; this one is out of the way.
FAR_STOP = 0.99
CfgValue = int | float | str | bool | list[str] | None


@dataclass(frozen=True)
class Settings:
    """Holds the configuration of a strategy: each key's default, and each risk number's key."""

    defaults: Mapping[str, CfgValue]  # DEFAULT_CFG: the parameters, then the contract's settings
    # The key in DEFAULT_CFG of each risk number, by its place in the contract (`stop_loss`,
    # `size.equity`, `roi.60`): a parameter's name where it names one.
    keys: Mapping[str, str]

    def key_of(self, setting: str) -> str:
        """Gives the key in DEFAULT_CFG of a setting of the market, the costs or the capital."""
        return f"contract_{setting}" if f"contract_{setting}" in self.defaults else setting


def flat_settings(contract: Contract, program: Program) -> Settings:
    """Gather everything that a caller may set.

    A setting whose name a parameter has taken gets the prefix `contract_`.
    """
    defaults: dict[str, CfgValue] = dict(program.parameters)
    for key, value in _market_settings(contract).items():
        defaults[_free_key(key, program)] = value
    keys: dict[str, str] = {}
    for place, number in _risk_numbers(contract).items():
        if isinstance(number, str):
            keys[place] = number
        else:
            keys[place] = _free_key(place.replace(".", "_"), program)
            defaults[keys[place]] = number
    return Settings(defaults, keys)


def _free_key(key: str, program: Program) -> str:
    return f"contract_{key}" if key in program.parameters else key


def _market_settings(contract: Contract) -> dict[str, CfgValue]:
    market, costs, risk = contract.market, contract.costs, contract.risk
    return {
        "symbol": market.symbols[0],
        "symbols": list(market.symbols),
        "timeframe": market.timeframe,
        "lot": market.lot,
        "tick": market.tick,
        "min_notional": market.min_notional,
        "capital": contract.capital,
        "commission": costs.commission,
        "slippage": costs.slippage,
        "spread": costs.spread,
        "execution": contract.execution,
        "seed": contract.seed,
        "max_positions": risk.max_positions,
        "exit_profit_only": risk.exit_profit_only,
        "ignore_roi_if_entry_signal": risk.ignore_roi_if_entry_signal,
    }


def _risk_numbers(contract: Contract) -> dict[str, int | float | str]:
    """Gives every risk number by its place; a string names a parameter."""
    raw = contract.risk.model_dump(mode="python", exclude_none=True)
    numbers: dict[str, int | float | str] = {}
    for field in ("stop_loss", "take_profit", "trailing_stop", "roi", "size"):
        value = raw.get(field)
        if isinstance(value, Mapping):
            for key, number in value.items():
                if not isinstance(number, bool):
                    numbers[f"{field}.{key}"] = number
        elif value is not None:
            numbers[field] = value
    return numbers


@dataclass(frozen=True)
class RiskNumbers:
    """Holds the numbers of a contract's risk, a parameter's default where one is named."""

    contract: Contract
    program: Program

    def of(self, number: int | float | str) -> int | float:
        """Gives the number itself."""
        return self.program.parameters[number] if isinstance(number, str) else number

    def level(
        self, level: int | float | str | AtrLevel, close: float, atr: float | None
    ) -> tuple[float, dict[str, float]]:
        """Gives a level's distance from the close, and the form in which the broker anchors it."""
        if isinstance(level, AtrLevel):
            distance = self.of(level.atr) * (math.nan if atr is None else atr)
            return distance, {"distance": distance}
        fraction = self.of(level)
        return close * fraction, {"fraction": fraction}

    @property
    def named(self) -> set[str]:
        """Gives the parameters that risk numbers name."""
        found: set[str] = set()
        for value in self.contract.risk.model_dump(mode="python", exclude_none=True).values():
            numbers = value.values() if isinstance(value, dict) else [value]
            found |= {number for number in numbers if isinstance(number, str)}
        return found

    @property
    def shorts(self) -> bool:
        """Tells whether the contract sells short."""
        return "enter_short" in self.program.rules
