"""Settings and a pinned action to the files that put the bot into a repository."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from git import GitError, Repo

from bot.contract.schema import SCHEMA_PATH, schema_text
from bot.errors import InputError
from bot.examples.templates import find_template, template_text
from bot.settings import DEPLOY_WORKFLOW, FILE, FORM, WORKFLOW, Settings
from bot.workflow.items import LEGS

ACTION = "stratwright/stratwright"
CANDLES = "data/example_BTC_USDT-1h.csv"
_LEG = "      @LEG@: ${{ matrix.item.leg == '@LEG@' && steps.stage.outputs.handed || '' }}"
_TEMPLATES = Path(__file__).with_name("templates")
_HOME = Path(__file__).parents[2]
_STAMP = Path(__file__).parents[1] / "release.json"
OWN = "./"
"""The action of the repository itself, from its checkout; only stratwright's own has one."""
_PINNED = re.compile(
    r"\./|[A-Za-z0-9_.-]+/[A-Za-z0-9_./-]+@[0-9a-f]{40}(?: # v[0-9A-Za-z.+-]+)?", re.ASCII
)


def starter_files(settings: Settings, action: str, *, deploy: bool = False) -> dict[str, str]:
    """What `stratwright init` writes, by path."""
    return {**made_files(settings, action, deploy=deploy), **own_files(settings)}


def made_files(settings: Settings, action: str, *, deploy: bool = False) -> dict[str, str]:
    """What follows from the settings and is made again when they change.

    Without an action there is no workflow; the one that deploys is there where it is asked for.
    """
    workflow = {WORKFLOW: workflow_text(settings, action)} if action else {}
    if action and deploy:
        workflow[DEPLOY_WORKFLOW] = deploy_text(action)
    return {
        f"{settings.contracts}/schema/{SCHEMA_PATH.name}": schema_text(),
        **workflow,
        FORM: _template("strategy_form.yml").replace("@LABEL@", settings.label),
    }


def own_files(settings: Settings) -> dict[str, str]:
    """What belongs to the user once it is there: settings, an example contract, its candles."""
    dip = find_template("dip")
    return {
        FILE: _template("stratwright.yml"),
        f"{settings.contracts}/example.yaml": template_text(dip, dip.class_name, None, ""),
        **{path: content.decode() for path, content in dip.candles.items()},
    }


def workflow_text(settings: Settings, action: str) -> str:
    """The workflow, with the action pinned by commit.

    `./` is an action that was checked out. The job that runs code checks out nothing but that, and
    nothing at all where the runner fetches the action itself.

    Raises:
        InputError: the action is not pinned, or the label cannot stand in an expression.
    """
    _check_pinned(action)
    if not re.fullmatch(r"[A-Za-z0-9 ._-]{1,50}", settings.label, re.ASCII):
        raise InputError(
            f"the label {settings.label!r} cannot stand in a workflow",
            "Use letters, digits, spaces, dots and hyphens.",
        )
    legs = "\n".join(_LEG.replace("@LEG@", leg) for leg in LEGS)
    checkout = _template("checkout_step.yml") if action == OWN else ""
    text = _template("stratwright_workflow.yml").replace("@ACTION@", action)
    text = text.replace("@LEGS@", legs).replace("@CHECKOUT@\n", checkout)
    return text.replace("@LABEL@", settings.label).replace("@CONTRACTS@", settings.contracts)


def deploy_text(action: str) -> str:
    """Write the workflow that approves, halts and rolls back, with the action pinned by commit.

    Raises:
        InputError: the action is not pinned.
    """
    _check_pinned(action)
    return _template("deploy_workflow.yml").replace("@ACTION@", action)


def _check_pinned(action: str) -> None:
    if not _PINNED.fullmatch(action):
        message = f"{action!r} is not an action pinned by commit"
        raise InputError(message, f"Write it as {ACTION}@ and the 40 hex digits of a release.")


def released_action() -> str:
    """The action of this release, by the commit that it was built from, or that is checked out.

    Raises:
        InputError: this copy is neither a release nor a checkout, nor installed from one.
    """
    try:
        stamp = json.loads(_STAMP.read_bytes())
        return f"{ACTION}@{stamp['commit']} # v{stamp['version']}"
    except (OSError, ValueError, KeyError, TypeError):
        pass
    try:
        return f"{ACTION}@{_installed_commit() or Repo(_HOME).head.commit.hexsha}"
    except (GitError, ValueError):
        raise InputError(
            "this copy of stratwright is neither a release nor a checkout, so it does not know its "
            "own commit",
            f"stratwright init --action {ACTION}@<40 hex digits> writes the workflow.",
        ) from None


def _installed_commit() -> str:
    """Gives the commit that pip installed this copy from, by the note that pip leaves beside it."""
    try:
        note = json.loads(next(_HOME.glob("stratwright-*.dist-info/direct_url.json")).read_bytes())
        if "vcs_info" in note:
            return str(note["vcs_info"]["commit_id"])
        folder = url2pathname(urlsplit(note["url"]).path) if "dir_info" in note else ""
        return Repo(folder).head.commit.hexsha if folder else ""
    except (StopIteration, OSError, ValueError, KeyError, TypeError, GitError):
        return ""


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
