"""Turns keyword settings or a configs.yaml into the simulator's frozen settings."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from Backtest.sim_errors import SettingError, nearest
from Backtest.times import timeframe_ms
from Backtest.trading_types import exact

EXECUTIONS = ("next_open", "this_close")


@dataclass(frozen=True)
class SimSettings:
    """Holds what the simulated broker charges and how it fills; fractions, each side.

    A decision of bar t fills at the open of t + 1 under `next_open`, at the close of t under
    `this_close`. None means that there is no step, no least value, or any symbol.
    """

    capital: float = 10_000.0
    commission: float = 0.0  # of the traded value, paid on every fill
    slippage: float = 0.0  # of the price, on market and stop fills, never on limits
    spread: float = 0.0  # full bid-ask distance; half is paid on each market and stop fill
    execution: str = "next_open"
    lot: float | None = None  # step of volumes
    tick: float | None = None  # step of prices
    min_notional: float | None = None  # least value of an entry
    symbols: tuple[str, ...] | None = None
    timeframe: str | None = None  # stated in the report; annual figures go by the times
    compiled: bool = True  # False forces the event path

    def __post_init__(self) -> None:
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
            fault = f"SimBroker has no setting {name!r}"
            raise SettingError(fault, nearest(str(name), SETTING_NAMES))
    return SimSettings(**given)


def load_settings(path: str | Path) -> dict[str, object]:
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
def step_parts(step: float | None) -> tuple[int, int]:
    """Gives a tick or lot as a fraction of whole numbers: 0.25 is 25 / 100, none is 0 / 1."""
    written = exact(step or 0.0).normalize()
    exponent = written.as_tuple().exponent
    scale = 10 ** max(0, -exponent) if isinstance(exponent, int) else 1
    return int(written * scale), scale


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
