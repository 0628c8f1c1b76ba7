"""Git over HTTP: clone, fetch and push with a token, beside the API and under the same faults.

A push can so be refused, lost or cut off like any request: `POST /owner/name.git/git-receive-pack`.
"""

import atexit
import base64
import binascii
import re
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from bot.git.command import GitCommand
from tests.doubles.github.access import allows, can_see
from tests.doubles.github.accounts import Token
from tests.doubles.github.messages import Answer, Request
from tests.doubles.github.state import Repository, State

_PATH = re.compile(r"/([^/]+)/([^/]+?)(?:\.git)?/(info/refs|git-upload-pack|git-receive-pack)")
_SERVICES = ("git-upload-pack", "git-receive-pack")
# What GitHub does before it takes a push; $1.. come as variables, the refs on standard input.
_HOOK = """#!/bin/sh
zero=0000000000000000000000000000000000000000
while read -r old new ref; do
  case " $HUB_PROTECTED " in *" $ref "*)
    echo "error: GH006: Protected branch update failed for $ref."; exit 1;; esac
  [ "$new" = "$zero" ] || [ -n "$HUB_WORKFLOWS" ] && continue
  touched=$(git log --format= --name-only "$new" --not --all -- .github/workflows | head -n 1)
  if [ -n "$touched" ]; then
    echo "refusing to allow a GitHub App to create or update workflow" \\
      "\\`$touched\\` without \\`workflows\\` permission"
    exit 1
  fi
done
"""


def is_git(request: Request) -> bool:
    """Whether a request is Git's and not the API's."""
    return _PATH.fullmatch(request.path) is not None


def token_of(state: State, request: Request) -> Token | None:
    """Git sends a token as a password; any user name will do."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return state.tokens.get(value.strip())
    try:
        pair = base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return state.tokens.get(pair.partition(":")[2])


def answer(state: State, request: Request, token: Token | None) -> Answer:
    """Serve one request of a Git client."""
    found = _PATH.fullmatch(request.path)
    assert found is not None
    owner, name, what = found.groups()
    service = request.query.get("service", "") if what == "info/refs" else what
    home = state.repositories.get(f"{owner}/{name}".lower())
    if service not in _SERVICES:
        return Answer(403, b"Please upgrade your git client.\n")
    if home is None or not can_see(home, token):
        return _ask_for_token() if token is None else Answer(404, b"Repository not found.\n")
    level = "write" if service == "git-receive-pack" else "read"
    if not allows(home, token, "contents", level):
        if token is None:
            return _ask_for_token()
        told = f"Permission to {home.full_name}.git denied to {token.account.login}.\n"
        return Answer(403, told.encode())
    return _run(home, service, request, _rules(home, token))


def _ask_for_token() -> Answer:
    return Answer(401, b"Unauthorized\n", {"WWW-Authenticate": 'Basic realm="GitHub"'})


def _rules(home: Repository, token: Token | None) -> dict[str, str]:
    """What the hook must know about the repository and the pusher."""
    protected = " ".join(f"refs/heads/{name}" for name in sorted(home.protected))
    free = token is None or token.permissions is None or "workflows" in token.permissions
    return {"HUB_PROTECTED": protected, "HUB_WORKFLOWS": "yes" if free else ""}


def _run(home: Repository, service: str, request: Request, rules: Mapping[str, str]) -> Answer:
    git, path = GitCommand(home.git.path, home.git.path), str(home.git.path)
    verb = service.removeprefix("git-")
    environment = {**rules, "GIT_PROTOCOL": request.headers.get("git-protocol", "")}
    shown = ("-c", f"core.hooksPath={_hooks()}", verb, "--stateless-rpc")
    headers = {"Cache-Control": "no-cache", "Content-Type": f"application/x-{service}-result"}
    if request.method == "POST":
        out = git.run(*shown, path, data=request.body or b"", environment=environment).out
        return Answer(200, out, headers)
    listed = git.run(*shown, "--advertise-refs", path, environment=environment).out
    first = f"# service={service}\n"
    head = f"{len(first) + 4:04x}{first}0000".encode()
    return Answer(
        200, head + listed, {**headers, "Content-Type": f"application/x-{service}-advertisement"}
    )


@cache
def _hooks() -> Path:
    """A folder with the hook, for as long as the process lives."""
    folder = tempfile.TemporaryDirectory(prefix="stratwright-hub-")
    atexit.register(folder.cleanup)
    hook = Path(folder.name) / "pre-receive"
    hook.write_text(_HOOK)
    hook.chmod(0o700)
    return hook.parent
