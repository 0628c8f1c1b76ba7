"""Turns the trusted side's questions to a strategy into the file that the harness reads."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

REQUEST_FILE = "request.json"
DECISIONS_FILE = "decisions.json"
# The positions that exits are asked about; as long as a broker's ids may be.
LONG_ID, SHORT_ID = "position-long-6f1c0a9e47d2b835", "position-short-27e4b8d90c6a1f53"


@dataclass(frozen=True)
class Run:
    """Holds one fresh process that is asked about one frame of candles."""

    name: str
    candles: str  # path below /job, as `pack_candles` wrote it
    symbol: str
    bars: int | None = None  # the first n bars only; None: all
    at: tuple[int, ...] | None = None  # the bars that are asked about, in this order; None: all
    passes: int = 1  # the whole conversation again, on the same object
    later: tuple[int, ...] | None = None  # the bars of the passes after the first; None: the same
    clock_shift_s: int = 0  # what the strategy takes for the present moves by this
    cfg: Mapping[str, object] = field(default_factory=dict)  # settings other than the request's
    ends: bool = False  # each bar is asked about as the last of its own history
    views: bool = False  # the first pass is shown light views, as the engine shows them
    signals: bool = False  # also what the strategy's `signals` offers for all bars


@dataclass(frozen=True)
class Request:
    """Holds all runs of one job."""

    strategy: str  # path below /job
    cfg: Mapping[str, object]
    runs: Sequence[Run]
    workers: int = 1  # runs side by side

    def to_bytes(self) -> bytes:
        """As the file holds it."""
        content = {**asdict(self), "cfg": dict(self.cfg)}
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Request":
        """As the file held it."""
        raw = json.loads(content)
        bars = ("at", "later")
        runs = [
            Run(**run | {key: tuple(run[key]) for key in bars if run[key] is not None})
            for run in raw["runs"]
        ]
        return cls(raw["strategy"], raw["cfg"], runs, raw["workers"])
