"""Files by path: read at any commit, write as one commit each."""

import base64
from urllib.parse import quote

from bot.testing.access import allows
from bot.testing.call import Call, route
from bot.testing.endpoints.git_data import decode, person, render_commit
from bot.testing.git_store import Entry
from bot.testing.messages import Answer, Json, Refusal, invalid, not_found
from bot.testing.shapes import api, web

_CONTENTS = "/repos/{owner}/{repo}/contents/{path}"


def _path(call: Call) -> str:
    path = call.parameters.get("path", "").strip("/")
    if any(part in ("..", ".git") for part in path.split("/")):
        raise Refusal(422, "path contains a malformed path component")
    return path


def _render(call: Call, ref: str, path: str, entry: Entry) -> Json:
    home, quoted = call.repository, quote(path)
    kind = "tree" if entry.kind == "tree" else "blob"
    address = f"{api(call.state, home)}/contents/{quoted}?ref={quote(ref)}"
    git_url = f"{api(call.state, home)}/git/{kind}s/{entry.sha}"
    page = f"{web(call.state, home)}/{kind}/{ref}/{quoted}"
    raw = f"https://raw.githubusercontent.com/{home.full_name}/{ref}/{quoted}"
    return {
        "type": "dir" if kind == "tree" else "file",
        "size": entry.size or 0,
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": entry.sha,
        "url": address,
        "git_url": git_url,
        "html_url": page,
        "download_url": raw if kind == "blob" else None,
        "_links": {"self": address, "git": git_url, "html": page},
    }


@route("GET", "/repos/{owner}/{repo}/contents", "contents:read", described=_CONTENTS)
@route("GET", _CONTENTS, "contents:read")
def get_contents(call: Call) -> Answer:
    """A file, or the list of a folder."""
    git, path = call.repository.git, _path(call)
    ref = call.request.query.get("ref") or call.repository.default_branch
    commit = git.resolve(ref)
    if commit is None:
        raise Refusal(404, f"No commit found for the ref {ref}")
    entry = git.entry(commit, path)
    if entry is None:
        raise not_found()
    if entry.kind != "tree":
        content = base64.encodebytes(git.blob(entry.sha)).decode()
        whole = {**_render(call, ref, path, entry), "content": content, "encoding": "base64"}
        return Answer(200, whole)
    lines = git.tree(entry.sha).items()
    below = [_render(call, ref, f"{path}/{name}".strip("/"), line) for name, line in lines]
    return Answer(200, below)


@route("PUT", _CONTENTS, "contents:write")
def put_file(call: Call) -> Answer:
    """Write a file; to change one, the SHA of what it was must be given."""
    path, text = _path(call), call.body.get("content")
    if not isinstance(text, str):
        raise invalid("Commit", "missing_field", "content")
    branch, files, old = _ground(call, path)
    _check_sha(call, path, old)
    blob = call.repository.git.write_blob(decode(text, "base64"))
    mode = old.mode if old else "100644"
    files[path] = Entry(mode, "blob", blob, len(decode(text, "base64")))
    commit = _commit(call, branch, files)
    content = _render(call, branch, path, files[path])
    return Answer(200 if old else 201, {"content": content, "commit": commit})


@route("DELETE", _CONTENTS, "contents:write")
def delete_file(call: Call) -> Answer:
    """Remove a file."""
    path = _path(call)
    branch, files, old = _ground(call, path)
    if old is None:
        raise not_found()
    _check_sha(call, path, old)
    del files[path]
    return Answer(200, {"content": None, "commit": _commit(call, branch, files)})


def _ground(call: Call, path: str) -> tuple[str, dict[str, Entry], Entry | None]:
    """The branch to write to, its files, and what is at the path."""
    home, branch = call.repository, call.body.get("branch") or call.repository.default_branch
    call.need("Commit", "message")
    tip = home.git.ref(f"refs/heads/{branch}")
    if tip is None:
        raise Refusal(404, f"Branch {branch} not found")
    runs = path.startswith(".github/workflows/")
    limited = call.token is not None and call.token.permissions is not None
    if runs and limited and not allows(home, call.token, "workflows", "write"):
        # Changing what runs needs a permission of its own, which GITHUB_TOKEN can never have.
        raise Refusal(403, "Resource not accessible by integration")
    listed = home.git.tree(tip, recursive=True)
    files = {name: entry for name, entry in listed.items() if entry.kind != "tree"}
    return branch, files, files.get(path)


def _check_sha(call: Call, path: str, old: Entry | None) -> None:
    given = call.body.get("sha")
    if old is not None and given is None:
        raise Refusal(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
    if given is not None and (old is None or old.sha != given):
        raise Refusal(409, f"{path} does not match {given}")


def _commit(call: Call, branch: str, files: dict[str, Entry]) -> Json:
    git, author = call.repository.git, person(call, call.body.get("author"))
    committer = person(call, call.body.get("committer") or call.body.get("author"))
    tip = git.ref(f"refs/heads/{branch}") or ""
    message = call.body["message"]
    sha = git.write_commit(git.write_tree(files), [tip], author, committer, message)
    git.set_ref(f"refs/heads/{branch}", sha)
    return render_commit(call.state, call.repository, git.commit(sha))
