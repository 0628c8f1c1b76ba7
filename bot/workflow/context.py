"""Opens what a stage works with from a job's environment; finds the work its event asks for."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from bot.bus.port import open_bus
from bot.coder.model.agent_coder import Asking
from bot.errors import SafetyStop
from bot.forge.port import Forge, People, Runner, open_runner
from bot.forge.reasons import Ignored, NotAnyMore, Reason
from bot.forge.trigger import Push, Trigger
from bot.gates.freqtrade.installation import find_freqtrade
from bot.git.repository import Repository, open_repository
from bot.proof.edges import Prover, Workshop
from bot.settings import FILE, Committer, Settings, parse_settings
from bot.workflow.costs import left_today
from bot.workflow.items import Item
from bot.workflow.work import make_work
from bot.workshop import asking_with, may_ask, open_coder, sign_digest
from sandbox_runner.recording import ReplayingSandbox


@dataclass(frozen=True)
class ModelKeys:
    """What asking a model needs; of the jobs, generate alone has them.

    Attributes:
        model: the model's own; without one nobody is asked.
        signing: signs what was answered; without one nothing is signed.
        ceiling: what may be spent, in millionths of a US dollar; None where the machine's own
            ledger holds the day.
        limit_usd: what the holder of the key lets a day cost, where that is not the repository:
            then its settings can only lower it, and say no prices.
    """

    model: SecretStr | None = None
    signing: SecretStr | None = None
    ceiling: int | None = None
    limit_usd: float | None = None


@dataclass(frozen=True)
class Context:
    """Everything a stage uses. Its sandbox runs nothing: only the gates stage has a real one."""

    runner: Runner
    repository: Repository
    forge: Forge
    settings: Settings
    say: Callable[[str], None]
    keys: ModelKeys = ModelKeys()

    def asking(self) -> Asking | None:
        """Open what asks a model, where this job may."""
        coder, keys, ledger = self.settings.coder, self.keys, None
        if keys.model is None or not keys.model.get_secret_value() or not may_ask(coder):
            return None
        if keys.limit_usd is not None:
            today = min(coder.max_cost_per_day_usd, keys.limit_usd)
            own = {"max_cost_per_day_usd": today, "price_per_million_usd": None}
            coder = coder.model_copy(update=own)
        if keys.ceiling is not None:
            most = min(keys.ceiling, left_today(self.repository, coder)) if keys.ceiling else 0
            coder = coder.model_copy(update={"max_cost_per_day_usd": most / 1e6})
            ledger = self.repository.folder / "ceilings" / str(self.runner.run)
        return asking_with(coder, keys.model.get_secret_value(), ledger)

    def sign(self, digest: str) -> str:
        """Sign a transcript's digest; empty where this job has no key for it."""
        key = self.keys.signing.get_secret_value() if self.keys.signing else ""
        return sign_digest(digest, key) if key else ""

    def workshop(self, *, regenerate: bool = False) -> Workshop:
        """Open the edges of a line that runs no code.

        Only the job that runs code needs Freqtrade; the others judge what it answered.
        """
        asking = self.asking()
        return Workshop(
            repository=self.repository,
            forge=self.forge,
            bus=open_bus(self.repository.folder, self.repository.repository_id),
            open_coder=lambda contract: open_coder(contract, self.settings),
            open_prover=lambda: Prover(ReplayingSandbox(), say=self.say),
            regenerate=regenerate,
            freqtrade=find_freqtrade(),
            freqtrade_elsewhere=self.settings.freqtrade,
            require_targets=self.settings.require_targets,
            say=self.say,
            ask=asking.ask if asking else None,
            kept_answers=self.repository.folder / "answers",
            sign=self.sign,
            signers=self.settings.coder.signers,
        )


@dataclass(frozen=True)
class Writer:
    """Under which name an App writes and commits."""

    login: str
    email: str


def open_context(
    place: Path,
    say: Callable[[str], None] = lambda line: None,
    runner: Runner | None = None,
    writer: Writer | None = None,
    *,
    may_push: bool = False,
    keys: ModelKeys | None = None,
) -> Context:
    """Open the repository and its forge, with the settings that the base branch has.

    The `runner` is by default the job that this runs in; `writer` is the App that does the work,
    where it is not the workflow's own. Only the last stage `may_push`; only the one that writes
    candidates is given `keys` of a model.

    Raises:
        InputError: something is missing in the environment or the checkout.
    """
    runner = runner or open_runner()
    first = open_repository(place, to_write=False)
    settings = parse_settings(first.read(first.base().commit, FILE))
    if writer is not None:
        settings = _written_by(settings, writer)
    repository = open_repository(
        place,
        environment=_committer(settings) if writer else _identity(first, settings),
        credentials=runner.credentials(),
        may_push=may_push,
    )
    forge = runner.open_forge(repository, settings)
    if forge.repository.casefold() != repository.repository_id.casefold():
        raise SafetyStop(
            f"the checkout is of {repository.repository_id}, the event of {forge.repository}",
            "Check out the repository that the event is about.",
        )
    return Context(runner, repository, forge, settings, say, keys or ModelKeys())


def receive(context: Context, keys: Collection[str] | None = None) -> tuple[Item, ...] | Ignored:
    """Read the event, ask whether its actor may order, and find the work, or only some of it."""
    settings = context.settings
    trigger = context.runner.trigger(settings.label)
    if isinstance(trigger, Ignored):
        return trigger
    if trigger.repository.casefold() != context.forge.repository.casefold():
        return Ignored(Reason.MALFORMED, "it is about another repository")
    refusal = authorise(trigger, context.forge.people)
    return refusal or make_work(trigger, context.repository, context.forge, settings, keys)


def authorise(trigger: Trigger, people: People) -> Ignored | None:
    """Orders are taken from people who could push; a push has shown that itself."""
    if isinstance(trigger, Push) or people.may_command(trigger.actor):
        return None
    return Ignored(Reason.NO_PERMISSION)


def find_items(context: Context, keys: list[str]) -> list[Item]:
    """The items of a job, computed anew; what is not asked for any more is left out.

    A pull request to close may be closed by now: by a person, or by this job when it ran before.

    Raises:
        NotAnyMore: the event does not lead to any work any more.
    """
    work = receive(context, keys)
    if isinstance(work, Ignored):
        raise NotAnyMore(work)
    known = {item.key: item for item in work}
    for key in keys:
        if key not in known:
            context.say(f"{key}: nothing to do any more")
    return [known[key] for key in keys if key in known]


def _identity(repository: Repository, settings: Settings) -> dict[str, str]:
    """Who commits: Git's own configuration, else the settings."""
    known = repository.git.run("config", "--get", "user.email").text
    return {} if known else _committer(settings)


def _committer(settings: Settings) -> dict[str, str]:
    committer = settings.committer
    return {"GIT_COMMITTER_NAME": committer.name, "GIT_COMMITTER_EMAIL": committer.email}


def _written_by(settings: Settings, writer: Writer) -> Settings:
    """The App's comments are found by its login; it commits too, unless the settings name one."""
    named = settings.committer != Committer()
    own = settings.committer if named else Committer(name=writer.login, email=writer.email)
    return settings.model_copy(update={"bot": writer.login, "committer": own})
