"""A tag whose evidence holds a part of the rows to the files with all of them, computed again."""

import json
from collections.abc import Mapping

from bot.contract.language.program import compile_contract
from bot.data.market_data import checkout_files, read_market_data
from bot.errors import InputError, StratwrightError
from bot.git.repository import Repository
from bot.proof.base_version import contract_of
from bot.proof.evidence import PROVENANCE, result_files
from bot.proof.judge import judge_rules, with_tear_sheet


def whole_results(
    repository: Repository, commit: str, files: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Play a tag's contract on its candles again, without its code, and keep every row.

    The same rows as in its evidence, `files`, must come out, byte for byte.

    Raises:
        InputError: they cannot be computed, or the evidence is not what comes out.
    """
    try:
        sealed = files.get(PROVENANCE, b"")
        contract = contract_of(repository, commit, sealed)
        if contract is None:
            raise InputError("its contract cannot be read")
        correlation_id = str(json.loads(sealed)["predicate"]["correlation_id"])
        here = checkout_files(repository.root)
        data = read_market_data(contract, lambda path: repository.read(commit, path) or here(path))
        judgement = judge_rules(contract, compile_contract(contract), data)
        judgement = with_tear_sheet(judgement, data.candles)
    except StratwrightError as error:
        raise InputError(f"the files with all rows cannot be computed: {error.message}") from None
    for name, content in result_files(judgement, correlation_id).items():
        if files.get(name) != content:
            message = f"the files with all rows are not written: {name} comes out otherwise"
            raise InputError(message, "The candles have changed, or another version made it")
    return result_files(judgement, correlation_id, whole=True)
