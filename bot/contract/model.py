"""The contract, version 1.0: every field, its default, what it means and an example."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, ValidationInfo, model_validator

from bot.contract.code_paths import (
    CODE_PATH,
    CODES_FOLDER,
    FREQTRADE_FOLDER,
    STRATEGY_NAME,
    TESTS_FOLDER,
    file_stem,
)
from bot.contract.field_types import Id, Line, Part, optional, says
from bot.contract.fields import Checked, amount, check_version, choice, kind_of, text, whole, wrong
from bot.contract.goals import Acceptance, Optimize, Optimized
from bot.contract.indicators import Indicator, Parameter, Rules
from bot.contract.market import Data, Market
from bot.contract.risk import Costs, Risk
from bot.contract.signatures import SIGNATURE


class ModuleFile(Part):
    """A file that a module contract asks for."""

    path: Annotated[str, CODE_PATH] = says(
        "Path of the file, relative to the repository.", "Backtest/codes/candle_store.py"
    )
    signatures: tuple[Annotated[str, SIGNATURE], ...] = says(
        "The exact first lines of functions and classes that it must have.",
        ["def load_candles(path: str) -> pd.DataFrame"],
        default=(),
    )
    acceptance: tuple[Line, ...] = says(
        "What must be true of it, one sentence each.",
        ["Refuses a file whose timestamps do not rise."],
        default=(),
    )
    tests: tuple[Line, ...] = says(
        "What its tests must show, one sentence each.",
        ["A file with a doubled row raises ValueError that names the row."],
        default=(),
    )


Target = Annotated[Literal["adapter", "freqtrade"], choice("adapter", "freqtrade")]


Coder = Annotated[
    Literal["template", "agent", "cli", "auto"], choice("template", "agent", "cli", "auto")
]


def _unique(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if values.count(value) > 1:
            raise wrong("given twice", value)
    if not values:
        raise wrong("the list is empty")
    return values


class Heading(Part):
    """What every contract has, whatever it asks for."""

    version: Annotated[Literal["1.0"], Checked(check_version, {"const": "1.0"})] = says(
        "Version of the contract language; quoted, it is text.", "1.0"
    )
    workflow: Id = says(
        "Id of the workflow: all contracts that share it belong together.", "oversold-dip"
    )
    task: Id = says(
        "Id of this contract within its workflow; the branch is `ai/generated/<workflow>/<task>`.",
        "strategy",
    )
    name: Annotated[str, STRATEGY_NAME] = says(
        "Name in PascalCase; the file of OversoldDip is oversold_dip.py.", "OversoldDip"
    )
    description: Annotated[str, text(2000, empty=True)] = says(
        "What it does, for the reader.", "Buy oversold dips while the long trend is up.", default=""
    )
    coder: Coder = says(
        "Who writes the code: the template, or whatever the contract needs. With agent "
        "`stratwright run` lets a model write it, with cli Claude Code.",
        "auto",
        default="auto",
    )
    notes: Annotated[str, text(20_000, empty=True)] = says(
        "Free text for the reader and, if a model is used, for the coder.",
        "Tried on hourly candles only.",
        default="",
    )
    after: tuple[Id, ...] = says(
        "Tasks of the same workflow that come before this one.", ["data"], default=()
    )

    @property
    def file_stem(self) -> str:
        """Gives the name of its file without the suffix: oversold_dip."""
        return file_stem(self.name)

    @property
    def branch(self) -> str:
        """Gives the branch that its code is proposed on."""
        return f"ai/generated/{self.workflow}/{self.task}"


class Contract(Heading):
    """A strategy to be written, proven and proposed."""

    later: ClassVar[frozenset[str]] = frozenset({"optimized"})

    kind: Annotated[Literal["strategy"], kind_of("strategy")] = says(
        "strategy asks for a trading strategy, module for other code.", "strategy"
    )
    market: Market = says("What is traded.", {"symbols": ["BTC/USDT"], "timeframe": "1h"})
    data: Data = says(
        "Where the candles come from.", {"source": "csv", "path": "tests/fixtures/sample_btc.csv"}
    )
    parameters: dict[Annotated[str, text(64)], Parameter] = says(
        "Numbers that rules, indicators and risk may name.",
        {"oversold": {"default": 30, "range": [15, 40]}},
        default={},
    )
    indicators: dict[Annotated[str, text(64)], Indicator] = says(
        "Series that rules may name: a TA-Lib function, or an expression.",
        {"rsi": {"function": "RSI", "timeperiod": 14}},
        default={},
    )
    rules: Rules = says("When to enter and to leave.", {"enter_long": "rsi < oversold"})
    risk: Risk = says("What a trade may lose.", {"stop_loss": 0.02})
    costs: Costs = says(
        "What trading costs.", {"commission": 0.001, "slippage": 0.0005}, default=Costs()
    )
    execution: Annotated[Literal["next_open", "this_close"], choice("next_open", "this_close")] = (
        says(
            "Where a signal's order fills: at the next open, or at the close that gave "
            "it (not with the freqtrade target).",
            "next_open",
            default="next_open",
        )
    )
    capital: Annotated[float, amount(above=0, most=1e12)] = says(
        "Cash at the start.", 10000, default=10000.0
    )
    seed: Annotated[int, whole(0, 2**32 - 1)] = says(
        "Seed of everything that is drawn by chance.", 7, default=7
    )
    acceptance: Acceptance = says(
        "What the back-test must reach.",
        {"min_trades": 10, "max_drawdown": 0.3},
        default=Acceptance(),
    )
    targets: Annotated[tuple[Target, ...], AfterValidator(_unique)] = says(
        "The files to write; with freqtrade a second one for Freqtrade, proven to give "
        "the same signals, and left out where Freqtrade is not installed.",
        ["adapter", "freqtrade"],
        default=("adapter",),
    )
    optimize: Optimize | None = optional(
        "How `stratwright run` and `stratwright optimize` search the parameters that have a "
        "range; other commands take the defaults.",
        {"metric": "sharpe", "trials": 200, "walk_forward": {"train": 0.7, "folds": 4}},
    )
    optimized: Optimized | None = optional(
        "Written by `run` beside the defaults that a search found; take it out to search again.",
        {"searched": f"sha256:{'0' * 64}", "seed": 7, "sets": 200, "was": {"oversold": 30}},
    )

    @property
    def strategy_file(self) -> str:
        """Gives the path of the strategy that the evidence is computed from."""
        return f"{CODES_FOLDER}/{self.file_stem}.py"

    @property
    def tests_file(self) -> str:
        """Gives the path of the strategy's tests."""
        return f"{TESTS_FOLDER}/test_{self.file_stem}.py"

    @property
    def freqtrade_file(self) -> str:
        """Gives the path of the strategy for Freqtrade, written where `targets` asks for it."""
        return f"{FREQTRADE_FOLDER}/{self.name}.py"

    @property
    def planned_files(self) -> tuple[str, ...]:
        """Gives the paths of all files that a candidate may have."""
        freqtrade = (self.freqtrade_file,) if "freqtrade" in self.targets else ()
        return (self.strategy_file, *freqtrade, self.tests_file)

    @model_validator(mode="after")
    def _parts_fit_together(self, info: ValidationInfo) -> "Contract":
        from bot.contract.coherence import check_coherence

        asked = info.context or {}
        for fault in check_coherence(self.model_dump(), **asked):
            raise wrong(fault.message, allowed=fault.allowed, at="coherence")
        return self


class ModuleContract(Heading):
    """Other code to be written: a data pipeline, an integration, a tool. Needs a model."""

    kind: Annotated[Literal["module"], kind_of("module")] = says(
        "strategy asks for a trading strategy, module for other code.", "module"
    )
    files: tuple[ModuleFile, ...] = says(
        "The files to write.",
        [{"path": "Backtest/codes/candle_store.py"}],
        json_schema_extra={"minItems": 1},
    )

    @model_validator(mode="after")
    def _files_differ(self) -> "ModuleContract":
        paths = [file.path.casefold() for file in self.files]
        if not paths:
            raise wrong("no file is asked for", allowed="files: [{path: ...}]", at="files")
        for file in self.files:
            if paths.count(file.path.casefold()) > 1:
                raise wrong("two files have one path", file.path, at="files")
        if self.coder == "template":
            raise wrong("kind module needs a model", self.coder, allowed="auto", at="coder")
        return self


AnyContract = Contract | ModuleContract
