"""Turns a contract's risk into numbers, with the defaults of the parameters that it names."""

from dataclasses import dataclass

from bot.contract.language.program import Program
from bot.contract.model import Contract

# Freqtrade wants a stop of its own beside an ATR stop; this one is out of the way.
FAR_STOP = 0.99


@dataclass(frozen=True)
class RiskNumbers:
    """The numbers of a contract's risk, a parameter's default where one is named."""

    contract: Contract
    program: Program

    def of(self, number: int | float | str) -> int | float:
        """The number itself."""
        return self.program.parameters[number] if isinstance(number, str) else number

    @property
    def named(self) -> set[str]:
        """The parameters that risk numbers name."""
        found: set[str] = set()
        for value in self.contract.risk.model_dump(mode="python", exclude_none=True).values():
            numbers = value.values() if isinstance(value, dict) else [value]
            found |= {number for number in numbers if isinstance(number, str)}
        return found

    @property
    def shorts(self) -> bool:
        """Whether the contract sells short."""
        return "enter_short" in self.program.rules
