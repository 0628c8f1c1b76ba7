"""What stands in the branch stays there, in its order, to the last byte."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.approval.chain import BRANCH, Approval, Chain, Halt, Seen, append, link, read_chain
from bot.approval.claims import read_claims
from bot.approval.reasons import ApprovalRefused
from bot.approval.record import digest_of
from bot.errors import SafetyStop
from bot.git.remote import StaleView
from bot.git.repository import open_repository
from bot.git.side_branch import SideBranch
from tests.bot.approval.test_checks import BOB, NOW, RECORD
from tests.bot.approval.worlds import sign
from tests.bot.git.worlds import World, make_world, sh
from tests.chance import examples


def halts(chain: Chain, by: str = "bob") -> Halt:
    number, previous = chain.next
    return Halt(sequence=number, previous=previous, at=NOW, scope="*", by=by, reason="test")


def make_files() -> dict[str, bytes]:
    """An approval, a halt, and the same approval once more."""
    chain, files = Chain(), {}
    signature = sign(BOB.private, RECORD.data)
    for kind in ("approval", "halt", "approval"):
        number, previous = chain.next
        entry = (
            Approval(sequence=number, previous=previous, at=NOW, record=RECORD, signature=signature)
            if kind == "approval"
            else halts(chain)
        )
        files[f"{number:08}.json"] = entry.data
        chain = Chain("", (*chain.entries, entry), (*chain.digests, digest_of(entry.data)))
    return files


FILES = make_files()
SEEN = Seen("", 3, digest_of(FILES["00000003.json"]))


def code_of(files: dict[str, bytes]) -> str:
    try:
        chain = link(files, "")
    except ApprovalRefused as error:
        return error.refusals[0].code
    same = chain.digests[SEEN.sequence - 1 : SEEN.sequence] == (SEEN.digest,)
    return "" if same else "chain-rewound"


def test_an_honest_chain_is_read() -> None:
    assert code_of(FILES) == ""


@given(st.sampled_from(sorted(FILES)), st.integers(0, 5000), st.integers(1, 255))
@examples(300)
def test_any_single_changed_byte_of_the_chain_is_refused(name: str, at: int, change: int) -> None:
    data = bytearray(FILES[name])
    data[at % len(data)] ^= change
    assert code_of({**FILES, name: bytes(data)}) in ("chain-broken", "chain-rewound")


def test_entries_cannot_be_taken_out_added_or_put_in_another_order() -> None:
    first, second, third = (FILES[name] for name in sorted(FILES))
    one, two, three = sorted(FILES)
    for files in (
        {two: second, three: third},
        {one: first, three: third},
        {one: first, two: third},
        {one: second, two: first, three: third},
        {**FILES, "README.md": b"hello"},
        {**FILES, "00000005.json": third},
        {**FILES, "0000004.json": third},
        {**FILES, "00000004.json": b""},
        {**FILES, "00000004.json": third},
    ):
        assert code_of(files) == "chain-broken"
    assert code_of({one: first, two: second}) == "chain-rewound"
    assert code_of({}) == "chain-rewound"


def test_a_record_that_is_published_again_stays_halted() -> None:
    (claim,) = read_claims(link(FILES, ""))
    assert [refusal.code for refusal in claim.ended] == ["halted"]


def branch_of(world: World) -> SideBranch:
    return open_repository(world.work, to_write=False).side_branch(BRANCH)


def grow(world: World, count: int = 1) -> Chain:
    branch = branch_of(world)
    chain = read_chain(branch, None)
    for _ in range(count):
        chain = append(branch, chain, halts(chain))
    return chain


def test_a_head_that_does_not_go_on_from_the_last_one_seen_is_refused(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    first = grow(world)
    longer = grow(world)
    assert read_chain(branch_of(world), first.seen) == longer
    # Somebody with the right to push takes the last entry back, on both sides.
    for folder in (world.work, world.remote):
        sh(folder, "update-ref", f"refs/heads/{BRANCH}", first.tip)
    with pytest.raises(ApprovalRefused, match="chain-rewound"):
        read_chain(branch_of(world), longer.seen)
    # And writes it again: the same words, in another commit.
    tree = sh(world.work, "rev-parse", f"{longer.tip}^{{tree}}")
    again = sh(world.work, "commit-tree", tree, "-p", first.tip, "-m", "again")
    sh(world.work, "update-ref", f"refs/heads/{BRANCH}", again)
    sh(world.work, "push", "-q", "origin", BRANCH)
    assert read_chain(branch_of(world), None).digests == longer.digests
    with pytest.raises(ApprovalRefused, match="chain-rewound"):
        read_chain(branch_of(world), longer.seen)
    for folder in (world.work, world.remote):
        sh(folder, "update-ref", "-d", f"refs/heads/{BRANCH}")
    with pytest.raises(ApprovalRefused, match="chain-rewound"):
        read_chain(branch_of(world), first.seen)


def test_only_one_of_two_who_write_at_once_is_heard_and_the_other_reads_first(
    tmp_path: Path,
) -> None:
    world = make_world(tmp_path / "one")
    sh(tmp_path, "clone", "-q", str(world.remote), "two")
    other = World(tmp_path / "two", world.remote)
    seen = read_chain(branch_of(other), None)
    first = grow(world)
    with pytest.raises(StaleView):
        append(branch_of(other), seen, halts(seen, "cat"))
    assert read_chain(branch_of(other), None) == first
    assert len(grow(other).entries) == 2


def test_sides_that_have_grown_apart_stop_everything(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    chain = grow(world)
    grow(world)
    tree = sh(world.work, "rev-parse", f"{chain.tip}^{{tree}}")
    apart = sh(world.work, "commit-tree", tree, "-p", chain.tip, "-m", "x")
    sh(world.work, "push", "-q", "-f", "origin", f"{apart}:refs/heads/{BRANCH}")
    with pytest.raises(SafetyStop, match="one history"):
        read_chain(branch_of(world), None)
