"""Carries a contract's `optimize` out: the best set, how it was found, and what it is worth."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from Backtest.metrics.run_report import calendar_of
from bot.contract.digest import contract_digest
from bot.contract.goals import Optimized
from bot.contract.language.program import compile_contract
from bot.errors import InputError
from bot.sweep.lines import policy_lines
from bot.sweep.luck import Tried, deflate
from bot.sweep.optimum import Goal, as_found, optimise
from bot.sweep.runs import Market, Player, timeline
from bot.sweep.space import Values, space_of
from bot.sweep.walk import Walked, walk_forward

if TYPE_CHECKING:
    from bot.contract.model import Contract
    from bot.settings import LuckPolicy

FILE = "search.json"
MOST_SETS = 2_000  # that the evidence lists


@dataclass(frozen=True)
class Search:
    """Holds what a search found, as the evidence has it."""

    told: Mapping[str, Any]

    @property
    def content(self) -> bytes:
        """Gives the bytes of the evidence's file."""
        return (json.dumps(self.told, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()

    @property
    def values(self) -> Values:
        """Gives the best set."""
        return dict(self.told["best"])

    @property
    def optimized(self) -> Optimized:
        """Gives what is written into the contract."""
        told = self.told
        was = dict(told["defaults"]["parameters"])
        return Optimized(
            searched=told["searched"], seed=told["seed"], sets=told["sets_tried"], was=was
        )


@dataclass(frozen=True)
class Before:
    """Says what the ledger knew before a search: up to which entry, and what was tried by then."""

    sequence: int = 0
    digest: str = ""
    tries: frozenset[str] = frozenset()  # by the names of their rules and values
    openings: int = 0  # how often its sealed candles were opened


def carry_out_search(
    contract: "Contract",
    market: Market,
    data_digest: str,
    policy: "LuckPolicy",
    before: Before | None = None,
    on_done: Callable[[int], None] = lambda count: None,
) -> tuple[Search, list[Values]]:
    """Search as a contract asks; gives what was found, and every set that was played.

    Which sets are played does not depend on what was tried before; what the best is worth does.

    Raises:
        InputError: nothing can be searched, there is too much to search, or a set cannot be played.
        WorldError: the sampler is not installed.
    """
    asked, known = contract.optimize, before or Before()
    if asked is None:
        raise InputError("the contract asks for no search", "Add optimize: {metric: sharpe}.")
    space = space_of(contract)
    goal = Goal(asked.metric, asked.trials, asked.sampler, contract.seed, contract.acceptance)
    player = Player(contract, compile_contract(contract), on_done=on_done)
    found = optimise(player, market, space, goal, policy.worlds)
    rows = found.result.rows
    played: list[Values] = [dict(row.values) for row in rows]
    walked: Walked | None = None
    if asked.walk_forward is not None:
        walked = walk_forward(player, market, space, goal, asked.walk_forward)
        played += [dict(values) for values in walked.sets]
    own = {name_of_try(contract, values) for values in played}
    tries = known.tries | own
    times = timeline(market)
    yearly = calendar_of(times).periods_per_year
    luck = deflate(found.result.luck, rows, yearly, len(tries), len(known.tries - own))
    unseen = walked.unseen.figures if walked else None
    told = {
        **as_found(found),
        "metric": goal.metric,
        "optuna": metadata.version("optuna") if goal.sampler == "tpe" else None,
        "searched": contract_digest(contract),
        "candles": {"digest": data_digest, "first": int(times[0]), "last": int(times[-1])},
        "sets_tried": len(rows),
        "trials_in_all": len(tries),
        "ledger": {"sequence": known.sequence, "digest": known.digest},
        "holdout": contract.data.holdout,
        "openings": known.openings,
        "figures": dict(rows[0].figures),
        "luck": {**asdict(luck), "by_worlds": luck.by_worlds},
        "lines": [line._asdict() for line in policy_lines(luck, policy, _cost(contract), unseen)],
        "walk_forward": walked.as_told(times) if walked else None,
        "sets": _listed(rows, goal.metric),
    }
    return Search(json.loads(json.dumps(told, allow_nan=False))), played


def name_of_try(contract: "Contract", values: Mapping[str, int | float]) -> str:
    """Name what is played by a set: its rules and all its numbers, whatever else was asked for."""
    whole = contract.model_dump(mode="json")
    parts = ("workflow", "market", "indicators", "rules", "risk", "costs", "execution", "capital")
    numbers = {name: parameter.default for name, parameter in contract.parameters.items()}
    meaning = [*(whole[part] for part in parts), sorted((numbers | dict(values)).items())]
    text = json.dumps(meaning, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _cost(contract: "Contract") -> float:
    """What the contract counts for one side of a trade, in bps."""
    costs = contract.costs
    return 1e4 * (costs.commission + costs.slippage + costs.spread / 2.0)


def _listed(rows: Sequence[Tried], metric: str) -> dict[str, Any]:
    """The sets by columns, the best first."""
    shown = rows[:MOST_SETS]
    names = list(shown[0].values)
    return {
        "parameters": {name: [row.values[name] for row in shown] for name in names},
        metric: [row.figures[metric] for row in shown],
        "total_trades": [row.figures["total_trades"] for row in shown],
    }
