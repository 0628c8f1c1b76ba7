"""A checked contract to its Program."""

from bot.contract.language import Program, read_program
from bot.contract.model import Contract


def compile_contract(contract: Contract) -> Program:
    """Resolve the names and parse the rules of a contract that was loaded without a problem."""
    return read_program(contract.model_dump(mode="python", exclude_none=True))
