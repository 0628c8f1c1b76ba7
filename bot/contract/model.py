"""The contract, version 1.0: every field, its default, what it means and an example."""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    Tag,
    model_validator,
)
from pydantic_core import CoreSchema

from bot.contract.fields import (
    Checked,
    amount,
    check_argument,
    check_flag,
    check_input,
    check_minutes,
    check_number,
    check_range,
    check_rule,
    check_version,
    choice,
    kind_of,
    pattern,
    text,
    whole,
    wrong,
)
from bot.contract.market import SYMBOL, TIME, TIMEFRAME, file_symbol, moment
from bot.contract.paths import (
    CODE_PATH,
    ID,
    ID_WORDS,
    INNER_PATH,
    STRATEGY_NAME,
    file_stem,
    guess_id,
    suffix,
)
from bot.contract.signatures import SIGNATURE

Number = int | float
NumberOrName = float | str
Id = Annotated[str, pattern(ID, ID_WORDS, guess_id)]
Flag = Annotated[bool, Checked(check_flag, {"type": "boolean"})]
Fraction = Annotated[NumberOrName, amount(above=0, below=1, fraction=True, nameable=True)]
Gain = Annotated[NumberOrName, amount(above=0, fraction=True, nameable=True)]
Cost = Annotated[float, amount(least=0, most=0.1, fraction=True)]
Line = Annotated[str, text(1000)]
Rule = Annotated[str, Checked(check_rule, {"type": "string", "minLength": 1, "maxLength": 4000})]


def _form(value: object) -> str:
    """Tell a mapping from a plain value, so that a mistake is reported for that form alone."""
    return "<mapping>" if isinstance(value, dict | BaseModel) else "<plain>"


def _indicator_form(value: object) -> str:
    keys = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    return "<expression>" if "expression" in keys and "function" not in keys else "<function>"


def _unique(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if values.count(value) > 1:
            raise wrong("given twice", value)
    if not values:
        raise wrong("the list is empty")
    return values


class Part(BaseModel):
    """A part of a contract: frozen, and no key but its own."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_default=False, arbitrary_types_allowed=False
    )


def _unlike_files(symbols: tuple[str, ...]) -> tuple[str, ...]:
    files: dict[str, str] = {}
    for symbol in symbols:
        other = files.setdefault(file_symbol(symbol).casefold(), symbol)
        if other is not symbol:
            raise wrong(f"{symbol} and {other} are one symbol", allowed="each symbol once")
    if not symbols:
        raise wrong("the list is empty", allowed="at least one symbol, as [BTC/USDT]")
    return symbols


class Market(Part):
    """What is traded."""

    symbols: Annotated[
        tuple[Annotated[str, SYMBOL], ...], AfterValidator(_unlike_files), Field(min_length=0)
    ] = Field(
        description="The symbols, as the exchange writes them. Rules run for each; cash is shared.",
        examples=[["BTC/USDT"]],
        json_schema_extra={"minItems": 1},
    )
    timeframe: Annotated[str, TIMEFRAME] = Field(
        description="Length of one candle.", examples=["1h"]
    )
    type: Annotated[Literal["spot", "futures"], choice("spot", "futures")] = Field(
        default="spot", description="Kind of market. Short rules need futures.", examples=["spot"]
    )
    lot: Annotated[float, amount(above=0)] | None = Field(
        default=None,
        description="Smallest step of volume; sizes are rounded down to it.",
        examples=[0.001],
    )
    tick: Annotated[float, amount(above=0)] | None = Field(
        default=None, description="Smallest step of price.", examples=[0.01]
    )
    min_notional: Annotated[float, amount(above=0)] | None = Field(
        default=None, description="Smallest value of an order, volume times price.", examples=[10]
    )


class Data(Part):
    """Where the candles come from."""

    source: Annotated[
        Literal["csv", "feather", "freqtrade", "ccxt"],
        choice("csv", "feather", "freqtrade", "ccxt"),
    ] = Field(
        description="csv and feather read a file, freqtrade its data folder, ccxt an exchange.",
        examples=["csv"],
    )
    path: Annotated[str, INNER_PATH] | None = Field(
        default=None,
        description="The file, or Freqtrade's data folder, relative to the repository. Several "
        "symbols need {symbol} in it, which becomes BTC_USDT for BTC/USDT.",
        examples=["tests/fixtures/sample_btc.csv"],
    )
    exchange: Annotated[str, pattern(r"[a-z][a-z0-9]{1,31}", "an exchange's id in ccxt")] | None = (
        Field(
            default=None,
            description="Exchange by its ccxt id; for the sources freqtrade and ccxt.",
            examples=["binance"],
        )
    )
    start: Annotated[str, TIME] | None = Field(
        default=None, description="First candle that counts, in UTC.", examples=["2024-01-01"]
    )
    end: Annotated[str, TIME] | None = Field(
        default=None,
        description="Candles from here on do not count, in UTC.",
        examples=["2024-07-01"],
    )

    @model_validator(mode="after")
    def _keys_fit_the_source(self) -> "Data":
        is_file = self.source in ("csv", "feather")
        if is_file and self.path is None:
            raise wrong(f"source {self.source} needs a path", allowed="path: data/candles.csv")
        if not is_file and self.exchange is None:
            raise wrong(f"source {self.source} needs an exchange", allowed="exchange: binance")
        if is_file and self.exchange is not None:
            raise wrong(f"exchange has no use with source {self.source}", at="exchange")
        if self.source == "ccxt" and self.path is not None:
            raise wrong("path has no use with source ccxt", at="path")
        other = {"csv": (".feather", ".parquet", ".json"), "feather": (".csv", ".json", ".parquet")}
        if self.path and suffix(self.path) in other.get(self.source, ()):
            raise wrong(f"this is no {self.source} file", self.path, at="path")
        if self.start and self.end and moment(self.start) >= moment(self.end):
            raise wrong("end is not after start", self.end, at="end")
        return self


class Parameter(Part):
    """A number that rules, indicators and risk may name."""

    default: Annotated[Number, Checked(check_number, {"type": "number"})] = Field(
        description="The value. If default and range are all integers, so is the parameter.",
        examples=[30],
    )
    range: (
        Annotated[
            tuple[Number, Number],
            Checked(
                check_range,
                {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
            ),
        ]
        | None
    ) = Field(
        default=None,
        description="Lowest and highest value for the optimiser; the default lies within.",
        examples=[[15, 40]],
    )

    @property
    def is_integer(self) -> bool:
        """Tell whether default and range are all written as integers."""
        return all(isinstance(value, int) for value in (self.default, *(self.range or ())))

    @model_validator(mode="after")
    def _default_within_range(self) -> "Parameter":
        if self.range and not self.range[0] <= self.default <= self.range[1]:
            low, high = self.range
            raise wrong(
                "the default is outside its range",
                self.default,
                allowed=f"{low} to {high}",
                at="default",
            )
        return self


class TalibIndicator(Part):
    """A TA-Lib function; every other key is one of its arguments, by TA-Lib's own name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[
        str, Annotated[Number | str, Checked(check_argument, {"type": ["number", "string"]})]
    ]

    function: Annotated[str, text(32)] = Field(
        description="Name of a TA-Lib function.", examples=["RSI"]
    )
    input: (
        Annotated[
            str | tuple[str, ...],
            Checked(
                check_input,
                {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            ),
        ]
        | None
    ) = Field(
        default=None,
        description="The series it is computed of: a price, an indicator, `name.output`, or a "
        "list for functions of two inputs. Default: what TA-Lib uses, mostly close.",
        examples=["high"],
    )

    @property
    def arguments(self) -> dict[str, Number | str]:
        """TA-Lib's arguments as the contract gives them."""
        return dict(self.__pydantic_extra__ or {})


class ExpressionIndicator(Part):
    """An indicator written in the rule language."""

    expression: Rule = Field(
        description="Any numeric expression of the rule language.",
        examples=["mean(hl2, 5) - mean(hl2, 34)"],
    )


Indicator = Annotated[
    Annotated[TalibIndicator, Tag("<function>")]
    | Annotated[ExpressionIndicator, Tag("<expression>")],
    Discriminator(_indicator_form),
]


class Prose(Part):
    """A rule in words, which a model turns into an expression that is checked and shown."""

    prose: Annotated[str, text(2000)] = Field(
        description="The rule in plain words. Needs a model.",
        examples=["buy when it dips below the lower band in an uptrend"],
    )


RuleOrProse = Annotated[
    Annotated[Rule, Tag("<plain>")] | Annotated[Prose, Tag("<mapping>")], Discriminator(_form)
]


class Rules(Part):
    """When to enter and to leave; at least one enter rule."""

    enter_long: RuleOrProse | None = Field(
        default=None, description="Buy where this is true.", examples=["rsi < 30 and close > trend"]
    )
    exit_long: RuleOrProse | None = Field(
        default=None, description="Sell what was bought where this is true.", examples=["rsi > 70"]
    )
    enter_short: RuleOrProse | None = Field(
        default=None,
        description="Sell short where this is true; needs market.type futures.",
        examples=["rsi > 70 and close < trend"],
    )
    exit_short: RuleOrProse | None = Field(
        default=None,
        description="Buy back what was sold short where this is true.",
        examples=["rsi < 30"],
    )

    @model_validator(mode="after")
    def _at_least_one_entry(self) -> "Rules":
        if self.enter_long is None and self.enter_short is None:
            raise wrong("no rule to enter a trade", allowed="enter_long or enter_short")
        return self


class AtrLevel(Part):
    """A distance in multiples of the average true range at the decision bar."""

    atr: Annotated[NumberOrName, amount(above=0, most=100, nameable=True)] = Field(
        description="Multiple of the average true range.", examples=[2.0]
    )
    timeperiod: Annotated[int | str, whole(1, 100_000, nameable=True)] = Field(
        default=14, description="Period of TA-Lib's ATR.", examples=[14]
    )


StopLevel = Annotated[
    Annotated[Fraction, Tag("<plain>")] | Annotated[AtrLevel, Tag("<mapping>")],
    Discriminator(_form),
]
TargetLevel = Annotated[
    Annotated[Gain, Tag("<plain>")] | Annotated[AtrLevel, Tag("<mapping>")],
    Discriminator(_form),
]
Level = NumberOrName | AtrLevel


class Trailing(Part):
    """A stop that follows the best price since entry and never loosens."""

    distance: Fraction = Field(
        description="Distance from the best price, as a fraction of it.", examples=[0.01]
    )
    activate_at: Gain | None = Field(
        default=None,
        description="Profit from which the distance holds; before it, stop_loss's distance does.",
        examples=[0.058],
    )
    only_after_activation: Flag = Field(
        default=False, description="Do not trail at all before activate_at.", examples=[True]
    )

    @model_validator(mode="after")
    def _activation_is_given(self) -> "Trailing":
        if self.only_after_activation and self.activate_at is None:
            raise wrong(
                "only_after_activation needs activate_at",
                at="only_after_activation",
                allowed="activate_at: 0.05",
            )
        return self


class _ShortForm:
    """Publish that a plain number stands for the mapping."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        number = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
        return {"anyOf": [number, {"type": "string"}, handler(core)]}


def _long_form(value: object) -> object:
    return value if isinstance(value, dict | Trailing) else {"distance": value}


class Size(Part):
    """How much is bought; exactly one of the three."""

    equity: (
        Annotated[NumberOrName, amount(above=0, most=1, fraction=True, nameable=True)] | None
    ) = Field(default=None, description="Fraction of equity to put in.", examples=[0.1])
    units: Annotated[NumberOrName, amount(above=0, nameable=True)] | None = Field(
        default=None, description="A fixed volume.", examples=[1.0]
    )
    risk: (
        Annotated[NumberOrName, amount(above=0, most=0.1, fraction=True, nameable=True)] | None
    ) = Field(
        default=None,
        description="Fraction of equity lost if the stop is hit; at most 0.10.",
        examples=[0.01],
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> "Size":
        given = [name for name in ("equity", "units", "risk") if getattr(self, name) is not None]
        if len(given) != 1:
            found = f"{' and '.join(given)} are given" if given else "no size is given"
            raise wrong(f"{found}; exactly one is needed", allowed="equity, units or risk")
        return self


def _by_minutes(table: dict[int, NumberOrName]) -> dict[int, NumberOrName]:
    if not table:
        raise wrong(
            "the table is empty; remove it or give it a line", allowed="{0: 0.04, 60: 0.02}"
        )
    return dict(sorted(table.items()))


Minutes = Annotated[
    int, Checked(check_minutes, {"type": "string", "pattern": "^(0|[1-9][0-9]{0,7})$"})
]
Profit = Annotated[NumberOrName, amount(least=-1, fraction=True, nameable=True)]


class Risk(Part):
    """What a trade may lose, what it aims at and how large it is. All levels are fractions."""

    stop_loss: StopLevel = Field(
        description="Loss that ends the trade: a fraction of the entry price, or multiples of the "
        "average true range as {atr: 2.0, timeperiod: 14}.",
        examples=[0.02, {"atr": 2.0, "timeperiod": 14}],
    )
    take_profit: TargetLevel | None = Field(
        default=None,
        description="Gain that ends the trade, in the same forms; may pass 1.",
        examples=[0.04],
    )
    trailing_stop: Annotated[Trailing, BeforeValidator(_long_form), _ShortForm()] | None = Field(
        default=None,
        description="A stop that follows the price: a distance, or a mapping.",
        examples=[0.03, {"distance": 0.01, "activate_at": 0.058, "only_after_activation": True}],
    )
    roi: Annotated[dict[Minutes, Profit], AfterValidator(_by_minutes)] | None = Field(
        default=None,
        description="Minutes in the trade to the net profit that ends it, as in Freqtrade.",
        examples=[{0: 0.04, 60: 0.02, 240: 0}],
    )
    exit_profit_only: Flag = Field(
        default=False,
        description="Ignore the exit rule while the trade is not in profit after fees.",
        examples=[False],
    )
    ignore_roi_if_entry_signal: Flag = Field(
        default=False,
        description="Do not take the roi profit while the entry rule is still true.",
        examples=[False],
    )
    size: Size = Field(
        default=Size(equity=0.1), description="Size of a position.", examples=[{"equity": 0.1}]
    )
    max_positions: Annotated[int, whole(1, 1000)] = Field(
        default=1,
        description="Positions open at once over all symbols, one for each symbol.",
        examples=[1],
    )


class Costs(Part):
    """What trading costs, as fractions of the value, on each side."""

    commission: Cost = Field(default=0.001, description="Fee of each fill.", examples=[0.001])
    slippage: Cost = Field(
        default=0.0005, description="How much worse than the price a fill is.", examples=[0.0005]
    )
    spread: Cost = Field(
        default=0.0, description="Distance of bid and ask; half of it on each side.", examples=[0.0]
    )


Ratio = Annotated[float, amount(least=-100, most=100)]


class Acceptance(Part):
    """What the back-test must reach; every line becomes a check of the acceptance gate."""

    min_trades: Annotated[int, whole(0, 10_000_000)] | None = Field(
        default=None, description="At least so many closed trades.", examples=[10]
    )
    max_drawdown: Annotated[float, amount(above=0, most=1, fraction=True)] | None = Field(
        default=None, description="Largest fall from a peak of equity.", examples=[0.3]
    )
    min_win_rate: Annotated[float, amount(least=0, most=1, fraction=True)] | None = Field(
        default=None, description="Winning trades as a fraction of all.", examples=[0.4]
    )
    min_sharpe: Ratio | None = Field(
        default=None, description="Annualised Sharpe ratio.", examples=[0.5]
    )
    min_sortino: Ratio | None = Field(
        default=None, description="Annualised Sortino ratio.", examples=[0.7]
    )
    min_profit_factor: Annotated[float, amount(least=0, most=1000)] | None = Field(
        default=None, description="Gross profit divided by gross loss.", examples=[1.2]
    )
    min_return: Annotated[float, amount(least=-1)] | None = Field(
        default=None, description="Total return as a fraction of capital.", examples=[0.05]
    )
    max_exposure: Annotated[float, amount(above=0, most=1, fraction=True)] | None = Field(
        default=None, description="Fraction of bars with an open position.", examples=[0.5]
    )


class WalkForward(Part):
    """How the history is cut for the optimiser."""

    train: Annotated[float, amount(above=0, below=1, fraction=True)] = Field(
        default=0.7, description="Fraction of each fold that is searched.", examples=[0.7]
    )
    folds: Annotated[int, whole(1, 100)] = Field(
        default=4, description="Number of folds.", examples=[4]
    )


METRICS = ("sharpe", "sortino", "profit_factor", "return", "win_rate", "max_drawdown")


class Optimize(Part):
    """How the parameters with a range are searched."""

    metric: Annotated[
        Literal["sharpe", "sortino", "profit_factor", "return", "win_rate", "max_drawdown"],
        choice(*METRICS),
    ] = Field(default="sharpe", description="The figure to improve.", examples=["sharpe"])
    trials: Annotated[int, whole(1, 1_000_000)] = Field(
        default=200, description="How many settings are tried.", examples=[200]
    )
    walk_forward: WalkForward | None = Field(
        default=None,
        description="Search on one part of each fold and judge on the rest.",
        examples=[{"train": 0.7, "folds": 4}],
    )


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
        "ai/generated/<workflow>/<task>.",
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
        description="Who writes the code: the template, a model as agent, a command-line coder, or "
        "whatever the contract needs.",
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
        default=("adapter", "freqtrade"),
        description="The files to write, proven to give the same signals.",
        examples=[["adapter", "freqtrade"]],
    )
    optimize: Optimize | None = Field(
        default=None,
        description="How to search the parameters.",
        examples=[{"metric": "sharpe", "trials": 200, "walk_forward": {"train": 0.7, "folds": 4}}],
    )

    @model_validator(mode="after")
    def _parts_fit_together(self) -> "Contract":
        from bot.contract.coherence import check_coherence

        for finding in check_coherence(self.model_dump()):
            raise wrong(finding.message, allowed=finding.allowed, at="coherence")
        return self

    @property
    def prose_rules(self) -> dict[str, str]:
        """The rules that are given in words."""
        rules = {name: getattr(self.rules, name) for name in type(self.rules).model_fields}
        return {name: rule.prose for name, rule in rules.items() if isinstance(rule, Prose)}


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
            raise wrong(
                "kind module needs a model", self.coder, allowed="agent, cli, auto", at="coder"
            )
        return self


AnyContract = Contract | ModuleContract
