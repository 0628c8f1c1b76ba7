"""A repository with a tag to approve, a host with its file, and people with keys."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.approval.checks import Facts
from bot.approval.claims import Claim
from bot.approval.desk import Desk
from bot.approval.grant import Wish, grant
from bot.approval.host_state import HostState
from bot.approval.record import Record, digest_of
from bot.approval.sshsig import APPROVAL, sign
from bot.git.identity import TaskName
from bot.git.proposal import Proposal
from bot.git.repository import open_repository
from tests.bot.approval.keys import Key
from tests.bot.git.worlds import TASK, World, commit_file, draft, make_world, sh

ROOT = Path(__file__).parents[3]
CONTRACT = "contracts/oversold_dip.yaml"
BOB, CAT, DEPLOY = Key("bob@example.com"), Key("cat@example.com"), Key("deploy@live")
LOCK = digest_of(b"lock")
NOON = datetime(2026, 11, 17, 12, tzinfo=UTC)


@dataclass
class Hand:
    """A clock that the test moves."""

    moment: datetime = NOON

    def now(self) -> datetime:
        return self.moment

    def pass_by(self, **time: int) -> None:
        self.moment += timedelta(**time)


@dataclass
class Person:
    """Somebody at a door: confirms and signs; `meanwhile` happens before the answer."""

    key: Key
    meanwhile: Callable[[str], None] = lambda step: None
    shown: list[Record] = field(default_factory=list)

    def confirm(self, record: Record, facts: Facts) -> None:
        self.shown.append(record)
        self.meanwhile("confirm")

    def sign(self, data: bytes) -> str:
        self.meanwhile("sign")
        return sign(self.key.private, data)


@dataclass(frozen=True)
class Floor:
    """The world of Git, and the host beside it."""

    world: World
    home: Path
    clock: Hand

    def desk(self) -> Desk:
        state = HostState(self.home / "state" / "repository")
        repository = open_repository(self.world.work, to_write=False)
        return Desk(repository, self.home / "approval.yml", state, self.clock)

    def host_file(self, text: str = "", environment: str = "paper") -> None:
        lines = [f"{key.name} {key.line}\n" for key in (BOB, CAT)]
        lines.append(f'deploy@live namespaces="{APPROVAL}" {DEPLOY.line}\n')
        (self.home / "allowed_signers").write_text("".join(lines))
        path = self.home / "approval.yml"
        path.write_text(
            f"host: trader-1\nenvironment: {environment}\naccounts: [main]\n"
            f"machines: [deploy@live]\n{text}"
        )
        for each in (path, self.home / "allowed_signers"):
            each.chmod(0o600)

    def approve(self, tag: str, who: Key = BOB, **wish: object) -> Claim:
        person = Person(who)
        desk, asked = self.desk(), make_wish(who, **wish)
        return grant(desk, tag, asked, person, lambda tag, commit: "holds", LOCK)


def make_wish(who: Key = BOB, **other: object) -> Wish:
    plain = Wish(
        mode="paper",
        account="main",
        capital="1000",
        max_order="100",
        currency="USDT",
        brokers=("paper",),
        approvers=(who.name,),
    )
    return replace(plain, **other)  # type: ignore[arg-type]


def make_floor(folder: Path, *, remote: bool = True) -> Floor:
    world = make_world(folder / "git", remote=remote)
    contract = (ROOT / CONTRACT).read_text("utf-8")
    commit_file(world.work, CONTRACT, contract)
    if remote:
        sh(world.work, "push", "-q", "origin", "main")
    home = folder / "host"
    home.mkdir()
    floor = Floor(world, home, Hand())
    floor.host_file()
    return floor


def propose(
    floor: Floor,
    content: str = "one",
    *,
    green: bool = True,
    broken: bool = False,
    task: TaskName = TASK,
    contract: str = CONTRACT,
    more: Mapping[str, bytes] | None = None,
) -> str:
    """Propose a candidate in the form of the line's own; gives its tag."""
    repository = floor.world.open()
    folder = f"artifacts/{task}"
    files = {
        "Backtest/codes/oversold_dip.py": f"# {content}\n".encode(),
        f"{folder}/gates.json": json.dumps(
            {"passed": green, "gates": [{"name": "syntax", "passed": green}]}
        ).encode(),
        f"{folder}/summary.json": b'{"signals": {"warmup": 200}}',
        **(more or {}),
    }
    subjects = {**files, contract: (floor.world.work / contract).read_bytes()}
    statement = json.dumps(
        {
            "subject": [
                {"name": name, "digest": {"sha256": digest_of(data).removeprefix("sha256:")}}
                for name, data in sorted(subjects.items())
            ],
            "predicate": {
                "contract": {"path": contract},
                "data": {"digest": digest_of(b"candles")},
                "product": {"version": "0.1.0", "digest": digest_of(b"product")},
            },
        }
    ).encode()
    files[f"{folder}/provenance.json"] = statement
    if broken:
        files["Backtest/codes/oversold_dip.py"] += b" "
    plain: Proposal = draft(repository, content, task, files)
    message = f"ai: propose\n\nEvidence: {folder} {digest_of(statement)}"
    repository.propose(replace(plain, message=message))
    return plain.tag
