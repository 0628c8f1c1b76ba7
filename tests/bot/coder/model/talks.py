"""A contract with prose, and a real client in front of a scripted model on loopback."""

from pathlib import Path
from typing import Any

import yaml

from bot.coder.model.agent_coder import Asking
from bot.coder.model.client import MessagesApi
from bot.contract.document.source import read_source
from bot.settings import CoderSettings
from tests.doubles.model.messages_api import MessagesApi as Server

PROSE = "buy when it is oversold"
CONTRACT = Path(__file__).parents[4] / "contracts" / "oversold_dip.yaml"


def document(**rules: Any) -> dict[str | int, object]:
    """The example contract, with its entry in prose."""
    plain = yaml.safe_load(CONTRACT.read_text(encoding="utf-8"))
    plain["rules"] = {**plain["rules"], "enter_long": {"prose": PROSE}, **rules}
    root = read_source(yaml.safe_dump(plain, sort_keys=False).encode(), "yaml").root
    assert root is not None
    return root


def contract_text(**rules: Any) -> str:
    return yaml.safe_dump(document(**rules), sort_keys=False)


def asking(server: Server, waits: list[float] | None = None, **settings: Any) -> Asking:
    """Asks the server as the product asks the real one."""
    kept: list[float] = [] if waits is None else waits
    return Asking(CoderSettings(**settings), lambda: MessagesApi(server.url), kept.append)
