"""Writes contracts with prose: a model says what it means, the template writes the code."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.coder.by_text import ByText
from bot.coder.model.agent import Conversation, Setting
from bot.coder.model.calls import Model, Reply, Request
from bot.coder.model.drafting import IssueText
from bot.coder.model.meter import Meter
from bot.coder.model.transcript import Transcript, by_answers
from bot.coder.port import Candidate, Failure
from bot.coder.template.template_coder import TemplateCoder
from bot.contract.answering import open_questions, with_answers
from bot.contract.document.problems import ContractError
from bot.contract.document.source import read_source
from bot.contract.load import FORMS, LoadedContract, parse_contract
from bot.contract.model import AnyContract
from bot.errors import StratwrightError
from bot.settings import CoderSettings


@dataclass
class Asking:
    """Asks a model within the settings' limits, for one contract at a time."""

    settings: CoderSettings
    open_model: Callable[[], Model]
    wait: Callable[[float], None] = time.sleep
    ledger: Path | None = None  # the folder of the days' ledgers; None for this user's own

    def ask(self, root: Mapping[str | int, object]) -> Transcript:
        """Ask for all open rules of a contract.

        Raises:
            NotAnswered: no expression came of it; `transcript` has what was said.
            StratwrightError: no price, no key, no money, no time or no answer; `cost` says what was
                spent on it.
        """
        return self._within_limits(lambda talk: talk.answer(root))

    def draft(self, issue: IssueText) -> Transcript:
        """Ask for a whole contract.

        Raises:
            NotAnswered, StratwrightError: as `ask`.
        """
        return self._within_limits(lambda talk: talk.draft(issue))

    def _within_limits(self, talk_to: Callable[[Conversation], Transcript]) -> Transcript:
        meter = Meter(self.settings, self.ledger)

        def book(request: Request) -> Callable[[Reply | None, bool], int]:
            settled = meter.book(request.size, request.max_tokens)

            def settle(reply: Reply | None, billed: bool) -> int:
                unknown = None if billed else 0
                return settled(meter.price.of(reply.usage) if reply else unknown)

            return settle

        setting = Setting(self.settings.model, meter.heat, meter.price.date)
        talk = Conversation(self.open_model(), setting, meter.timeout, book, self.wait)
        try:
            return talk_to(talk)
        except StratwrightError as error:
            error.cost, error.turns = talk.cost, len(talk.calls)
            raise


class AgentCoder(ByText):
    """Lets a model answer what a contract says in prose: by expressions, never by code."""

    name = "agent"
    rounds = 1

    def __init__(self, asking: Asking) -> None:
        super().__init__()
        self._asking = asking
        self._template = TemplateCoder()
        self._transcript: Transcript | None = None

    def loaded(self, text: str, path: Path, error: str = "") -> tuple[LoadedContract, int, int]:
        """Read a contract's text, with its prose answered."""
        data, form = text.encode(), FORMS.get(path.suffix, "yaml")
        self._transcript = None
        try:
            return parse_contract(data, form, path), 0, 0
        except ContractError as refused:
            root = read_source(data, form).root
            if root is None or not open_questions(refused):
                raise
        noted = {**root, "notes": f"{root.get('notes', '')}\n{error}"} if error else root
        self._transcript = told = self._asking.ask(noted)
        answered = parse_contract(with_answers(data, form, told.expressions), form, path)
        return answered, len(told.calls), told.cost

    def write(
        self, contract: AnyContract, contract_path: str, failures: tuple[Failure, ...] = ()
    ) -> Candidate:
        """Write what the template writes of the answered contract."""
        candidate = self._template.write(contract, contract_path, failures)
        return by_answers(candidate, self._transcript) if self._transcript else candidate
