"""Assignments without a repository."""

from bot.contract.digest import contract_digest
from bot.contract.model import Contract
from bot.data.market_data import MarketData
from bot.proof.assignment import Assignment, Origin, assign
from bot.proof.targets import ADAPTER_ONLY, Targets

NAME = "corr_000000000000"


def assigned(
    contract: Contract,
    data: MarketData,
    name: str = NAME,
    targets: Targets = ADAPTER_ONLY,
    content: bytes = b"x",
    path: str = "contracts/dip.yaml",
) -> Assignment:
    return assign(contract, data, Origin(name, path, contract_digest(contract), content), targets)
