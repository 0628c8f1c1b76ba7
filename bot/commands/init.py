"""`stratwright init`: workflow, issue form, settings and an example contract into a repository."""

import argparse
import os
import sys
from pathlib import Path

from bot.errors import MANUAL, InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="default: this one"
    )
    parser.add_argument(
        "--action", default="", metavar="OWNER/NAME@COMMIT", help="default: this release's own"
    )
    parser.add_argument(
        "--deploy",
        action="store_true",
        help="also the workflow that signs approvals in GitHub's environments",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="make the workflow and the form anew; settings, contracts and candles always stay",
    )


def run(args: argparse.Namespace) -> int:
    """Write what is not there yet, and say what to do next."""
    from bot.files import write_files
    from bot.settings import WORKFLOW, read_settings
    from bot.workflow.starter import made_files, own_files, released_action

    root = _root(args.folder)
    settings = read_settings(root)
    missing = ""
    try:
        action = args.action or released_action()
    except InputError as error:
        action, missing = "", f"{WORKFLOW} was not written: {error.message}.\n{error.hint}\n"
    made, own = made_files(settings, action, deploy=args.deploy), own_files(settings)
    files = {**made, **own}
    same = [path for path, text in files.items() if _text(root / path) == text]
    taken = [path for path in files if path not in same and (root / path).exists()]
    replaced = [path for path in taken if args.force and path in made]
    new = {
        path: text
        for path, text in files.items()
        if path not in same and (path in replaced or path not in taken)
    }
    write_files(root, new)
    sys.stdout.write(f"In {root}:\n")
    for path in files:
        word = "as it is" if path in same else "wrote" if path in new else "kept"
        sys.stdout.write(f"  {word:<9} {path}\n")
    if any(path in made and path not in replaced for path in taken):
        sys.stdout.write("A workflow or form that differs was kept; --force makes them anew.\n")
    if args.force and any(path in own for path in taken):
        sys.stdout.write("Settings, contracts and candles are yours and stay as they are.\n")
    first = f"{settings.contracts}/example.yaml"
    sys.stdout.write(missing + _NEXT.format(contract=first))
    if (root / WORKFLOW).exists():
        sys.stdout.write(_ON_GITHUB.format(label=_label(root, settings.label)))
    if args.deploy:
        sys.stdout.write("".join(_DEPLOY.format(name=name) for name in ("paper", "live")))
        sys.stdout.write(_DEPLOY_END.format(manual=MANUAL))
    return 0


def _label(root: Path, name: str) -> str:
    """Make the label of the issue form where a token may; else the command that does.

    GitHub sets a form's label only if the repository has it, and says nothing if it has not.
    """
    from bot.errors import StratwrightError

    if os.environ.get("GITHUB_TOKEN"):
        from bot.forge.github.opening import open_github
        from bot.git.repository import open_repository
        from bot.health.github import make_label

        try:
            make_label(open_github(open_repository(root, to_write=False)))
        except StratwrightError as error:
            sys.stdout.write(f"The label {name} was not made: {error.message}\n")
        else:
            return ""
    return f'  gh label create "{name}"      the issue form needs this label; a token makes it\n'


_NEXT = """Next, on this machine:
  git add --all && git commit -m "Add stratwright"
  stratwright run {contract}         proves the example; its candles are synthetic
"""
_DEPLOY = """The environment {name}, and its key, which nobody keeps after this:
  where=repos/{{owner}}/{{repo}}/environments/{name}
  branch=$(gh repo view --json defaultBranchRef --jq .defaultBranchRef.name)
  gh api -X PUT $where -F deployment_branch_policy[protected_branches]=false \\
    -F deployment_branch_policy[custom_branch_policies]=true
  gh api -X POST $where/deployment-branch-policies -f name=$branch
  ssh-keygen -q -t ed25519 -N "" -C deploy@{name} -f deploy-{name}
  gh secret set STRATWRIGHT_DEPLOY_PRIVATE_KEY --env {name} < deploy-{name}
  echo "deploy@{name} namespaces=\\"stratwright-approval@v1\\" $(cut -d' ' -f1,2 deploy-{name}.pub)"
                                     goes to the host's allowed_signers, deploy@{name} to machines
  shred -u deploy-{name}
"""
_DEPLOY_END = """Then say in stratwright.yml, under deploy:, for which host ({manual}/approval.md).
  stratwright doctor --github        says which gate is in force, and what to click
"""
_ON_GITHUB = """Next, on GitHub:
{label}  git push                           the push proposes the example contract
  stratwright doctor --github        says what GitHub still needs
"""


def _root(folder: Path) -> Path:
    """The repository around a folder: GitHub reads workflows at its top only."""
    here = folder.resolve()
    if not here.is_dir():
        raise InputError(f"{here} is not a folder", "Name a folder inside a Git repository.")
    for place in (here, *here.parents):
        if (place / ".git").exists():
            return place
    raise InputError(f"{here} is not in a Git repository", "Make one: git init")


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
