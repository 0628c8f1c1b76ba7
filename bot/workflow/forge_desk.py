"""Reads, anew at each look, what a forge shows about an approval beside what Git and policy say."""

from dataclasses import dataclass, replace

from bot.approval.checks import Facts
from bot.approval.desk import Desk, Look
from bot.approval.grant import Wish
from bot.approval.host import Host, HostFile
from bot.approval.policy import people_needed, rules_for
from bot.approval.reasons import Refusal, refuse
from bot.approval.record import Mode, digest_of
from bot.approval.signers import Signer, Signers
from bot.approval.sshsig import APPROVAL
from bot.approval.subject import Subject
from bot.forge.deploys import Assent, Deploys, Gate, Pull
from bot.forge.port import Forge
from bot.forge.trigger import Actor
from bot.git.base import Base
from bot.settings import DEPLOY_WORKFLOW, FILE, DeployTarget, Settings, parse_settings
from bot.workflow.assent import Bench, judge, name_of_account
from bot.workflow.contracts import is_form_path
from bot.workflow.deploy_order import Order, Todo
from bot.workflow.environment_key import EnvironmentKey


@dataclass(frozen=True)
class ForgeDesk(Desk):
    """The places where the facts of an order are: repository, forge, and the environment's key.

    Attributes:
        run: the number of the run that this is part of; 0 where the forge runs nothing.
        key: None in jobs that do not meet it.
        served: whether a server does it all: it keeps the key itself, in no environment.
    """

    forge: Forge
    order: Order
    settings: Settings
    run: int = 0
    event: str = ""
    key: EnvironmentKey | None = None
    served: bool = False

    @property
    def machine(self) -> str:
        """Name the environment's key, as hosts list it."""
        return f"deploy@{self.order.environment}"

    @property
    def mode(self) -> Mode:
        """Say what the environment is for."""
        return "live" if self.order.environment == "live" else "paper"

    @property
    def target(self) -> DeployTarget:
        """Give where the environment's approvals are for.

        Raises:
            ApprovalRefused: not-configured.
        """
        found = self.settings.deploy.target(self.order.environment)
        if found is None:
            raise refuse("not-configured", f"deploy.{self.order.environment}")
        return found

    @property
    def deploys(self) -> Deploys:
        """Give the forge's approvals and deployments.

        Raises:
            ApprovalRefused: no-environment, for it has none.
        """
        if self.forge.deploys is None:
            raise refuse("no-environment", f"the forge {self.forge.kind} has none")
        return self.forge.deploys

    def host(self) -> Host:
        """Stand in for the host's own file, which lies on the host: it judges again, and more."""
        target = self.settings.deploy.target(self.order.environment)
        file = HostFile(
            host=target.host if target else "nowhere",
            environment=self.order.environment,
            accounts=(target.account,) if target else (),
            machines=(self.machine,),
        )
        lines = (Signer((self.machine,), self.key.public, (APPROVAL,)),) if self.key else ()
        return Host(file, Signers(lines))

    def look(self, tag: str, verified: str | None = None) -> Look:
        """Read everything: Git, policy and chain, then what the forge shows."""
        look = super().look(tag, verified)
        if self.order.todo is not Todo.DEPLOY:
            return replace(look, facts=replace(look.facts, granted=frozenset()))
        names, objections = self._approvals(look.facts, look.base)
        return replace(look, facts=replace(look.facts, granted=names, objections=objections))

    def wish(self, facts: Facts, approvers: frozenset[str]) -> Wish:
        """Say what a record of the order is to hold."""
        target, order = self.target, self.order
        asked = order.requester or self._asker(facts)
        text = f"{facts.repository}|{order.environment}|{order.commit}|{order.identity}"
        return Wish(
            mode=self.mode,
            account=target.account,
            capital=target.capital,
            max_order=target.max_order or target.capital,
            currency=target.currency,
            brokers=target.brokers,
            approvers=tuple(sorted(approvers)),
            symbols=target.symbols,
            run_days=target.run_days,
            start_hours=target.start_hours,
            reason=f"on GitHub by {order.identity}",
            replaces=order.replaces,
            older=order.older,
            requester=name_of_account(asked) if asked else "",
            nonce=digest_of(text.encode()).removeprefix("sha256:")[:32],
        )

    def needed(self, facts: Facts) -> int:
        """Count how many people have to approve: somebody always has to."""
        return max(1, people_needed(rules_for(facts.policy, self.mode), self.target.capital))

    def _approvals(self, facts: Facts, base: Base) -> tuple[frozenset[str], tuple[Refusal, ...]]:
        """Ask the forge who approved, and what else it shows."""
        subject, order = facts.subject, self.order
        if isinstance(subject, Refusal):
            return frozenset(), ()
        gate = Gate(order.environment) if self.served else self.deploys.gate(order.environment)
        pull = self.deploys.pull(order.number) if order.number else None
        wrong = [*self._about_target(base), *self._about_pull(pull, subject)]
        wrong += [] if self.served else self._about_place(gate, base)
        said = [*(self.deploys.assents(pull.number) if pull else ())]
        run_wrong, run_said = self._of_run(base)
        authors = self.deploys.authors(subject.changed_by)
        if not authors or (self._form_of(subject) and self._asker(facts) is None):
            wrong.append(Refusal("author-unknown", subject.author))
        halts = [halt.at for halt in facts.halts if halt.covers(str(order.task))]
        bench = Bench(
            order.commit,
            self._involved(facts, authors, pull),
            facts.now,
            max(halts, default=0),
            gate or Gate(order.environment),
            self.forge.people.may_command,
            self.deploys.goes_around,
        )
        names, remarks = judge([*said, *run_said], bench)
        if len(names) < (needed := self.needed(facts)):
            few = Refusal("too-few-approvers", f"{len(names)} of {needed}")
            wrong += [few, *remarks]
            if gate and not gate.waits and not names and not remarks and not self.served:
                wrong.append(Refusal("no-reviewers", gate.name))
        return names, tuple(dict.fromkeys((*wrong, *run_wrong)))

    def _about_target(self, base: Base) -> list[Refusal]:
        """Look whether the settings still say the same about the environment."""
        name = self.order.environment
        now = parse_settings(self.repository.read(base.commit, FILE)).deploy.target(name)
        same = now == self.settings.deploy.target(name)
        return [] if same else [Refusal("moved-meanwhile", f"deploy.{name} was changed")]

    def _about_place(self, gate: Gate | None, base: Base) -> list[Refusal]:
        """Look at what protects the key."""
        if gate is None:
            return [Refusal("no-environment", self.order.environment)]
        if not gate.is_open(base.branch):
            return []
        names = ", ".join(gate.branches or ("every branch",))
        return [Refusal("environment-open", f"{gate.name}: {names} may deploy")]

    def _about_pull(self, pull: Pull | None, subject: Subject) -> list[Refusal]:
        order = self.order
        if pull is None:
            return []
        if pull.from_fork:
            return [Refusal("fork", f"#{pull.number}")]
        wrong = []
        if not pull.is_open and not pull.is_merged and not order.older:
            wrong.append(Refusal("pull-closed", f"#{pull.number}"))
        if pull.head != order.commit and not order.older:
            wrong.append(Refusal("new-commit", f"#{pull.number} is at {pull.head[:12]}"))
        if subject.commit != order.commit:
            wrong.append(Refusal("tag-moved", f"{subject.tag} is at {subject.commit[:12]}"))
        return wrong

    def _of_run(self, base: Base) -> tuple[list[Refusal], tuple[Assent, ...]]:
        """Join a run with what was said about it; one that is not this order's says nothing."""
        if not self.run:
            return [], ()
        order, run = self.order, self.deploys.run(self.run)
        if run is None:
            return [Refusal("wrong-run", f"there is no run {self.run}")], ()
        then = parse_settings(self.repository.read(run.head, FILE)).deploy
        told = {
            "workflow": (run.path, DEPLOY_WORKFLOW),
            "event": (run.event, self.event),
            "branch": (run.branch, base.branch),
            "repository": (run.repository.casefold(), self.forge.repository.casefold()),
            "target": (then.target(order.environment), self.target),
        }
        for name, (found, wanted) in told.items():
            if found != wanted:
                return [Refusal("wrong-run", f"run {run.id} has another {name}")], ()
        return [], self.deploys.run_assents(run, order.commit, order.environment)

    def _involved(
        self, facts: Facts, authors: tuple[Actor, ...], pull: Pull | None
    ) -> frozenset[int]:
        """Give the numbers of those who wrote the contract or asked for anything of it."""
        people = [*authors, self._asker(facts), self.order.requester, pull.author if pull else None]
        run = self.deploys.run(self.run) if self.run and self.order.requester else None
        people += run.actors if run else ()
        return frozenset(each.id for each in people if each)

    def _asker(self, facts: Facts) -> Actor | None:
        """Find who filled in the form, where the contract came from one."""
        number = self._form_of(facts.subject)
        return self.deploys.asker(int(number)) if number.isdecimal() else None

    def _form_of(self, subject: Subject | Refusal) -> str:
        """Name the issue whose form became the contract; empty if none did."""
        if isinstance(subject, Refusal) or not is_form_path(subject.path, self.settings.contracts):
            return ""
        return subject.path.rpartition("_")[2].removesuffix(".yaml")
