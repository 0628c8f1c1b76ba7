"""Turns keyword settings or a configs.yaml into the simulator's frozen settings."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from Backtest.sim_errors import SettingError, nearest
from Backtest.times import timeframe_ms

EXECUTIONS = ("next_open", "this_close")


@dataclass(frozen=True)
class SimSettings:
    """What the simulated broker charges and how it fills; fractions, each side.

    Attributes:
        capital: cash at the start.
        commission: fraction of the traded value, paid on every fill.
        slippage: fraction of the price lost on market and stop fills, never on limits.
        spread: full bid-ask distance as a fraction of the price; half of it is paid on
            each market and stop fill.
        execution: `next_open` fills a decision of bar t at the open of t + 1,
            `this_close` at the close of t.
        lot: step of volumes; None means any volume.
        tick: step of prices; None means any price.
        min_notional: least value of an entry; None means none.
        symbols: the symbols that may trade; None means any.
        timeframe: length of a candle, stated in the report; annual figures go by the times.
        compiled: whether the compiled path may be used; False forces the event path.
    """

    capital: float = 10_000.0
    commission: float = 0.0
    slippage: float = 0.0
    spread: float = 0.0
    execution: str = "next_open"
    lot: float | None = None
    tick: float | None = None
    min_notional: float | None = None
    symbols: tuple[str, ...] | None = None
    timeframe: str | None = None
    compiled: bool = True

    def __post_init__(self) -> None:
        """Refuse values outside their range."""
        _number(self, "capital", above=0.0)
        for name in ("commission", "slippage", "spread"):
            _number(self, name, least=0.0, below=1.0)
        for name in ("lot", "tick"):
            _number(self, name, above=0.0)
        _number(self, "min_notional", least=0.0)
        if self.execution not in EXECUTIONS:
            raise SettingError(
                f"execution is {self.execution!r}", f"Allowed: {', '.join(EXECUTIONS)}"
            )
        if self.symbols is not None:
            names = (self.symbols,) if isinstance(self.symbols, str) else tuple(self.symbols)
            if not names or not all(isinstance(name, str) and name for name in names):
                raise SettingError(f"symbols is {self.symbols!r}", "Give a list of symbols")
            object.__setattr__(self, "symbols", names)
        if self.timeframe is not None:
            timeframe_ms(self.timeframe)
        if not isinstance(self.compiled, bool):
            raise SettingError(f"compiled is {self.compiled!r}", "Allowed: true, false")


SETTING_NAMES = tuple(field.name for field in fields(SimSettings))


def read_settings(given: Mapping[str, Any]) -> SimSettings:
    """Make settings from names and values.

    Raises:
        SettingError: a name is unknown or a value is out of its range.
    """
    for name in given:
        if name not in SETTING_NAMES:
            raise SettingError(
                f"SimBroker has no setting {name!r}", nearest(str(name), SETTING_NAMES)
            )
    return SimSettings(**given)


def load_settings(path: str | Path) -> dict[str, Any]:
    """Read the settings that a YAML file in the form of Backtest/configs.yaml states.

    Raises:
        SettingError: the file is missing, is no mapping, or holds a wrong setting.
    """
    import yaml

    try:
        found = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise SettingError(
            f"cannot read the settings {path}: {reason}", "Start from Backtest/configs.yaml"
        ) from None
    if not isinstance(found, dict):
        raise SettingError(f"{path} holds no settings", "Write `name: value` lines")
    read_settings(found)
    return found


@lru_cache(maxsize=64)
def step_digits(step: float | None) -> int:
    """Count the decimals of a tick or lot, so that multiples of it can be written exactly."""
    if step is None:
        return 0
    exponent = Decimal(repr(float(step))).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


@lru_cache(maxsize=64)
def step_parts(step: float | None) -> tuple[int, int]:
    """A tick or lot as a fraction of whole numbers: 0.25 is 25 / 100, none is 0 / 1."""
    if step is None:
        return 0, 1
    scale = 10 ** step_digits(step)
    return int(Decimal(repr(float(step))) * scale), scale


def _number(
    settings: SimSettings,
    name: str,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    below: float = math.inf,
) -> None:
    """Check one numeric setting and keep it as a float."""
    value = getattr(settings, name)
    if value is None and name in ("lot", "tick", "min_notional"):
        return
    usable = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not usable or not (above < value < below and value >= least):
        floor = f"above {above:g}" if above > -math.inf else f"at least {least:g}"
        ceiling = f" and below {below:g}" if below < math.inf else ""
        raise SettingError(f"{name} is {value!r}", f"Give a number {floor}{ceiling}")
    object.__setattr__(settings, name, float(value))
