"""Turns a contract's risk into numbers, with the defaults of the parameters that it names."""

import math
from dataclasses import dataclass

from bot.contract.language.program import Program
from bot.contract.model import Contract
from bot.contract.risk import AtrLevel

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

    def level(
        self, level: int | float | str | AtrLevel, close: float, atr: float | None
    ) -> tuple[float, dict[str, float]]:
        """A level's distance from the close, and the form in which the broker anchors it."""
        if isinstance(level, AtrLevel):
            distance = self.of(level.atr) * (math.nan if atr is None else atr)
            return distance, {"distance": distance}
        fraction = self.of(level)
        return close * fraction, {"fraction": fraction}

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
