"""Who is there first with a tag, a branch or a pull request on GitHub is not believed for it.

One honest run is made and taken away again. A forger who has its files pushes changed ones, sealed
so that everything agrees, and then the last job runs with the honest files of the jobs before it.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bot.workflow.hub import comment, git
from tests.bot.workflow.judged import Judged, judged_contracts
from tests.bot.workflow.proposals import DIP, forge_of
from tests.security.forger import Case, read_case, seal, write_tag

BRANCH = "ai/generated/oversold-dip/strategy"
CODE = "Backtest/codes/oversold_dip.py"
PATH = "contracts/dip.yaml"


@pytest.fixture(scope="module")
def delivered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Judged, str, str]]:
    """The gates have run; the honest tag, and the text of its pull request, were kept."""
    folder = tmp_path_factory.mktemp("first")
    with judged_contracts(folder, {PATH: DIP}) as judged:
        assert judged.write(judged.rows[PATH], folder / "handover")[0] == 0
        (pull,) = forge_of(judged.world).pulls()
        git(judged.world.clone, "fetch", "-q", str(judged.world.bare), "+refs/tags/*:refs/tags/*")
        git(judged.world.clone, "update-ref", "refs/kept/honest", f"refs/tags/{pull.draft.tag}")
        yield judged, pull.draft.tag, pull.draft.body


@pytest.fixture
def place(delivered: tuple[Judged, str, str]) -> tuple[Judged, str, str]:
    """As if nothing had been delivered."""
    judged, tag, body = delivered
    judged.set_back()
    git(judged.world.clone, "update-ref", f"refs/tags/{tag}", "refs/kept/honest")
    return judged, tag, body


def other_coder(case: Case) -> None:
    case.replace(CODE, b"\nclass ", b"\n# mine\nclass ")
    case.statement["predicate"].update(coder="agent", model="mine")
    case.trailer("Coder", "agent")
    case.trailer("Model", "mine")


def other_code(case: Case) -> None:
    case.replace(CODE, b"\nclass ", b"\n# mine\nclass ")


def other_summary(case: Case) -> None:
    case.change_json("summary.json", lambda summary: summary.update(total_trades=999))


def other_version(case: Case) -> None:
    case.statement["predicate"]["versions"]["pandas"] = "9.9.9"


FORGED = {each.__name__: each for each in (other_coder, other_code, other_summary, other_version)}


def plant(judged: Judged, honest: str, name: str, tag: str = "") -> str:
    """Push a forged tag, and forget the honest one."""
    work = judged.world.clone
    case = read_case(work, honest)
    FORGED[name](case)
    commit = seal(work, case)
    made = write_tag(work, case, commit, tag or honest)
    git(work, "push", "-q", str(judged.world.bare), f"+{made}:refs/tags/{tag or honest}")
    git(work, "update-ref", "-d", f"refs/tags/{honest}")
    return commit


def nothing_of(judged: Judged, forged: str) -> None:
    """No branch, no pull request and no check of the bot's stands on a forged commit."""
    forge = forge_of(judged.world)
    assert forge.checks.read(forged) is None
    assert all(pull.draft.head != forged for pull in forge.pulls())
    heads = git(judged.world.bare, "for-each-ref", "--format=%(objectname)", "refs/heads/ai")
    assert forged not in heads.split()


def write(judged: Judged, page: Path, event: dict[str, str] | None = None) -> tuple[int, str]:
    """Run the last job with the honest files of the jobs before it."""
    return judged.write(judged.rows[PATH], judged.folder / "handover", page=page, event=event)


def regenerate(judged: Judged, number: int, page: Path) -> tuple[int, str]:
    """The same with another event, whose file takes the push's place meanwhile."""
    file = Path(judged.variables["GITHUB_EVENT_PATH"])
    pushed = file.read_bytes()
    order = comment(number, "/stratwright regenerate", on_pull=True)
    try:
        return write(judged, page, judged.world.environment("issue_comment", order))
    finally:
        file.write_bytes(pushed)


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_tag_that_is_first_stops_the_last_job(
    place: tuple[Judged, str, str], tmp_path: Path, name: str
) -> None:
    judged, tag, _ = place
    forged = plant(judged, tag, name)
    code, said = write(judged, tmp_path / "page")
    assert code == 5, said
    assert "which is not what this contract gives" in said
    nothing_of(judged, forged)


@pytest.mark.parametrize("name", ["other_coder", "other_summary"])
def test_a_forged_second_tag_is_not_what_regenerate_proposes(
    place: tuple[Judged, str, str], tmp_path: Path, name: str
) -> None:
    judged, tag, _ = place
    git(judged.world.clone, "push", "-q", str(judged.world.bare), f"refs/tags/{tag}")
    assert write(judged, tmp_path / "first")[0] == 0
    (pull,) = forge_of(judged.world).pulls()
    forged = plant(judged, tag, name, f"{tag}.2")
    code, said = regenerate(judged, pull.number, tmp_path / "page")
    assert code == 5, said
    nothing_of(judged, forged)
    assert forge_of(judged.world).get(pull.number).draft == pull.draft


def test_an_unchanged_open_pull_request_is_not_regenerated(
    place: tuple[Judged, str, str], tmp_path: Path
) -> None:
    """The honest tag was there first, as of a run that died: it is gone on with, and only once."""
    judged, tag, _ = place
    git(judged.world.clone, "push", "-q", str(judged.world.bare), f"refs/tags/{tag}")
    assert write(judged, tmp_path / "first")[0] == 0
    (pull,) = forge_of(judged.world).pulls()
    assert pull.draft.tag == tag
    code, said = regenerate(judged, pull.number, tmp_path / "page")
    assert code == 0, said
    assert "nothing to regenerate" in said
    assert forge_of(judged.world).get(pull.number).draft == pull.draft
    assert git(judged.world.bare, "tag", "--list", "ai/*").split() == [tag]


def test_a_forged_branch_that_is_first_is_left_alone(
    place: tuple[Judged, str, str], tmp_path: Path
) -> None:
    judged, tag, _ = place
    forged = push_branch(judged, tag)
    git(judged.world.clone, "update-ref", "-d", f"refs/tags/{tag}")
    code, said = write(judged, tmp_path / "page")
    assert code == 5, said
    assert git(judged.world.bare, "rev-parse", BRANCH) == forged
    forge = forge_of(judged.world)
    assert (forge.pulls(), forge.checks.read(forged)) == ((), None)


@pytest.mark.parametrize("with_tag", [True, False])
def test_a_forged_pull_request_that_is_first_gets_no_check(
    place: tuple[Judged, str, str], tmp_path: Path, with_tag: bool
) -> None:
    """It has the bot's words above somebody's branch; nothing of it is attested."""
    judged, tag, body = place
    forged = push_branch(judged, tag)
    if with_tag:
        plant(judged, tag, "other_coder")
    else:
        git(judged.world.clone, "update-ref", "-d", f"refs/tags/{tag}")
    forge = forge_of(judged.world)
    words = {"title": "theirs", "head": BRANCH, "base": "main", "body": body}
    forge.api.write("POST", "pulls", words)
    code, said = write(judged, tmp_path / "page")
    assert code == 5, said
    assert forge.checks.read(forged) is None


def push_branch(judged: Judged, tag: str) -> str:
    """Push a forged commit as the bot's branch."""
    work = judged.world.clone
    case = read_case(work, tag)
    other_coder(case)
    forged = seal(work, case)
    git(work, "push", "-q", str(judged.world.bare), f"{forged}:refs/heads/{BRANCH}")
    return forged
