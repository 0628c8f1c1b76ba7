"""`stratwright.yml` to frozen settings; a key that nobody knows is refused.

The file is read from the base branch, never from a candidate's.
"""

import json
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from bot.errors import InputError

FILE = "stratwright.yml"
WORKFLOW = ".github/workflows/stratwright.yml"
DEPLOY_WORKFLOW = ".github/workflows/stratwright-deploy.yml"
FORM = ".github/ISSUE_TEMPLATE/strategy.yml"
MOST_BYTES = 64_000
_MOST_DEPTH = 20

_HINT = "Compare it with the stratwright.yml that `stratwright init` writes."


def _folder(given: str) -> str:
    """A folder's path as Git lists it."""
    folder = given.rstrip("/")
    if any(part in ("", ".", "..") for part in folder.split("/")):
        raise ValueError("give a folder below the repository, as contracts or quant/contracts")
    return folder


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class PullRequests(_Part):
    """How pull requests are opened."""

    draft: bool = False
    labels: tuple[str, ...] = ("stratwright",)


class Committer(_Part):
    """Who commits, where Git's own configuration names nobody."""

    name: str = Field("github-actions[bot]", min_length=1, max_length=100, pattern=r"^[^<>\n]+$")
    email: str = Field(
        "41898282+github-actions[bot]@users.noreply.github.com",
        min_length=3,
        max_length=200,
        pattern=r"^[^<>\s]+@[^<>\s]+$",
    )


_Money = Annotated[str, Field(pattern=r"^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,8})?$")]
_Clock = Annotated[str, Field(pattern=r"^(?:[01][0-9]|2[0-3]):[0-5][0-9]$")]
_Day = Annotated[
    str,
    Field(pattern=r"^[0-9]{4}-[01][0-9]-[0-3][0-9]$"),
    AfterValidator(lambda given: date.fromisoformat(given).isoformat()),
]
_Names = tuple[str, ...] | None


def _zone(given: str) -> str:
    try:
        ZoneInfo(given)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("give a time zone by its name, as Europe/Berlin or UTC") from None
    return given


class CapitalStep(_Part):
    """How many people have to sign above an amount of capital."""

    above: _Money
    people: int = Field(ge=1, le=16)


class ApprovalRules(_Part):
    """What an approval for one mode needs; what is not said asks for nothing.

    Attributes:
        people: how many have to approve; steps: more of them above an amount of capital.
        approvers: who may; brokers, symbols: what may be named. None means that all are.
        capital: the most that may be given.
        run_days: the longest that an approval lasts.
        paper_days, paper_trades: what the same bytes have to show on paper before.
    """

    people: int = Field(0, ge=0, le=16)
    steps: tuple[CapitalStep, ...] = ()
    approvers: _Names = None
    brokers: _Names = None
    symbols: _Names = None
    capital: _Money | None = None
    run_days: int = Field(366, ge=1, le=366)
    paper_days: int = Field(0, ge=0, le=3650)
    paper_trades: int = Field(0, ge=0, le=1_000_000)


class Freeze(_Part):
    """A time in which nothing is approved or started, on a clock of its own.

    Attributes:
        start, end: of the day; an end before the start is on the next day.
        days: on which it begins; first, last: the dates between which it holds.
    """

    zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    start: _Clock = "00:00"
    end: _Clock = "00:00"
    days: tuple[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], ...] = ()
    first: _Day | None = None
    last: _Day | None = None
    reason: str = Field("", max_length=200)


class ApprovalPolicy(_Part):
    """Who may approve what; it can only tighten what the live host's own file says.

    Attributes:
        self_approval: the modes in which author and requester may approve; None says nothing.
    """

    paper: ApprovalRules = ApprovalRules()
    dry_run: ApprovalRules = ApprovalRules()
    live: ApprovalRules = ApprovalRules()
    freeze: tuple[Freeze, ...] = Field((), max_length=50)
    self_approval: tuple[Literal["paper", "dry-run", "live"], ...] | None = None


_Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/@:+-]{0,99}$")]


class DeployTarget(_Part):
    """Where an environment's approvals are for: one host, one account, so much capital.

    Attributes:
        capital, max_order: in the currency; max_order is the capital where nothing is said.
        symbols: none means the contract's.
        run_days, start_hours: how long it may run, and within how long it has to be started.
    """

    host: _Word
    account: _Word
    capital: _Money = "1000"
    max_order: _Money | None = None
    currency: _Word = "USDT"
    brokers: tuple[_Word, ...] = ("paper",)
    symbols: tuple[_Word, ...] = ()
    run_days: int = Field(7, ge=1, le=366)
    start_hours: int = Field(24, ge=1, le=24)


class Deploy(_Part):
    """What GitHub's environments approve; an environment without a target approves nothing.

    Attributes:
        on_approve: where `/stratwright approve` deploys to; on_merge: where a merge does.
    """

    paper: DeployTarget | None = None
    live: DeployTarget | None = None
    on_approve: Literal["paper", "live"] = "paper"
    on_merge: Literal["paper", "live"] | None = None

    def target(self, environment: str) -> DeployTarget | None:
        """Give the target of an environment."""
        return {"paper": self.paper, "live": self.live}.get(environment)


class Brain(_Part):
    """What the brain may do beyond answering from its pages.

    Attributes:
        context7: whether a question that the brain cannot answer goes to Context7, by network.
        entries: whether a proposal brings an entry for LOG-001 and, after a failure, LEARN-007.
    """

    context7: bool = False
    entries: bool = False


class LuckPolicy(_Part):
    """What the best set of a search has to show; null draws no line.

    Attributes:
        min_deflated_sharpe: the probability that its ratio is above chance's best of all trials.
        max_overfitting: the probability that the best of one half fails on the other.
        min_track_record: years that there are, over years that are needed.
        min_stability: the share of neighbours that keep half of its result.
        min_break_even: the costs at which it earns nothing, over the contract's own (1 bps at
            least).
        max_order_drawdown: the fall that nineteen in twenty other orders of its trades stay above.
        min_missed_return: what nineteen in twenty runs with missed trades return at least.
        worlds, max_chance: how many histories without an edge are searched too, and in what share
            of them luck may be as good.
        min_unseen_sharpe: the ratio where walk-forward had not searched.
    """

    min_deflated_sharpe: float | None = Field(0.95, ge=0, le=1)
    max_overfitting: float | None = Field(0.5, ge=0, le=1)
    min_track_record: float | None = Field(1.0, ge=0, le=1000)
    min_stability: float | None = Field(0.5, ge=0, le=1)
    min_break_even: float | None = Field(1.5, ge=0, le=1000)
    max_order_drawdown: float | None = Field(None, ge=0, le=1)
    min_missed_return: float | None = Field(0.0, ge=-1, le=1000)
    max_chance: float | None = Field(0.05, ge=0, le=1)
    worlds: int = Field(19, ge=0, le=10_000)
    min_unseen_sharpe: float | None = Field(0.0, ge=-100, le=100)

    @model_validator(mode="after")
    def _can_be_met(self) -> "LuckPolicy":
        if self.max_chance is not None and self.max_chance * (self.worlds + 1) < 1:
            raise ValueError("max_chance needs more worlds: with n of them it is at least 1/(n+1)")
        return self


_TOOLS = ("Read", "Write", "Edit", "Bash", "Glob", "Grep")


class CoderSettings(_Part):
    """Who answers what a contract does not state exactly, and what that may cost.

    Attributes:
        enabled: false lets no model be asked, whatever else is said.
        type: auto asks a model for prose where a key is set; template never asks one.
        model, price_per_million_usd: whom to ask, and its price (input, output) where the
            product's table has none.
        signers: public SSH keys with which the bot signs what a model answered.
        timeout_seconds: of all calls for one contract; step_timeout: of one call.
        temperature: is sent to models that take one.
        max_steps: of one round of a coder that writes files; max_file_changes: in it.
        cli_path, max_turns, allowed_tools, output_format: of Claude Code; Bash is never given.
    """

    enabled: bool = True
    type: Literal["auto", "template", "agent", "cli"] = "auto"
    model: str = Field("claude-sonnet-5-5", pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,99}$")
    price_per_million_usd: tuple[float, float] | None = None
    signers: tuple[str, ...] = Field((), max_length=20)
    cli_path: str = "claude"
    max_turns: int = Field(10, ge=1, le=200)
    timeout_seconds: float = Field(300.0, gt=0, le=86_400)
    max_cost_per_day_usd: float = Field(10.0, ge=0, le=100_000, allow_inf_nan=False)
    max_cost_per_invocation_usd: float = Field(2.0, ge=0, le=100_000, allow_inf_nan=False)
    allowed_tools: tuple[str, ...] = _TOOLS
    output_format: Literal["json"] = "json"
    max_steps: int = Field(15, ge=1, le=100)
    max_file_changes: int = Field(5, ge=1, le=50)
    temperature: float = Field(0.2, ge=0, le=1)
    step_timeout: float = Field(60.0, gt=0, le=3_600)

    @model_validator(mode="after")
    def _only_what_is_built(self) -> "CoderSettings":
        if self.type == "cli":
            raise ValueError("a contract names Claude Code: write coder: cli there, and here auto")
        odd = sorted({*self.allowed_tools} - {*_TOOLS})
        if odd:
            raise ValueError(f"allowed_tools knows {', '.join(_TOOLS)}, not {odd[0]!a}")
        price = self.price_per_million_usd
        if price is not None and not all(0 <= part <= 10_000 for part in price):
            raise ValueError("price_per_million_usd takes two numbers from 0 to 10000")
        return self


class Settings(_Part):
    """What a repository says about its bot."""

    version: Literal["1.0"] = "1.0"  # of this file's form
    # The folder of contracts.
    contracts: Annotated[str, AfterValidator(_folder)] = Field(
        "contracts", pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]{0,99}$"
    )
    # On an issue it asks for a strategy.
    label: str = Field("stratwright", min_length=1, max_length=50)
    # The login under which the bot writes, where the token does not tell.
    bot: str = Field("github-actions[bot]", pattern=r"^[A-Za-z0-9-]{1,39}(\[bot\])?$")
    # Whether the workflow installs Freqtrade in the job that runs code, and so proves and delivers
    # the target freqtrade where a contract asks for it.
    freqtrade: bool = False
    # Whether a target that cannot be proven stops the line, instead of being left out.
    require_targets: bool = False
    pull_requests: PullRequests = PullRequests()
    committer: Committer = Committer()
    approval: ApprovalPolicy = ApprovalPolicy()
    deploy: Deploy = Deploy()
    brain: Brain = Brain()
    coder: CoderSettings = CoderSettings()
    luck: LuckPolicy = LuckPolicy()


Read = TypeVar("Read", bound=BaseModel)


def _refuse_odd_forms(text: str, name: str) -> None:
    """Refuse aliases and deep nests, for which PyYAML takes minutes, as soon as they are met."""
    depth = 0
    for event in yaml.parse(text):
        if isinstance(event, yaml.AliasEvent):
            raise InputError(f"{name} has an alias", "Write the value out.")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MOST_DEPTH:
            raise ValueError(f"more than {_MOST_DEPTH} levels")


def _refuse_doubles(node: yaml.Node | None, name: str) -> None:
    """Stop at a key that is said twice: YAML takes the last one, a reader the first."""
    if isinstance(node, yaml.MappingNode):
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(keys) != len({*keys}):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InputError(f"{name} says {twice[:60]!a} twice", "Write each key once.")
        for _, value in node.value:
            _refuse_doubles(value, name)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _refuse_doubles(value, name)


def parse_settings(data: bytes | None, name: str = FILE) -> Settings:
    """Read the settings; no file means the defaults.

    Raises:
        InputError: the file is not YAML, or says something unknown.
    """
    return Settings() if data is None else parse_file(data, name, Settings)


def parse_file(data: bytes, name: str, kind: type[Read], hint: str = _HINT) -> Read:
    """Read a file of settings strictly; an empty one means the defaults.

    Raises:
        InputError: the file is not YAML, or says something unknown.
    """
    try:
        if len(data) > MOST_BYTES:
            raise InputError(f"{name} is larger than {MOST_BYTES} bytes")
        text = data.decode("utf-8")
        _refuse_odd_forms(text, name)
        _refuse_doubles(yaml.compose(text, yaml.SafeLoader), name)
        found: Any = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{name} is not YAML: {reason}",
            hint,
        ) from None
    if not isinstance(found, dict | None):
        message = f"{name} is not a mapping of keys to values"
        raise InputError(message, hint)
    try:
        _refuse_odd_keys(found)
        # As JSON: strict about types, and a list is a list in both.
        return kind.model_validate_json(json.dumps(found or {}, default=str))
    except TypeError as error:
        raise InputError(f"{name}: {error}", hint) from None
    except ValidationError as error:
        lines = [
            f"{name}: {'.'.join(map(str, each['loc']))}: "
            f"{'unknown key' if each['type'] == 'extra_forbidden' else each['msg']}"
            for each in error.errors()[:20]
        ]
        raise InputError("\n".join(lines), hint) from None


def _refuse_odd_keys(value: object) -> None:
    """Stop at a key that is no text: YAML reads 2024-01-01 as a day, and yes as true."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {str(key)[:60]!r} is no text")
            _refuse_odd_keys(item)
    elif isinstance(value, list):
        for item in value:
            _refuse_odd_keys(item)


def read_settings(root: Path) -> Settings:
    """Read the settings of a checkout."""
    try:
        return parse_settings((root / FILE).read_bytes())
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise InputError(f"{FILE} cannot be read: {error.strerror}") from None
