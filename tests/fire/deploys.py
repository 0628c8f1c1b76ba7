"""The flows of the deploy workflow under fire: faults, crashes, duplicates, both, strangers.

A cell is right if the disturbed run ended as it should or said what to do, if nothing untrue was
told, and if the same request without the fault ends with the same entries, deployments and words.
"""

import copy
import io
import os
import random
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bot.approval.chain import BRANCH, Approval, Halt, Rollback
from tests.bot.workflow.deploys import JOBS, SETTINGS, Ran, Scene, make_scene, proposed, run_here
from tests.bot.workflow.hub import NAME, World, git, push, user
from tests.doubles.github import GitHubServer
from tests.doubles.github.delivery import WorkflowRun
from tests.doubles.github.git_store import GitStore
from tests.doubles.github.messages import Exchange
from tests.fire.bench import Child, WiredWorld, plain_git
from tests.fire.cells import KILLS, Cell, Verdict, cells_of, changes, inject, what_of
from tests.fire.snapshot import refs

Event = tuple[str, dict[str, Any]]
AT_ONCE, ROUNDS = 5, 4
_SPOKEN = re.compile(r"\[[a-z-]+\]|again|\bgive\b|\bask\b", re.IGNORECASE)


@dataclass(frozen=True)
class Flow:
    """An event about a deployment, and what has to be there before it.

    Attributes:
        prepare: makes the world before the event; gives the scene and the event.
        approver: who lets the run into its environment; empty if nobody is asked.
        code: how its last job ends.
    """

    name: str
    prepare: Callable[[Scene], tuple[Scene, Event]]
    approver: str = ""
    code: int = 0


def _comment(scene: Scene) -> tuple[Scene, Event]:
    return scene, scene.commented(scene.approval())


def _review(scene: Scene) -> tuple[Scene, Event]:
    scene.world.hosted.review(1, "bob")
    return scene, scene.dispatched()


def _run(scene: Scene) -> tuple[Scene, Event]:
    scene.world.hosted.add_environment("paper", ["cat"], branches=("main",))
    return scene, scene.dispatched()


def _live(scene: Scene) -> tuple[Scene, Event]:
    scene.world.hosted.review(1, "bob")
    return scene, scene.dispatched(environment="live")


def _merge(scene: Scene) -> tuple[Scene, Event]:
    scene.world.commit({"stratwright.yml": f"{SETTINGS}  on_merge: paper\n"})
    scene = proposed(scene, "two")
    scene.world.hosted.review(1, "bob")
    before = git(scene.world.bare, "rev-parse", "main")
    git(scene.world.bare, "update-ref", "refs/heads/main", scene.head)
    issue = scene.world.hosted.record.issues[1]
    assert issue.pull is not None
    issue.state, issue.pull.merged = "closed", scene.world.hub.state.time()
    issue.pull.head_sha = issue.pull.merge_commit = scene.head
    return scene, ("push", push(before, scene.head))


def _replacing(scene: Scene) -> tuple[Scene, Event]:
    scene.run(*scene.commented(scene.approval()))
    token = scene.records[0].record.token
    scene = proposed(scene, "two")
    scene.world.hosted.review(1, "bob")
    return scene, scene.dispatched(replace=token)


def _refused(scene: Scene) -> tuple[Scene, Event]:
    return scene, scene.commented(scene.approval("alice"))


def _halt(scene: Scene) -> tuple[Scene, Event]:
    scene.run(*scene.commented(scene.approval()))
    return scene, scene.commented(scene.say("/stratwright halt", "alice"))


def _rollback(scene: Scene) -> tuple[Scene, Event]:
    scene, event = _replacing(scene)
    assert scene.run(*event).codes["deploy"] == 0
    return scene, scene.commented(scene.say("/stratwright rollback", "alice"))


FLOWS = (
    Flow("approved by a comment", _comment),
    Flow("approved by a review", _review),
    Flow("approved in the environment", _run, "cat"),
    Flow("approved for live", _live),
    Flow("approved and merged", _merge),
    Flow("approved in place of another", _replacing),
    Flow("approval refused", _refused, code=1),
    Flow("halt by a comment", _halt),
    Flow("rollback by a comment", _rollback),
)


class _TokensMade(WiredWorld):
    """A world whose tokens were made before its process was."""

    made: dict[str, str]

    def token(self, permissions: dict[str, str] | None = None) -> str:
        return self.made[repr(sorted((permissions or {}).items()))]


@dataclass
class Stage:
    """One flow on a server of its own, that can be set back to the moment before the event."""

    folder: Path
    hub: GitHubServer
    flow: Flow
    scene: Scene = field(init=False)
    event: Event = field(init=False)
    run_id: int = field(init=False)
    calls: tuple[Exchange, ...] = field(init=False)
    clean: Ran = field(init=False)
    final: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        place = self.folder / "start"
        place.mkdir(parents=True)
        self.scene, self.event = self.flow.prepare(make_scene(place, self.hub))
        world = self.scene.world
        git(world.clone, "remote", "set-url", "origin", f"{self.hub.url}/{NAME}.git")
        for ref in (f"refs/remotes/origin/{BRANCH}", f"refs/heads/{BRANCH}"):
            git(world.clone, "update-ref", "-d", ref)
        self._clock = self.scene.clock.moment
        head = git(world.bare, "rev-parse", "main")
        actor, inputs = self.event[1]["sender"]["login"], self.event[1].get("inputs", {})
        where = (inputs.get("environment", "paper"),)
        path = ".github/workflows/stratwright-deploy.yml"
        self.run_id = world.hosted.add_run(path, head, self.event[0], actor, where).id
        state = {key: value for key, value in vars(self.hub.state).items() if key != "now"}
        self._state, self._places = copy.deepcopy(state), 0
        self._here = place
        self._kept = self.folder / "kept"
        shutil.copytree(place, self._kept)
        self.go_back()
        self.clean = self.run()
        self.calls, self.final = tuple(self.hub.requests), self.end()
        assert [*self.clean.codes.values()][-1] == self.flow.code, self.clean.log
        again = self.run()
        assert (again.codes, self.end()) == (self.clean.codes, self.final), again.log

    def go_back(self) -> None:
        """Make the world what it was before the event."""
        shutil.rmtree(self._here)
        self._places += 1
        self._here = self.folder / f"cell-{self._places}"
        shutil.copytree(self._kept, self._here)
        self.hub.faults.clear()
        del self.hub.requests[:]
        vars(self.hub.state).update(copy.deepcopy(self._state))
        self.hub.state.repositories[NAME].git = GitStore(self._here / "bare.git")
        bare, clone = self._here / "bare.git", self._here / "clone"
        world = WiredWorld(self.hub, self.hub.repository(NAME), bare, clone)
        self.scene = replace(self.scene, world=world)
        self.scene.clock.moment = self._clock

    def _let_in(self, run: WorkflowRun) -> None:
        if self.flow.approver and not run.approvals:
            self.scene.world.hosted.approve_run(run, "paper", self.flow.approver)

    def run(self, runner: Callable[[list[str], io.StringIO], int] = run_here) -> Ran:
        """Let the event go through the jobs; the same run, whenever it is started again."""
        shown = self.scene.world.hosted.record.runs[self.run_id]
        return self.scene.run(*self.event, run=shown, approve=self._let_in, runner=runner)

    def end(self) -> dict[str, Any]:
        """What is there now: entries, deployments, incidents, refs and the comment's first line."""
        record = self.scene.world.hosted.record
        entries = []
        for entry in self.scene.chain.entries:
            told: tuple[object, ...] = (entry.kind,)
            if isinstance(entry, Approval):
                given = entry.record
                told += (given.tag, given.commit, given.nonce, given.approvers, given.environment)
            elif isinstance(entry, Halt | Rollback):
                told += (entry.scope, entry.by, entry.reason)
            entries.append(told)
        made = [
            (d.environment, d.sha, d.statuses[-1].state if d.statuses else "")
            for d in record.deployments.values()
        ]
        issues = [issue.title for issue in record.issues.values() if issue.pull is None]
        title = re.sub(r"[0-9]{10}", "N", self.scene.told.split("\n")[1]) if self.scene.told else ""
        others = {name: sha for name, sha in refs(self.scene.world).items() if BRANCH not in name}
        return {
            "entries": entries, "deployments": made, "issues": issues, "told": title, "refs": others
        }  # fmt: skip

    def untrue(self) -> str:
        """The first thing that was told and is not so."""
        entries, told = self.scene.chain.entries, self.scene.told
        tokens = [entry.record.token for entry in entries if isinstance(entry, Approval)]
        for token in re.findall(r"### Approved for [a-z-]+: (\S+)", told):
            if token not in tokens:
                return f"{token} is told and not there"
        stopped = any(isinstance(entry, Halt) for entry in entries)
        if re.search(r"### (Halted|Rolled back)", told) and not stopped and "branch: " not in told:
            return "a halt is told that no entry orders"
        shown = [state for *_, state in self.end()["deployments"]]
        return "a deployment without a record" if shown.count("success") > len(tokens) else ""

    def cells(self, kinds: tuple[str, ...]) -> Iterator[Cell]:
        """Everything that can go wrong in this flow."""
        return cells_of(self.flow.name, self.calls, kinds)

    def try_cell(self, cell: Cell) -> Verdict:
        """Let it happen, ask again without it, and compare."""
        what = what_of(self.calls[cell.call])
        self.go_back()
        child = None
        if cell.kind in KILLS:
            child = Child(signal.SIGINT if cell.kind == "interrupted" else signal.SIGKILL)
        hit = inject(self.hub, cell.kind, self.calls[: cell.call], child)
        ran = self.run(child or run_here)
        self.hub.faults.clear()
        if not hit():
            return Verdict(cell, what, "", "the call never came")
        end, why = self._first(ran, killed=child is not None)
        if not why and end != "at once":  # what comes after the clean end is known
            why = self.second()
        return Verdict(cell, what, end, why)

    def _first(self, ran: Ran, *, killed: bool) -> tuple[str, str]:
        if lie := self.untrue():
            return "", f"told untruly: {lie}"
        if killed:
            return "next run", ""
        if ran.codes == self.clean.codes:
            now = self.end()
            odd = [part for part, value in self.final.items() if now[part] != value]
            return ("", f"ended well, but {odd[0]}: {now[odd[0]]}") if odd else ("at once", "")
        if 3 in ran.codes.values() or not _SPOKEN.search(ran.log + ran.summary):
            return "", f"{ran.codes}: {ran.log[-300:]}"
        return "next run", ""

    def second(self) -> str:
        """Ask again; gives what is not as after a clean run."""
        ran, now = self.run(), self.end()
        odd = [part for part, value in self.final.items() if now[part] != value]
        if odd:
            return f"{odd[0]}: {now[odd[0]]!r:.300} for {self.final[odd[0]]!r:.300}"
        if ran.codes != self.clean.codes:
            return f"the next run ended with {ran.codes}: {ran.log[-300:]}"
        return self.untrue()

    def at_once(self, kills: int = 0, seed: int = 0) -> list[int]:
        """The same run in several processes, each in its own clone; some of them are killed."""
        chance, pids = random.Random(seed), []
        tokens = {}
        for job in JOBS.values():
            rights = {name.replace("-", "_"): level for name, level in job["permissions"].items()}
            tokens[repr(sorted(rights.items()))] = self.scene.world.token(rights)
        shown = self.scene.world.hosted.record.runs[self.run_id]
        self._let_in(shown)
        for number in range(AT_ONCE):
            place = self._here / f"own-{self._places}-{seed}-{number}"
            shutil.copytree(self._kept / "clone", place / "clone")
            world = _TokensMade(self.hub, self.scene.world.hosted, self.scene.world.bare,
                                place / "clone")  # fmt: skip
            world.made = tokens
            pid = os.fork()
            if pid == 0:
                code = 3
                try:
                    ran = replace(self.scene, world=world).run(*self.event, run=shown)
                    code = max(ran.codes.values())
                finally:
                    os._exit(code)
            pids.append(pid)
        doomed, seen = chance.sample(pids, kills), [0]
        moments = {chance.randrange(AT_ONCE * len(self.calls)): pid for pid in doomed}

        def count(request: object) -> bool:
            seen[0] += 1
            pid = moments.pop(seen[0], 0)
            if pid in alive:
                os.kill(pid, signal.SIGKILL)
            return False

        alive, codes = {*pids}, []
        self.hub.faults.add(match=count)
        for pid in pids:
            # Left where it is until it is no target any more: its number is nobody else's yet.
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            alive.discard(pid)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        self.hub.faults.clear()
        return codes

    def often(self, kills: int = 0, rounds: int = ROUNDS) -> str:
        """The event many times, some of them at once; gives what is wrong, or nothing."""
        self.go_back()
        for seed in range(rounds):
            codes = self.at_once(kills, seed)
            if 3 in codes:
                return f"exit codes {codes}"
        return self.untrue() or self.second()


def open_stage(folder: Path, flow: Flow, stack: ExitStack) -> Stage:
    """Start a server for a flow."""
    plain_git()
    return Stage(folder, stack.enter_context(GitHubServer()), flow)


MALLORY = user("mallory", 2002)
STRANGERS = {
    "a stranger": (MALLORY, "no-permission"),
    "somebody who took over a login": (user("bob", 2002), "no-permission"),
    "a bot": (user("dependabot[bot]", 49699333, "Bot"), "bot"),
    "the bot itself": (user("github-actions[bot]", 41898282, "Bot"), "bot"),
}
QUOTED = ("> {}", "```\n{}\n```", "    {}", "`{}`", "<!-- {} -->", "Do not write\n{}", "\u200b{}")


def strange_events(scene: Scene) -> Iterator[tuple[str, Event, str]]:
    """What must lead to nothing: its name, the event, and the code of the reason."""
    words = (f"/stratwright approve {scene.head}", "/stratwright halt", "/stratwright rollback")
    for name, (who, code) in STRANGERS.items():
        for text in words:
            event, payload = scene.commented(scene.say(text))
            payload["comment"]["user"] = payload["sender"] = who
            yield f"{name}: {text[:20]}", (event, payload), code
        event, payload = scene.dispatched("bob")
        yield f"{name}: dispatch", (event, {**payload, "sender": who}), code
    for form in QUOTED:
        for text in words:
            said = scene.commented(scene.say(form.format(text)))
            yield f"{form!r}: {text[:20]}", said, "no-command"
    home = {**scene.dispatched()[1]["repository"], "full_name": "mallory/strategies", "fork": True}
    for event, payload in (scene.dispatched(), scene.commented(scene.approval())):
        yield f"a fork's {event}", (event, {**payload, "repository": home}), "malformed-event"
        yield f"{event} as pull_request", ("pull_request", payload), "not-our-event"
    event, payload = scene.commented(scene.approval())
    yield "an edited comment", (event, {**payload, "action": "edited"}), "not-our-action"


def try_strangers(scene: Scene) -> Iterator[tuple[str, str, str]]:
    """Send each; gives its name, its code and what is wrong, or nothing."""
    world: World = scene.world
    head = git(world.bare, "rev-parse", "main")
    shown = world.hosted.add_run(".github/workflows/stratwright-deploy.yml", head)
    for name, event, code in strange_events(scene):
        before, begun = refs(world), len(world.hub.requests)
        ran = scene.run(*event, run=shown)
        writes = [what_of(call) for call in world.hub.requests[begun:] if changes(call)]
        wrong = ""
        if ran.codes != {"gate": 0} or ran.outputs.get("todo"):
            wrong = f"{ran.codes} {ran.outputs}"
        elif f"[{code}]" not in ran.log:
            wrong = f"another reason: {ran.log[-200:]}"
        elif writes or refs(world) != before or scene.states():
            wrong = f"something was written: {writes}"
        yield name, code, wrong
