"""Everything that a report tells, as one value; the report's forms are made from it and no more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from Backtest.candles import Candles
from Backtest.positions import Trade
from bot.contract.language.program import Program
from bot.contract.model import Contract
from bot.report.answered import Answered
from bot.report.behaviour import BehaviourChange
from bot.report.curve import NO_CURVE, Curve
from bot.report.figures import Summary


class Judged(Protocol):
    """A gate's answer, as `bot.gates` gives it."""

    @property
    def name(self) -> str:
        """The gate."""
        ...

    @property
    def passed(self) -> bool:
        """Whether it let the candidate through."""
        ...

    @property
    def figure(self) -> str:
        """What was counted, as "12 tests"."""
        ...

    @property
    def reason(self) -> str:
        """Why not; empty when passed."""
        ...

    @property
    def where(self) -> str:
        """File and line of the first offence."""
        ...

    @property
    def next_step(self) -> str:
        """What to do about it."""
        ...


@dataclass(frozen=True)
class Written:
    """Tells how a model wrote the code."""

    rounds: int
    calls: int
    cost_usd: str
    prices: str
    signed: bool


@dataclass(frozen=True)
class Story:
    """What was asked for, what was proven, what came out and where it all came from.

    Attributes:
        contract: what was asked for.
        program: its language sections, compiled.
        verdicts: the gates' answers, in the order in which they are shown.
        summary: the figures of `SimBroker.generate_report()`.
        trades: all of them, forced exits included.
        equity: UTC milliseconds, and equity after each candle.
        correlation_id: the run's id.
        branch: the branch of the proposal.
        tag: the tag of the evidence.
        contract_path: where the contract lies in the repository.
        contract_digest: digest of its canonical form.
        data_digest: digest of the candles.
        data_files: the files of the candles.
        prompt_hash: digest of all that the coder was given.
        coder: who wrote the code.
        model: the model behind it; empty for the template.
        versions: what it was made and judged with, name to version.
        candles: what was played, by symbol.
        held: UTC milliseconds and the value of buying and holding; see `holding.held_value`.
        answered: what a model made of the rules that the contract gives in prose, if one did.
        searched: what the search of its values found, as search.json tells it, if one was made.
        written: how a model wrote the code, if one did.
        behaviour_change: the trades against the version on the base branch, if there is one.
        base_summary: that version's figures on the same candles.
        previous: the tag that the pull request showed before this one; empty if it is new.
        since: the trades against that version.
        files: the candidate's files that are proposed.
        notes: what the contract asked for and did not get, one sentence each.
        compact: the files of the evidence that hold a part of their rows: how many, and of how
            many, as in summary.json.
    """

    contract: Contract
    program: Program
    verdicts: Sequence[Judged]
    summary: Summary
    trades: Sequence[Trade]
    equity: Curve
    correlation_id: str
    branch: str
    tag: str
    contract_path: str
    contract_digest: str
    data_digest: str
    data_files: Sequence[str]
    prompt_hash: str
    coder: str
    model: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    candles: Mapping[str, Candles] = field(default_factory=dict)
    held: Curve = NO_CURVE
    answered: Answered | None = None
    searched: Mapping[str, Any] | None = None
    written: Written | None = None
    behaviour_change: BehaviourChange | None = None
    base_summary: Summary | None = None
    previous: str = ""
    since: BehaviourChange | None = None
    files: Sequence[str] = ()
    notes: Sequence[str] = ()
    compact: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        """Whether every gate passed; no gates means no."""
        return bool(self.verdicts) and not self.failed

    @property
    def failed(self) -> tuple[Judged, ...]:
        """The gates that said no."""
        return tuple(verdict for verdict in self.verdicts if verdict.passed is not True)

    @property
    def trailers(self) -> dict[str, str]:
        """The trailers of its commit and tag."""
        return {
            "Correlation-Id": self.correlation_id,
            "Prompt-Hash": self.prompt_hash,
            "Contract-Digest": self.contract_digest,
            "Coder": self.coder,
            "Model": self.model,
        }
