"""Reads everything that an approval is held against, anew at each look."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from adapters.clock import Clock
from bot.approval.chain import BRANCH, EVERYTHING, Chain, Entry, append, read_chain
from bot.approval.checks import Facts
from bot.approval.claims import chain_halts, read_claims
from bot.approval.host import Host, read_host
from bot.approval.host_state import HaltSeen, HostState
from bot.approval.policy import is_looser, tighten
from bot.approval.reasons import ApprovalRefused, Refusal
from bot.approval.subject import Subject, read_subject
from bot.bus.port import APPROVALS, Event, EventName, open_bus
from bot.errors import InputError
from bot.git.base import Base
from bot.git.repository import Repository
from bot.settings import FILE, ApprovalPolicy, parse_settings


@dataclass(frozen=True)
class Look:
    """What was there at one moment: the facts, their chain, and the default branch."""

    facts: Facts
    chain: Chain
    base: Base

    def same_bytes(self, other: "Look") -> bool:
        """Says whether two looks saw the same tag, host, policy and approvals."""
        names = ("subject", "host", "policy", "loosened", "granted", "objections")
        return all(getattr(self.facts, name) == getattr(other.facts, name) for name in names)


@dataclass(frozen=True)
class Desk:
    """The places where an approval's facts are: repository, host and clock."""

    repository: Repository
    host_file: Path
    state: HostState
    clock: Clock

    def now(self) -> int:
        """Tells the second of the host's own clock."""
        return int(self.clock.now().timestamp())

    def host(self) -> Host:
        """Reads the host's own file."""
        return read_host(self.host_file, self.repository.root)

    def chain(self, *, alone: bool = False) -> Chain:
        """Reads the chain, and remembers its head.

        Raises:
            ApprovalRefused: chain-broken or chain-rewound.
        """
        branch = self.repository.side_branch(BRANCH)
        chain = read_chain(branch, self.state.seen, alone=alone)
        self.state.remember(chain.seen)
        return chain

    def write(self, chain: Chain, entry: Entry) -> Chain:
        """Appends an entry, and remembers the new head."""
        longer = append(self.repository.side_branch(BRANCH), chain, entry)
        self.state.remember(longer.seen)
        return longer

    def look(self, tag: str, verified: str | None = None) -> Look:
        """Reads everything.

        Raises:
            InputError: the host's file or the tag's name cannot be used.
            ApprovalRefused: the chain cannot be believed.
        """
        now = self.now()
        host = self.host()
        base = self.repository.default_base()
        wished = self._policy(base.commit)
        subject: Subject | Refusal
        try:
            subject = read_subject(self.repository, tag)
            loosened = self._loosened(subject.commit, base.commit)
        except ApprovalRefused as error:
            subject, loosened = error.refusals[0], False
        chain = self.chain()
        if host.file.first_seen and host.file.first_seen not in chain.digests:
            raise ApprovalRefused(Refusal("chain-rewound", "the host's first_seen is not in it"))
        facts = Facts(
            now=now,
            repository=self.repository.repository_id,
            host=host,
            policy=tighten(host.floor, wished),
            subject=subject,
            loosened=loosened,
            latest=self.state.latest(now),
            claims=read_claims(chain),
            halts=(*self.halts(now), *chain_halts(chain, now)),
            starts=self.state.starts(),
            verified=verified,
        )
        return Look(facts, chain, base)

    def halts(self, now: int) -> tuple[HaltSeen, ...]:
        """Gathers the halts of this host and of the bus, and remembers the bus's for good."""
        return self.state.halts(now, bus_halts(self._events()))

    def _loosened(self, commit: str, base: str) -> bool:
        """Says whether a commit asks for less than where it left the default branch.

        A policy that became stricter since holds anyway, and makes no older tag unusable.
        """
        left = self.repository.git.run("merge-base", commit, base).text
        return is_looser(self._policy(commit), self._policy(left or base))

    def _policy(self, commit: str) -> ApprovalPolicy:
        entry = self.repository.objects.entry(commit, FILE)
        if entry and not entry.is_file:
            hint = "A policy behind a link would not be read: make it a file."
            raise InputError(f"{FILE} of {commit[:12]} is no plain file", hint)
        return parse_settings(self.repository.read(commit, FILE)).approval

    def _events(self) -> Iterable[Event]:
        return open_bus(self.repository.folder, self.repository.repository_id).read(APPROVALS)


def bus_halts(events: Iterable[Event]) -> Iterable[HaltSeen]:
    """Reads the halts among events; nobody signs them, as they can only stop."""
    for event in events:
        if event.name is EventName.HALTED:
            scope = EVERYTHING if event.workflow == "*" else f"{event.workflow}/{event.task}"
            at = int(datetime.fromisoformat(event.timestamp).timestamp())
            yield HaltSeen(scope, at, "bus", str(event.data.get("reason", "")))


def verified_look(desk: Desk, tag: str, verified: str, before: Look) -> Look:
    """Looks again, and stops if anything that was judged has changed since.

    Raises:
        ApprovalRefused: moved-meanwhile.
    """
    now = desk.look(tag, verified)
    if not now.same_bytes(before):
        detail = f"{tag}, the host's file or the policy is not what it was"
        raise ApprovalRefused(Refusal("moved-meanwhile", detail))
    return now
