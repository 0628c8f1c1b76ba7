"""Scripted models that write files, and the coder in front of them."""

from typing import Any

from bot.coder.model.client import MessagesApi
from bot.coder.model.file_coder import Bench, FileCoder
from bot.coder.template.template_coder import TemplateCoder
from bot.contract.load import parse_contract
from bot.contract.model import Contract
from bot.settings import CoderSettings
from tests.bot.coder.model.talks import CONTRACT
from tests.doubles.model.messages_api import MessagesApi as Server
from tests.doubles.model.messages_api import Step, uses

PATH = "contracts/dip.yaml"
TEXT = CONTRACT.read_text("utf-8").replace("coder: auto", "") + "\ncoder: agent\n"
DONE = uses(("finish", {"success": True, "summary": "written"}))


def contract(text: str = TEXT) -> Contract:
    from pathlib import Path

    return parse_contract(text.encode(), "yaml", Path(PATH), models=True).strategy


def right(text: str = TEXT) -> str:
    """What a good model writes: the template's own strategy, laid out a little otherwise."""
    made = contract(text)
    files = TemplateCoder().write(made, PATH).files
    return (
        files[made.strategy_file]
        .replace("enter_long = (", "enter_long = ((", 1)
        .replace("(close > trend)\n", "(close > trend))\n", 1)
    )


def writes(path: str, content: str) -> Step:
    return uses(("write_file", {"path": path, "content": content}), text="1. read 2. decide")


def coder(server: Server, **settings: Any) -> FileCoder:
    """Asks the server as the product asks the real one."""
    bench = {name: settings.pop(name) for name in ("adopted", "snapshot", "say", "sign")
             if name in settings}  # fmt: skip
    waits: list[float] = []
    made = Bench(CoderSettings(**settings), lambda: MessagesApi(server.url), **bench)
    made.wait = waits.append
    return FileCoder(made)
