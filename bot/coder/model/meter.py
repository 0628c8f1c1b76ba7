"""Holds one invocation of a model to the settings' limits on money and time."""

import time
from collections.abc import Callable
from pathlib import Path

from bot.coder.budget import Budget, ledger_folder
from bot.coder.model.prices import Price, price_of
from bot.errors import WorldError
from bot.settings import CoderSettings

Settle = Callable[[int | None], int]


class Meter:
    """Books calls before they are made, and says how long the next may take."""

    def __init__(self, settings: CoderSettings, ledger: Path | None = None) -> None:
        here, today = settings.max_cost_per_invocation_usd, settings.max_cost_per_day_usd
        self.settings = settings
        self.price: Price = price_of(settings.model, settings.price_per_million_usd)
        self.budget = Budget(
            int(here * 1_000_000), int(today * 1_000_000), ledger or ledger_folder()
        )
        self._used = 0.0
        self._begun = time.monotonic()

    @property
    def heat(self) -> float | None:
        """Gives the temperature to send; None for models that take none."""
        return self.settings.temperature if self.price.temperature else None

    def begin(self) -> None:
        """Start the clock; what passed before `pause` counts, what passed after it does not."""
        self._begun = time.monotonic()

    def pause(self) -> None:
        """Stop the clock while others work."""
        self._used += time.monotonic() - self._begun

    def timeout(self) -> float:
        """Give the seconds that the next call may take.

        Raises:
            WorldError: none are left.
        """
        return min(self.settings.step_timeout, self.remaining())

    def remaining(self) -> float:
        """Give the seconds that are left for all calls.

        Raises:
            WorldError: none are.
        """
        most = self.settings.timeout_seconds
        left = most - self._used - (time.monotonic() - self._begun)
        if left <= 0:
            message = f"the model took longer than {most:g} s in all"
            raise WorldError(message, "Raise coder.timeout_seconds, or run again.")
        return left

    def book(self, size: int, max_tokens: int) -> Settle:
        """Set aside what a call can cost; gives what settles it, None where nobody can tell.

        Raises:
            BudgetSpent: it could pass a limit.
        """
        name = self.budget.set_aside(self.price.at_most(size, max_tokens))
        return lambda cost: self.budget.settle(name, cost)
