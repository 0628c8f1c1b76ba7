"""Turns a contract into the TodoList: what is written, in which order, and how it is judged."""

from dataclasses import asdict, dataclass

from bot.contract.digest import contract_digest
from bot.contract.model import AnyContract, Contract, ModuleContract
from bot.errors import InputError
from bot.plan.milestones import data_criteria, entry_criteria, exit_criteria, indicator_criteria

RULES = tuple(
    f"brain/rules/{name}.md"
    for name in (
        "RULE-001-import-whitelist",
        "RULE-002-code-style",
        "RULE-003-testing",
        "RULE-004-security",
    )
)
# Five requests of a thousand candles, one of which is still open.
FREQTRADE_CANDLES = 4999
TALIB = "brain/learnings/LEARN-003-talib.md"
TEST_SCAFFOLDING = "brain/code/CODE-004-test-scaffolding.md"


@dataclass(frozen=True)
class Todo:
    """One milestone: done when its acceptance criteria hold and its tests show it."""

    id: str
    title: str
    acceptance: tuple[str, ...]
    files: tuple[str, ...]
    signatures: tuple[str, ...]
    tests: tuple[str, ...]
    brain: tuple[str, ...]
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True)
class TodoList:
    """The plan of one contract. Its JSON has these keys, in this order; keys are only added."""

    version: str
    workflow: str
    task: str
    kind: str
    name: str
    branch: str
    contract: str
    contract_digest: str
    after: tuple[str, ...]
    warmup: int | None
    todos: tuple[Todo, ...]

    def to_dict(self) -> dict[str, object]:
        """Give the plan as plain values."""
        return asdict(self)


def make_plan(contract: AnyContract, contract_path: str, warmup: int | None = None) -> TodoList:
    """Plan a contract; `warmup` is the number of candles before its indicators are complete."""
    if isinstance(contract, ModuleContract):
        todos = _module_todos(contract)
    else:
        refuse_inexpressible(contract, warmup)
        todos = _strategy_todos(contract, warmup)
    return TodoList(
        version="1.0",
        workflow=contract.workflow,
        task=contract.task,
        kind=contract.kind,
        name=contract.name,
        branch=contract.branch,
        contract=contract_path,
        contract_digest=contract_digest(contract),
        after=contract.after,
        warmup=warmup,
        todos=todos,
    )


def refuse_inexpressible(contract: Contract, warmup: int | None) -> None:
    """Refuse a contract whose warm-up Freqtrade would not load; the contract's own checks find
    everything else that a target cannot express.

    Raises:
        InputError: with the reason and the way out.
    """
    if "freqtrade" in contract.targets and (warmup or 0) > FREQTRADE_CANDLES:
        raise InputError(
            f"targets: Freqtrade loads at most {FREQTRADE_CANDLES} candles before it starts, and "
            f"the indicators of {contract.name} need {warmup}",
            "Shorten the longest indicator, or write targets: [adapter].",
        )


def _strategy_todos(contract: Contract, warmup: int | None) -> tuple[Todo, ...]:
    files = contract.planned_files
    return (
        Todo(
            "data",
            "Data loading",
            data_criteria(contract),
            files,
            ("class Strategy", "def __init__(self, cfg: dict[str, Any]) -> None"),
            (
                "The candles have every column, no missing price and rising timestamps.",
                "SimBrokerAdapter(SimBroker()) steps through all of them without an order.",
                "Strategy({}) takes the contract's values; an unknown key is a ValueError.",
            ),
            (*RULES, TEST_SCAFFOLDING),
        ),
        Todo(
            "indicators",
            "Indicators",
            indicator_criteria(contract, warmup),
            files,
            ("def prepare_indicators(self, df: pd.DataFrame) -> dict[str, pd.Series]",),
            (
                "Every indicator equals the expected values on the fixture.",
                "Computed on a cut-off history, each value equals the one on the whole.",
            ),
            (*RULES, TALIB, TEST_SCAFFOLDING),
            ("data",),
        ),
        Todo(
            "entries",
            "Entry logic",
            entry_criteria(contract),
            files,
            (
                "def find_entries(self, df: pd.DataFrame, indicators: dict[str, pd.Series], "
                "idx: int) -> dict[str, Any] | None",
            ),
            (
                "Entries come on exactly the expected bars of the fixture, and on no other.",
                "The order has the action, stop, target and size that the contract states.",
                "Asked twice or in another order of bars, it gives the same answers.",
            ),
            (*RULES, TEST_SCAFFOLDING),
            ("indicators",),
        ),
        Todo(
            "exits",
            "Exit logic",
            exit_criteria(contract),
            files,
            (
                "def find_exits(self, position: dict[str, Any], df: pd.DataFrame, "
                "indicators: dict[str, pd.Series], idx: int) -> dict[str, Any] | None",
                "def run_backtest(adapter: BaseAdapter, df: pd.DataFrame, cfg: dict[str, Any]) "
                "-> dict[str, Any]",
                "def run_live(adapter: BaseAdapter, cfg: dict[str, Any]) -> None",
            ),
            (
                "Exits come on exactly the expected bars of the fixture, and on no other.",
                "A full back-test gives the expected trades; run twice, it gives the same ones.",
                "The report has total_trades, win_rate and max_drawdown.",
            ),
            (*RULES, TEST_SCAFFOLDING),
            ("entries",),
        ),
    )


def _module_todos(contract: ModuleContract) -> tuple[Todo, ...]:
    """Plan one milestone for each file, in the contract's order."""
    todos: list[Todo] = []
    for number, file in enumerate(contract.files, start=1):
        before = (todos[-1].id,) if todos else ()
        criteria = file.acceptance or ("It has every signature, and its tests pass.",)
        todos.append(
            Todo(
                f"file-{number}",
                f"Write {file.path}",
                criteria,
                (file.path,),
                file.signatures,
                file.tests,
                (*RULES, TEST_SCAFFOLDING),
                before,
            )
        )
    return tuple(todos)
