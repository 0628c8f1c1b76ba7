"""Files by path: read at any commit, write as one commit each."""

import base64
from urllib.parse import quote

from tests.doubles.github.call import Call, route
from tests.doubles.github.git_store import Entry
from tests.doubles.github.messages import Answer, Json, Refusal, not_found
from tests.doubles.github.shapes import api, web

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
