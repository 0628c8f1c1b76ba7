"""An item whose candles cannot be used to one that is refused at the line which names them."""

from dataclasses import replace

from bot.contract.document.problems import Fault
from bot.data.market_data import read_market_data
from bot.errors import InputError
from bot.git.repository import Repository
from bot.workflow.items import Action, Item


def with_candles(item: Item, repository: Repository) -> Item:
    """The item as it is if its candles are there and well formed; else refused with the reason."""
    if item.action is not Action.PROPOSE or item.read is None or item.read.loaded is None:
        return item
    loaded = item.read.loaded
    try:
        data = read_market_data(loaded.strategy, repository.root)
        repository.absent_from_base(data.contents)
    except InputError as error:
        where = ("data", "path") if loaded.strategy.data.path else ("data",)
        words = f"{error.message}. {error.hint}".rstrip(". ").replace(f"{repository.root}/", "")
        problem = replace(loaded.problem(Fault(where, words)), file=item.path)
        return replace(item, action=Action.REFUSE, read=replace(item.read, problems=(problem,)))
    return item
