"""Turns a contract's numbers into the flat DEFAULT_CFG of a generated strategy."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.contract.language.program import Program
from bot.contract.model import Contract

CfgValue = int | float | str | bool | list[str] | None


@dataclass(frozen=True)
class Settings:
    """The configuration of a strategy: each key's default, and where each risk number is found.

    Attributes:
        defaults: DEFAULT_CFG: the parameters, then the contract's settings.
        keys: the key in DEFAULT_CFG of each risk number, by its place in the contract
            (`stop_loss`, `size.equity`, `roi.60`): a parameter's name where it names one.
    """

    defaults: Mapping[str, CfgValue]
    keys: Mapping[str, str]

    def key_of(self, setting: str) -> str:
        """The key in DEFAULT_CFG of a setting of the market, the costs or the capital."""
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
    """Every risk number by its place; a string names a parameter."""
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
