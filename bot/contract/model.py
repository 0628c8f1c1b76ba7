"""The contract, version 1.0: every field, its default, what it means and an example."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from bot.contract.code_paths import (
    CODE_PATH,
    CODES_FOLDER,
    FREQTRADE_FOLDER,
    STRATEGY_NAME,
    TESTS_FOLDER,
    file_stem,
)
from bot.contract.field_types import Id, Line, Part
from bot.contract.fields import Checked, amount, check_version, choice, kind_of, text, whole, wrong
from bot.contract.goals import Acceptance, Optimize
from bot.contract.indicators import (
    Indicator,
    Parameter,
    Rules,
)
from bot.contract.market import Data, Market
from bot.contract.risk import (
    Costs,
    Risk,
)
from bot.contract.signatures import SIGNATURE


class ModuleFile(Part):
    """A file that a module contract asks for."""

    path: Annotated[str, CODE_PATH] = Field(
        description="Path of the file, relative to the repository.",
        examples=["Backtest/codes/candle_store.py"],
    )
    signatures: tuple[Annotated[str, SIGNATURE], ...] = Field(
        default=(),
        description="The exact first lines of functions and classes that it must have.",
        examples=[["def load_candles(path: str) -> pd.DataFrame"]],
    )
    acceptance: tuple[Line, ...] = Field(
        default=(),
        description="What must be true of it, one sentence each.",
        examples=[["Refuses a file whose timestamps do not rise."]],
    )
    tests: tuple[Line, ...] = Field(
        default=(),
        description="What its tests must show, one sentence each.",
        examples=[["A file with a doubled row raises ValueError that names the row."]],
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

    version: Annotated[Literal["1.0"], Checked(check_version, {"const": "1.0"})] = Field(
        description="Version of the contract language; quoted, it is text.", examples=["1.0"]
    )
    workflow: Id = Field(
        description="Id of the workflow: all contracts that share it belong together.",
        examples=["oversold-dip"],
    )
    task: Id = Field(
        description="Id of this contract within its workflow; the branch is "
        "`ai/generated/<workflow>/<task>`.",
        examples=["strategy"],
    )
    name: Annotated[str, STRATEGY_NAME] = Field(
        description="Name in PascalCase; the file of OversoldDip is oversold_dip.py.",
        examples=["OversoldDip"],
    )
    description: Annotated[str, text(2000, empty=True)] = Field(
        default="",
        description="What it does, for the reader.",
        examples=["Buy oversold dips while the long trend is up."],
    )
    coder: Coder = Field(
        default="auto",
        description="Who writes the code: the template, or whatever the contract needs. agent and "
        "cli are reserved for models and refused until those are built.",
        examples=["auto"],
    )
    notes: Annotated[str, text(20_000, empty=True)] = Field(
        default="",
        description="Free text for the reader and, if a model is used, for the coder.",
        examples=["Tried on hourly candles only."],
    )
    after: tuple[Id, ...] = Field(
        default=(),
        description="Tasks of the same workflow that come before this one.",
        examples=[["data"]],
    )

    @property
    def file_stem(self) -> str:
        """The name of its file without the suffix: oversold_dip."""
        return file_stem(self.name)

    @property
    def branch(self) -> str:
        """The branch that its code is proposed on."""
        return f"ai/generated/{self.workflow}/{self.task}"


class Contract(Heading):
    """A strategy to be written, proven and proposed."""

    kind: Annotated[Literal["strategy"], kind_of("strategy")] = Field(
        description="strategy asks for a trading strategy, module for other code.",
        examples=["strategy"],
    )
    market: Market = Field(
        description="What is traded.", examples=[{"symbols": ["BTC/USDT"], "timeframe": "1h"}]
    )
    data: Data = Field(
        description="Where the candles come from.",
        examples=[{"source": "csv", "path": "tests/fixtures/sample_btc.csv"}],
    )
    parameters: dict[Annotated[str, text(64)], Parameter] = Field(
        default={},
        description="Numbers that rules, indicators and risk may name.",
        examples=[{"oversold": {"default": 30, "range": [15, 40]}}],
    )
    indicators: dict[Annotated[str, text(64)], Indicator] = Field(
        default={},
        description="Series that rules may name: a TA-Lib function, or an expression.",
        examples=[{"rsi": {"function": "RSI", "timeperiod": 14}}],
    )
    rules: Rules = Field(
        description="When to enter and to leave.", examples=[{"enter_long": "rsi < oversold"}]
    )
    risk: Risk = Field(description="What a trade may lose.", examples=[{"stop_loss": 0.02}])
    costs: Costs = Field(
        default=Costs(),
        description="What trading costs.",
        examples=[{"commission": 0.001, "slippage": 0.0005}],
    )
    execution: Annotated[Literal["next_open", "this_close"], choice("next_open", "this_close")] = (
        Field(
            default="next_open",
            description="Where a signal's order fills: at the next open, or at the close that gave "
            "it (not with the freqtrade target).",
            examples=["next_open"],
        )
    )
    capital: Annotated[float, amount(above=0, most=1e12)] = Field(
        default=10000.0, description="Cash at the start.", examples=[10000]
    )
    seed: Annotated[int, whole(0, 2**32 - 1)] = Field(
        default=7, description="Seed of everything that is drawn by chance.", examples=[7]
    )
    acceptance: Acceptance = Field(
        default=Acceptance(),
        description="What the back-test must reach.",
        examples=[{"min_trades": 10, "max_drawdown": 0.3}],
    )
    targets: Annotated[tuple[Target, ...], AfterValidator(_unique)] = Field(
        default=("adapter",),
        description="The files to write; with freqtrade a second one for Freqtrade, proven to give "
        "the same signals, and left out where Freqtrade is not installed.",
        examples=[["adapter", "freqtrade"]],
    )
    optimize: Optimize | None = Field(
        default=None,
        description="How to search the parameters; reserved, refused until the optimiser is built.",
        examples=[{"metric": "sharpe", "trials": 200, "walk_forward": {"train": 0.7, "folds": 4}}],
    )

    @property
    def strategy_file(self) -> str:
        """The path of the strategy that the evidence is computed from."""
        return f"{CODES_FOLDER}/{self.file_stem}.py"

    @property
    def tests_file(self) -> str:
        """The path of the strategy's tests."""
        return f"{TESTS_FOLDER}/test_{self.file_stem}.py"

    @property
    def freqtrade_file(self) -> str:
        """The path of the strategy for Freqtrade, which is written where `targets` asks for it."""
        return f"{FREQTRADE_FOLDER}/{self.name}.py"

    @property
    def planned_files(self) -> tuple[str, ...]:
        """The paths of all files that a candidate may have."""
        freqtrade = (self.freqtrade_file,) if "freqtrade" in self.targets else ()
        return (self.strategy_file, *freqtrade, self.tests_file)

    @model_validator(mode="after")
    def _parts_fit_together(self) -> "Contract":
        from bot.contract.coherence import check_coherence

        for finding in check_coherence(self.model_dump()):
            raise wrong(finding.message, allowed=finding.allowed, at="coherence")
        return self


class ModuleContract(Heading):
    """Other code to be written: a data pipeline, an integration, a tool. Needs a model."""

    kind: Annotated[Literal["module"], kind_of("module")] = Field(
        description="strategy asks for a trading strategy, module for other code.",
        examples=["module"],
    )
    files: tuple[ModuleFile, ...] = Field(
        description="The files to write.",
        examples=[[{"path": "Backtest/codes/candle_store.py"}]],
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
