"""A proposed task on a GitHub of our own with an environment, and the jobs that deploy it."""

import contextlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from bot.approval.chain import BRANCH, Approval, Chain, link
from bot.cli import main
from bot.git.repository import Repository, open_repository
from bot.settings import DEPLOY_WORKFLOW
from bot.workflow import deploying
from bot.workflow.starter import OWN, deploy_text
from tests.bot.approval.keys import Key
from tests.bot.approval.worlds import CONTRACT, ROOT, Floor, Hand, propose
from tests.bot.git.worlds import TASK
from tests.bot.workflow.hub import World, comment, git, make_world, repository, user
from tests.bot.workflow.line import read_outputs, variables
from tests.doubles.github import GitHubServer
from tests.doubles.github.delivery import WorkflowRun
from tests.doubles.github.state import Comment

JOBS = yaml.safe_load(deploy_text(OWN))["jobs"]
BOT = "github-actions[bot]"
BOB, CAT, ROOTY = 3001, 3002, 3003
KEY = Key("deploy@paper")
TARGET = "{host: trader-1, account: main}"
SETTINGS = f"deploy:\n  paper: {TARGET}\n  live: {TARGET}\n"


Runner = Callable[[list[str], io.StringIO], int]


def run_here(arguments: list[str], heard: io.StringIO) -> int:
    """Run a job in this process."""
    with contextlib.redirect_stderr(heard):
        return main(arguments)


@dataclass
class Ran:
    """What the jobs of one run did."""

    codes: dict[str, int] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    log: str = ""


@dataclass
class Place:
    """A checkout, as the helpers of Git's tests take it."""

    work: Path

    def open(self) -> Repository:
        return open_repository(self.work)


@dataclass
class Scene:
    """A pull request of the bot, number 1, at a tag that can be deployed."""

    world: World
    tag: str
    head: str
    number: int = 1
    clock: Hand = field(default_factory=Hand)

    @property
    def chain(self) -> Chain:
        """The branch of approvals at the remote."""
        bare = self.world.bare
        listed = git(bare, "for-each-ref", "--format=%(objectname)", f"refs/heads/{BRANCH}")
        if not listed:
            return Chain()
        names = git(bare, "ls-tree", "--name-only", listed).split()
        files = {name: git(bare, "cat-file", "blob", f"{listed}:{name}") for name in names}
        return link({name: text.encode() for name, text in files.items()}, listed)

    @property
    def records(self) -> list[Approval]:
        """The approvals in it."""
        return [entry for entry in self.chain.entries if isinstance(entry, Approval)]

    @property
    def told(self) -> str:
        """The comment that says where the approval stands."""
        comments = self.world.hosted.record.comments.values()
        mine = [each.body for each in comments if each.body.startswith("<!-- stratwright:approval")]
        assert len(mine) <= 1
        return mine[0] if mine else ""

    def states(self, environment: str = "paper") -> list[str]:
        """The last state of each deployment of an environment, the oldest first."""
        made = self.world.hosted.record.deployments.values()
        ours = [each for each in made if each.environment == environment]
        return [each.statuses[-1].state for each in ours if each.task.startswith("stratwright:")]

    def say(self, words: str, author: str = "bob") -> Comment:
        return self.world.hosted.say(self.number, words, author)

    def approval(self, author: str = "bob") -> Comment:
        return self.say(f"/stratwright approve {self.head}", author)

    def commented(self, said: Comment, on_pull: bool = True) -> tuple[str, dict[str, Any]]:
        """The event of a comment."""
        who = user(said.author.login, said.author.id, said.author.kind)
        payload = comment(said.number, said.body, who, on_pull=on_pull, comment_id=said.id)
        return "issue_comment", payload

    def dispatched(self, actor: str = "alice", **inputs: str) -> tuple[str, dict[str, Any]]:
        """The event of the workflow started by hand."""
        plain = {"tag": self.tag, "commit": self.head, "environment": "paper"}
        who = self.world.hub.state.account(actor)
        payload = {
            "ref": "refs/heads/main",
            "inputs": {**plain, **inputs},
            "repository": repository(),
            "sender": user(who.login, who.id),
        }
        return "workflow_dispatch", payload

    @contextlib.contextmanager
    def _at(self) -> Iterator[None]:
        """Let the jobs read the scene's clock."""
        before, deploying.MACHINE_CLOCK = deploying.MACHINE_CLOCK, self.clock
        try:
            yield
        finally:
            deploying.MACHINE_CLOCK = before

    def run(
        self,
        event: str,
        payload: dict[str, Any],
        *,
        run: WorkflowRun | None = None,
        approve: Callable[[WorkflowRun], None] = lambda run: None,
        between: Callable[[str], None] = lambda job: None,
        verified: str = "holds",
        key: Key = KEY,
        only: tuple[str, ...] = (),
        runner: Runner = run_here,
    ) -> Ran:
        """Let an event go through the jobs of the deploy workflow; verify's answer is given.

        Args:
            event: its name; payload: as GitHub sends it.
            run: as GitHub shows it; made here by default.
            approve: what a reviewer does with it when the gate has ended.
            between: is called before each job.
            verified: what `verify` says.
            key: the environment's.
            only: these jobs alone, of a run that is there.
            runner: runs one job.
        """
        world = self.world
        actor = payload["sender"]["login"]
        head = git(world.bare, "rev-parse", "main")
        place = payload.get("inputs", {}).get("environment", "paper")
        shown = run or world.hosted.add_run(DEPLOY_WORKFLOW, head, event, actor, (place,))
        folder = world.clone.parent / f"run-{shown.id}"
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        ran = Ran()

        def job(name: str, stage: str, *arguments: str, **more: str) -> None:
            if only and name not in only:
                return
            between(name)
            self.clock.pass_by(seconds=5)
            base = world.environment(
                event,
                payload,
                GITHUB_STEP_SUMMARY=str(folder / "summary"),
                GITHUB_RUN_ID=str(shown.id),
            )
            world.fetch()
            git(world.clone, "fetch", "-q", str(world.bare), "+refs/tags/*:refs/tags/*")
            rights = JOBS[name]["permissions"]
            token = world.token({key.replace("-", "_"): level for key, level in rights.items()})
            told = {"GITHUB_TOKEN": token, "GITHUB_OUTPUT": str(folder / name), **more}
            heard = io.StringIO()
            given = ["event", stage, "--repository", str(world.clone), *arguments]
            with variables({**base, **told}), self._at():
                ran.codes[name] = runner(given, heard)
            ran.log += heard.getvalue()

        job("gate", "deploy-gate")
        ran.outputs = read_outputs(folder / "gate")
        todo, subject = ran.outputs.get("todo", ""), ran.outputs.get("subject", "")
        answer = f"{subject.split()[-1]} {verified}" if subject else ""
        approve(shown)
        if todo in ("halt", "rollback"):
            job("stop", "deploy-stop")
        holds = verified == "holds" or "deploy" in only
        if todo == "deploy" and holds:
            place = f"--environment={ran.outputs['environment']}"
            secret = {"STRATWRIGHT_DEPLOY_PRIVATE_KEY": key.pem}
            job("deploy", "deploy-sign", f"--answers={answer}", place, **secret)
        if todo in ("rollback", "refuse") or (todo == "deploy" and not holds):
            job("answer", "deploy-answer", f"--answers={answer}")
        summary = folder / "summary"
        ran.summary = summary.read_text() if summary.exists() else ""
        return ran


def make_scene(folder: Path, hub: GitHubServer, settings: str = SETTINGS) -> Scene:
    """Alice wrote the contract; Bob and Cat may write too; the bot proposed it."""
    world = make_world(folder, hub)
    hub.limits.per_hour = hub.limits.per_hour_in_actions = 1_000_000  # all runs in one hour
    scene = Scene(world, "", "")
    hub.state.now = scene.clock.now
    hub.state.mails["somebody@example.com"] = "alice"
    for login, number in (("bob", BOB), ("cat", CAT), ("rooty", ROOTY)):
        hub.add_user(login, id=number)
        world.hosted.set_permission(login, "admin" if login == "rooty" else "write")
    world.commit(
        {
            CONTRACT: (ROOT / CONTRACT).read_text("utf-8"),
            "stratwright.yml": settings,
            DEPLOY_WORKFLOW: deploy_text(OWN),
        }
    )
    world.hosted.add_environment("paper", branches=("main",))
    world.hosted.add_environment("live", branches=("main",))
    return proposed(scene)


def proposed(scene: Scene, content: str = "one", *, open_pull: bool = True) -> Scene:
    """A candidate on the task's branch, with its tag, and the pull request."""
    world = scene.world
    floor = Floor(Place(world.clone), world.clone, Hand())  # type: ignore[arg-type]
    with variables(world.git_variables):
        tag = propose(floor, content)
    head = git(world.bare, "rev-parse", f"{tag}^{{commit}}")
    if open_pull and not any(world.hosted.record.pulls()):
        from tests.bot.workflow.proposals import forge_of

        body = {"title": "x", "head": TASK.branch, "base": "main", "body": "x"}
        world.hosted.settings.can_approve_pull_request_reviews = True
        forge_of(world).api.write("POST", "pulls", body)
    return replace(scene, tag=tag, head=head)
