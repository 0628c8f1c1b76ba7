"""A repository on GitHub to what the bot finds there, and what to click where it is missing."""

from collections.abc import Callable, Iterable, Iterator

from bot.errors import StratwrightError
from bot.forge.github.api import Forbidden, Missing, Row, segment
from bot.forge.github.pulls import GitHubForge
from bot.health.github_gate import examine_environments
from bot.health.machine import Finding
from bot.settings import FORM, WORKFLOW


def examine_github(forge: GitHubForge) -> tuple[Finding, ...]:
    """Ask GitHub about everything that the workflow needs."""
    try:
        home = forge.api.get("")
    except StratwrightError as error:
        return (Finding("github", False, error.message, error.hint),)
    branch = str(home["default_branch"])
    parts: dict[str, Callable[[], Iterable[Finding]]] = {
        "token": lambda: _token(home),
        "workflow": lambda: _files(forge, branch),
        "pull requests": lambda: [_switch(forge)],
        "label": lambda: [_label(forge)],
        "gate": lambda: examine_environments(forge, home, branch),
    }
    found = [Finding("github", True, f"{forge.api.repository}, default branch {branch}")]
    for name, part in parts.items():
        found += _asked(name, part)
    return tuple(found)


def _asked(name: str, part: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """One part's findings; where GitHub does not answer, that is the finding."""
    try:
        return list(part())
    except StratwrightError as error:
        return [Finding(name, False, error.message, error.hint, needed=False)]


def _token(home: Row) -> Iterator[Finding]:
    rights = home.get("permissions")
    if not isinstance(rights, dict):
        detail = "a job's token: its rights are those that the workflow gives to the job"
        yield Finding("token", True, detail, needed=False)
        return
    may = [name for name in ("admin", "maintain", "push", "pull") if rights.get(name)]
    hint = "Use a token of somebody with write permission, or let the workflow use its own."
    detail = f"may {may[0]}" if may else "may nothing"
    yield Finding("token", bool(rights.get("push")), detail, hint, needed=False)


def _files(forge: GitHubForge, branch: str) -> Iterator[Finding]:
    for name, path in (("workflow", WORKFLOW), ("issue form", FORM)):
        try:
            forge.api.get(f"contents/{path}", ref=branch)
            yield Finding(name, True, path)
        except (Missing, Forbidden):
            hint = "Write it: stratwright init; then commit and push it."
            yield Finding(name, False, f"{path} is not on {branch}", hint, name == "workflow")


def _switch(forge: GitHubForge) -> Finding:
    click = (
        f"{forge.address}/settings/actions > Workflow permissions > tick “Allow GitHub Actions to "
        "create and approve pull requests”. Without it the bot pushes the branch and gives a link."
    )
    try:
        allowed = forge.api.get("actions/permissions/workflow").get(
            "can_approve_pull_request_reviews"
        )
    except (Forbidden, Missing):
        detail = "this token may not ask; a token with administration: read may"
        return Finding("pull requests", False, detail, click, needed=False)
    detail = "the bot may open them" if allowed else "the bot may not open them"
    return Finding("pull requests", bool(allowed), detail, click, needed=False)


def _label(forge: GitHubForge) -> Finding:
    name = forge.settings.label
    try:
        forge.api.get(f"labels/{segment(name)}")
    except (Forbidden, Missing):
        hint = (
            f'gh label create "{name}", or {forge.address}/labels > New label > {name}. The issue '
            "form asks for it, and GitHub neither makes it nor says that it is missing."
        )
        return Finding("label", False, f"there is no label {name}: forms start nothing", hint)
    return Finding("label", True, name)


def make_label(forge: GitHubForge) -> None:
    """Make the label of the issue form, unless it is there.

    Raises:
        ApiError: GitHub refused, or stayed away.
    """
    name = forge.settings.label

    def look() -> object | None:
        try:
            found: object = forge.api.get(f"labels/{segment(name)}")
        except Missing:
            return None
        return found

    forge.api.ensure(
        f"the label {name}", look, lambda: forge.api.write("POST", "labels", {"name": name})
    )
