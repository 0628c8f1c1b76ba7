"""A delivery to what it asks for: the stages of the workflow, one after another, in one process.

The same functions as the Action's jobs, with the same mistrust between them: the gates get files
and no token, and what they answer is judged again before anything is written.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import SecretStr

from bot.approval.reasons import ApprovalRefused
from bot.errors import InputError, SafetyStop, WorldError
from bot.forge.github.actions import Actions
from bot.forge.github.api import ApiError, GitHubApi
from bot.forge.github.opening import git_credentials
from bot.forge.reasons import Ignored, reason_of
from bot.proof.edges import Prover
from bot.server.clones import Clones
from bot.server.deliveries import Delivery
from bot.server.queue import Claim
from bot.server.settings import ServerSettings
from bot.server.tokens import DEPLOYS, Tokens
from bot.workflow.context import Context, ModelKeys, authorise, open_context, receive
from bot.workflow.deploy_order import asks_to_deploy, read_order
from bot.workflow.deploying import answer, carry_out
from bot.workflow.environment_key import EnvironmentKey
from bot.workflow.handover import Digests, read_talk
from bot.workflow.items import Item
from bot.workflow.stages import generate, run_gates
from bot.workflow.verifying import verify_commit
from bot.workflow.writing import announce, tell_failure, write
from bot.workshop import open_prover

FRESH_CLONE_EVERY = 3


class Stopping(Exception):
    """The server is asked to end; the delivery goes back to the queue."""


@dataclass(frozen=True)
class Done:
    """What became of a delivery."""

    outcome: str  # the states of its items, or the code of the reason why there was nothing to do
    detail: str = ""


class WorkerTools:
    """What a worker keeps from one delivery to the next."""

    def __init__(self, settings: ServerSettings, say: Callable[[str], None]) -> None:
        self.say = say
        self.settings = settings
        pace = dict(settings.passed_on).get("STRATWRIGHT_PACE", "")
        self.tokens = Tokens(
            settings.app,
            settings.key,
            settings.api_url,
            pace=float(pace) if pace else 1.0,
            more=DEPLOYS if settings.deploy_key else {},
        )
        self.clones = Clones(settings.state / "clones", settings.server_url)

    @cached_property
    def prover(self) -> Prover:
        """Opens what the gates need, and tries the sandbox, with the first candidate."""
        return open_prover(self.settings.sandbox, self.say)

    def environment(self, repository: str, token: SecretStr) -> dict[str, str]:
        """What a job of the workflow finds in its variables; no process inherits it."""
        return {
            **dict(self.settings.passed_on),
            "GITHUB_TOKEN": token.get_secret_value(),
            "GITHUB_REPOSITORY": repository,
            "GITHUB_API_URL": self.settings.api_url,
            "GITHUB_SERVER_URL": self.settings.server_url,
        }

    @property
    def scratch(self) -> Path:
        """Where the files between the stages lie; nothing in it outlives its delivery."""
        return self.settings.state / "scratch"


def handle(claim: Claim, tools: WorkerTools, stopping: Callable[[], bool] = lambda: False) -> Done:
    """Do what a delivery asks for; doing it again changes nothing.

    Raises:
        Stopping: the server ends first.
        StratwrightError: it could not be done, or not now.
    """
    repository = claim.delivery.repository
    token = tools.tokens.token(repository, claim.delivery.installation)
    tools.scratch.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=tools.scratch) as folder:
            context = _context(claim, tools, token, Path(folder))
            if asks_to_deploy(context):
                return _deploy(context, tools)
            work = receive(context)
            if isinstance(work, Ignored):
                return Done(work.reason, str(work))
            return _do_all(context, work, Path(folder), tools, stopping)
    except ApiError as error:
        if error.status == 401:
            tools.tokens.forget(repository)
        raise


def _deploy(context: Context, tools: WorkerTools) -> Done:
    """Approve, halt or roll back; the key is the server's own."""
    try:
        order = read_order(context)
    except ApprovalRefused as error:
        return Done(answer(context, ""), str(error))
    if isinstance(order, Ignored):
        return Done(order.reason, str(order))

    def verify(tag: str, commit: str) -> str:
        return verify_commit(context.repository, tag, commit, lambda: tools.prover, say=tools.say)

    secret = tools.settings.deploy_key
    key = EnvironmentKey(secret) if secret else None
    done = carry_out(context, order, verify, key)
    context.say(f"{order.task}: {done}")
    return Done(done, context.forge.spent())


def _context(claim: Claim, tools: WorkerTools, token: SecretStr, folder: Path) -> Context:
    delivery = claim.delivery
    environment = tools.environment(delivery.repository, token)
    place = tools.clones.prepare(
        delivery.repository,
        _default_branch(delivery, environment),
        git_credentials(environment),
        fresh=claim.attempts % FRESH_CLONE_EVERY == 0,
    )
    event = folder / "event.json"
    event.write_bytes(delivery.body)
    actions = Actions(
        delivery.event, event, delivery.repository, claim.seq, environment=environment
    )
    # The ledger of the server's own user holds the day for all its workers and repositories.
    settings = tools.settings
    limit = settings.model_limit_usd
    keys = ModelKeys(settings.model_key, settings.signing_key, limit_usd=limit)
    writer = tools.tokens.writer(token)
    return open_context(place, tools.say, actions, writer, may_push=True, keys=keys)


def _default_branch(delivery: Delivery, environment: Mapping[str, str]) -> str:
    named = json.loads(delivery.body)["repository"].get("default_branch")
    if isinstance(named, str) and named:
        return named
    api = GitHubApi(delivery.repository, environment["GITHUB_TOKEN"], environment["GITHUB_API_URL"])
    return str(api.get("")["default_branch"])


def _do_all(
    context: Context,
    work: tuple[Item, ...],
    folder: Path,
    tools: WorkerTools,
    stopping: Callable[[], bool],
) -> Done:
    """Do every item, whatever becomes of one; what failed for now is raised at the end."""
    states: list[str] = []
    failed: list[WorldError] = []
    for item in work:
        if stopping():
            raise Stopping
        try:
            states.append(_do(context, item, folder, tools))
        except WorldError as error:
            failed.append(error)
        except (InputError, SafetyStop) as error:
            # Told where the item was asked for; trying again would tell the same.
            states.append(reason_of(error))
            context.say(f"{item.path or item.at}: {error.message}")
    if failed:
        raise max(failed, key=lambda error: getattr(error, "wait_s", 0.0))
    detail = f"{len(states)} item(s). {context.forge.spent(len(states))}"
    return Done(",".join(sorted(set(states))), detail)


def _do(context: Context, item: Item, folder: Path, tools: WorkerTools) -> str:
    """One item through announce, generate, gates and write."""
    digests = Digests()
    if item.builds:
        announce(context, item)
        try:
            while case := generate(context, item, folder, digests):
                digests = Digests(case, digests.answers)
                if not read_talk(folder, item.key, case)[1]:
                    break  # no candidate came of it, so no sandbox is opened
                _, answers = run_gates(item.key, digests, folder, tools.prover)
                digests = Digests(case, answers)
        except (InputError, SafetyStop) as error:
            tell_failure(context, item, error, digests)
            raise
        if refusal := _still_allowed(context):
            return refusal.reason
    done = write(context, item, folder, digests)
    context.say(f"{item.path or item.at}: {done.state}{done.code}")
    return done.state


def _still_allowed(context: Context) -> Ignored | None:
    """Ask again before anything is written: permission may be lost while the gates run."""
    trigger = context.runner.trigger(context.settings.label)
    return trigger if isinstance(trigger, Ignored) else authorise(trigger, context.forge.people)
