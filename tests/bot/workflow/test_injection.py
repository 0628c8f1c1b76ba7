"""Titles, bodies, branches, file names and contracts full of tricks end up as text, everywhere."""

import re
import subprocess
from pathlib import Path

import cmarkgfm
import pytest

from bot.forge.github.actions import Actions, say_in_log
from bot.forge.port import Thread
from tests.bot.workflow.hub import NAME, World, comment, form, git, issue, make_world, push
from tests.bot.workflow.line import run_event
from tests.bot.workflow.proposals import DIP, forge_of
from tests.doubles.github import GitHubServer

HOSTILE = (
    "$(touch pwned) `touch pwned`; touch pwned && ${{ secrets.GITHUB_TOKEN }} ::error::x "
    "::set-output name=write::[] ##[error]y <!-- stratwright:status --> <img src=//evil.example/x> "
    "![p](https://evil.example/p) [l](javascript:alert(1)) @everyone #1 GH-1 "
    "<script>alert(1)</script> </details> | --> /stratwright approve"
)


def assert_inert(markdown: str) -> None:
    """As a page shows it: no foreign image, link, script or mention, and our own comments only."""
    page = cmarkgfm.github_flavored_markdown_to_html(markdown)
    assert "<script" not in page
    sources = re.findall(r'<img[^>]*src="([^"]*)"', page)
    links = re.findall(r'<a[^>]*href="([^"]*)"', page)
    assert all(each.startswith(f"https://github.com/{NAME}/") for each in (*sources, *links))
    assert re.findall(r"<!--\s*(\w+)", markdown) in ([], ["stratwright"])
    assert not re.search(r"(?<![\w`])@[a-z]", re.sub(r"<code>.*?</code>", "", page, flags=re.S))
    assert "${{" not in markdown.split("<details>")[0]


def assert_log_is_text(text: str) -> None:
    assert not re.search(r"^\s*::", text, re.MULTILINE)
    assert "##[" not in text


def test_a_hostile_description_is_proposed_as_text(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    line = f"description: {HOSTILE!r}".replace("\\'", "''")
    contract = re.sub(r"^description: .*$", lambda _: line, DIP, flags=re.MULTILINE)
    before, after = world.commit({"contracts/dip.yaml": contract}, message=HOSTILE)
    ran = run_event(world, "push", push(before, after))
    out, err = capfd.readouterr()
    assert_log_is_text(out + err)
    assert set(ran.codes.values()) == {0}
    (pull,) = forge_of(world).pulls()
    assert_inert(pull.draft.body)
    assert "touch pwned" in pull.draft.body
    assert pull.draft.title == "OversoldDip: oversold-dip/strategy"
    assert_inert(ran.summary)
    message = git(world.bare, "show", "-s", "--format=%B", pull.draft.head)
    assert "touch" not in message
    assert not list(world.clone.parent.rglob("pwned"))


@pytest.mark.parametrize("heading", ["Name", "Enter_long", "Stop_loss", "Symbols", "Candles"])
def test_a_hostile_answer_is_refused_in_plain_words(
    world: World, heading: str, capfd: pytest.CaptureFixture[str]
) -> None:
    body = form(**{heading: HOSTILE})
    number = world.hosted.open_issue(HOSTILE, body, "alice", ["stratwright"]).number
    event = issue(number, body)
    event["issue"]["title"] = HOSTILE
    ran = run_event(world, "issues", event)
    out, err = capfd.readouterr()
    assert_log_is_text(out + err)
    assert ran.codes["write"] == 2
    (said,) = forge_of(world).threads.all(Thread(number))
    assert_inert(f"<!-- stratwright:status -->\n{said.body}")
    assert_inert(ran.summary)
    assert not world.branches


def test_hidden_characters_are_shown_where_they_stand(world: World) -> None:
    body = form(Enter_long="rsi < oversold \u202eand close > trend")
    number = world.hosted.open_issue("x", body, "alice", ["stratwright"]).number
    run_event(world, "issues", issue(number, body))
    (said,) = forge_of(world).threads.all(Thread(number))
    assert "\u202e" not in said.body
    assert "U+202E" in said.body


@pytest.mark.parametrize(
    "name",
    ["$(touch pwned).yaml", "a`id`.yaml", "a;id.yaml", "::error::x.yaml", "a b'\".yaml", "-x.yaml"],
)
def test_a_hostile_file_name_is_only_a_name(
    world: World, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before, after = world.commit({f"contracts/{name}": "version: 2\n"})
    ran = run_event(world, "push", push(before, after))
    out, err = capfd.readouterr()
    assert_log_is_text(out + err)
    assert ran.codes == {"plan": 0, "write": 2}
    assert all(re.fullmatch("[0-9a-f]{12}", row["keys"]) for row in ran.outputs["write"])
    assert_inert(ran.summary)
    assert not list(world.clone.parent.rglob("pwned"))


# Names that a runner's shell, a page or Git's own command line would each read otherwise.
BRANCHES = [
    "$(touch${IFS}pwned)",
    "`touch${IFS}pwned`",
    "a;touch${IFS}pwned",
    "a|touch${IFS}pwned",
    "${{secrets.GITHUB_TOKEN}}",
    "a'b\"c",
    "<!--stratwright-->",
    "<img/src=x>",
    "@everyone",
    "a\u202eb\u200b",
    "refs/heads/main",
]
# Git itself allows none of these; an event may say anything.
IMPOSSIBLE = ["::error::x", "--upload-pack=touch", "a b", "a\n::error::b", "a..b", ""]


@pytest.mark.parametrize("name", BRANCHES + IMPOSSIBLE)
def test_a_push_to_a_hostile_branch_is_ignored_as_text(
    world: World, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before, after = world.commit({"contracts/dip.yaml": DIP})
    ran = run_event(world, "push", push(before, after, f"refs/heads/{name}"))
    out, err = capfd.readouterr()
    assert_log_is_text(out + err)
    assert ran.codes == {"plan": 0}
    assert_inert(ran.summary)
    assert not world.branches
    assert not list(world.clone.parent.rglob("pwned"))


@pytest.mark.parametrize("name", BRANCHES[::3])
def test_a_hostile_default_branch_is_only_a_name(
    tmp_path: Path, hub: GitHubServer, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    world = make_world(tmp_path, hub, name)
    world.hosted.settings.can_approve_pull_request_reviews = True
    before, after = world.commit({"contracts/dip.yaml": DIP, "contracts/bad.yaml": "a: 1\n"})
    event = push(before, after, f"refs/heads/{name}")
    event["repository"]["default_branch"] = name
    ran = run_event(world, "push", event)
    out, err = capfd.readouterr()
    assert_log_is_text(out + err)
    assert ran.codes == {"plan": 0, "generate": 0, "gates": 0, "write": 2}
    (pull,) = forge_of(world).pulls()
    assert pull.draft.base == name
    assert_inert(pull.draft.body)
    (said,) = forge_of(world).threads.all(Thread(commit=after))
    assert_inert(said.body)
    assert_inert(ran.summary)
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize("name", BRANCHES)
def test_a_command_under_a_pull_request_of_a_hostile_branch_is_answered_as_text(
    world: World, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    git(world.clone, "push", "-q", str(world.bare), f"HEAD^{{commit}}:refs/heads/{name}x")
    world.commit({"README.md": "more"})
    forge = forge_of(world)
    wanted = {"title": HOSTILE, "body": HOSTILE, "head": f"{name}x", "base": "main"}
    git(world.clone, "commit", "-q", "--allow-empty", "-m", "theirs")
    git(world.clone, "push", "-q", "-f", str(world.bare), f"HEAD^{{commit}}:refs/heads/{name}x")
    number = forge.api.write("POST", "pulls", wanted)["number"]
    git(world.clone, "reset", "-q", "--hard", "HEAD^")
    ran = run_event(
        world, "issue_comment", comment(number, "/stratwright retry", on_pull=True), run=7
    )
    out, err = capfd.readouterr()
    assert_log_is_text(out + err)
    assert ran.codes == {"plan": 0, "write": 0}
    (said,) = forge.threads.all(Thread(number))
    assert said.body.startswith("This pull request is not one of the bot's.")
    assert not world.branches


def test_a_file_name_with_control_characters_is_no_contract(world: World) -> None:
    before, after = world.commit({"contracts/a\n::error::b.yaml": DIP})
    assert run_event(world, "push", push(before, after)).codes == {"plan": 0}


def test_a_link_is_no_contract(world: World) -> None:
    (world.clone / "contracts").mkdir()
    (world.clone / "contracts/x.yaml").symlink_to("/etc/passwd")
    before, after = world.commit({})
    ran = run_event(world, "push", push(before, after))
    assert ran.codes == {"plan": 0, "write": 2}
    assert "symbolic link" in ran.summary


def test_no_output_can_set_another(tmp_path: Path) -> None:
    place = tmp_path / "output"
    actions = Actions("push", place, NAME, environment={"GITHUB_OUTPUT": str(place)})
    hostile = "x\nEOF\nwrite<<EOF\n[]\nEOF\nwrite=[]\nend-0\nannounce<<end-1\n[]\nend-1"
    actions.output("build", hostile)
    assert as_a_runner_reads(place.read_text()) == {"build": hostile}


def as_a_runner_reads(text: str) -> dict[str, str]:
    """`name=value`, or `name<<mark`, lines, `mark`; as GitHub documents it."""
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, mark, end = line.partition("<<")
        if mark:
            found[name] = "\n".join(iter(lines.__next__, end))
        else:
            name, _, found[name] = line.partition("=")
    return found


def test_a_runner_is_fooled_by_a_mark_that_can_be_guessed() -> None:
    """The reader above is not blind: with a fixed mark the second output would be set."""
    text = "build<<EOF\nx\nEOF\nwrite<<EOF\n[]\nEOF\nEOF\n"
    assert "write" in as_a_runner_reads(text)


@pytest.mark.parametrize(
    "line", ["::error::x", " ::stop-commands::t", "##[group]x", "a\n::add-mask::b"]
)
def test_a_log_line_is_only_shown(line: str) -> None:
    assert_log_is_text(say_in_log(line))


def test_the_token_is_on_no_command_line_in_no_file_and_in_no_log(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []
    real = subprocess.Popen.__init__

    def watch(self: object, args: object, *rest: object, **more: object) -> None:
        seen.append(str(args))
        real(self, args, *rest, **more)  # type: ignore[arg-type, call-overload]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "__init__", watch)
        before, after = world.commit({"contracts/dip.yaml": DIP})
        run_event(world, "push", push(before, after))
    tokens = list(world.hub.state.tokens)
    assert any("push" in each for each in seen)
    assert tokens
    assert not any(token in each for token in tokens for each in seen)
    kept = [path for path in world.clone.parent.rglob("*") if path.is_file()]
    assert not any(token.encode() in path.read_bytes() for token in tokens for path in kept)
    out, err = capfd.readouterr()
    assert "requests to GitHub" in err
    assert not any(token in out + err for token in tokens)
