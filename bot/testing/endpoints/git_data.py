"""Git's objects: blobs, trees, commits and annotated tags."""

import base64
import binascii
from datetime import datetime
from typing import Any

from bot.testing.call import Call, route
from bot.testing.git_store import SHA, Commit, Entry, Person, TagObject
from bot.testing.messages import Answer, Json, Refusal, invalid, not_found
from bot.testing.shapes import api, node_id, web
from bot.testing.state import Repository, State

_HOME = "/repos/{owner}/{repo}/git"
_UNSIGNED: Json = {
    "verified": False,
    "reason": "unsigned",
    "signature": None,
    "payload": None,
    "verified_at": None,
}


def person(call: Call, given: Any = None) -> Person:
    """Who is named, or who asks, dated now."""
    given = given or {}
    actor = call.actor
    email = given.get("email") or f"{actor.id}+{actor.login}@users.noreply.github.com"
    try:
        date = datetime.fromisoformat(given["date"]) if given.get("date") else call.state.now()
    except ValueError:
        raise invalid("Commit", "invalid", "date") from None
    return Person(given.get("name") or actor.login, email, date)


def render_commit(state: State, repository: Repository, commit: Commit) -> Json:
    """A commit, as Git has it."""
    address, page = f"{api(state, repository)}/git", f"{web(state, repository)}/commit"
    return {
        "sha": commit.sha,
        "node_id": node_id("C", commit.sha),
        "url": f"{address}/commits/{commit.sha}",
        "html_url": f"{page}/{commit.sha}",
        "author": commit.author.json,
        "committer": commit.committer.json,
        "tree": {"sha": commit.tree, "url": f"{address}/trees/{commit.tree}"},
        "message": commit.message,
        "parents": [
            {"sha": sha, "url": f"{address}/commits/{sha}", "html_url": f"{page}/{sha}"}
            for sha in commit.parents
        ],
        "verification": _UNSIGNED,
    }


def _render_tag(state: State, repository: Repository, tag: TagObject) -> Json:
    address = f"{api(state, repository)}/git"
    return {
        "sha": tag.sha,
        "node_id": node_id("TA", tag.sha),
        "url": f"{address}/tags/{tag.sha}",
        "tag": tag.name,
        "message": tag.message,
        "tagger": tag.tagger.json,
        "object": {
            "sha": tag.object,
            "type": tag.kind,
            "url": f"{address}/{tag.kind}s/{tag.object}",
        },
        "verification": _UNSIGNED,
    }


def _render_tree(call: Call, sha: str, entries: dict[str, Entry]) -> Json:
    address = f"{api(call.state, call.repository)}/git"
    lines: list[Json] = []
    for path, entry in entries.items():
        line: Json = {"path": path, "mode": entry.mode, "type": entry.kind, "sha": entry.sha}
        line["url"] = f"{address}/{entry.kind}s/{entry.sha}"
        lines.append(line if entry.size is None else {**line, "size": entry.size})
    return {"sha": sha, "url": f"{address}/trees/{sha}", "tree": lines, "truncated": False}


def _object(call: Call, part: str, kind: str) -> str:
    sha = call.parameters[part]
    if not SHA.fullmatch(sha):
        message = "The sha parameter must be exactly 40 characters and contain only [0-9a-f]."
        raise Refusal(422, message)
    if call.repository.git.kind(sha) != kind:
        raise not_found()
    return sha


@route("POST", f"{_HOME}/blobs", "contents:write")
def create_blob(call: Call) -> Answer:
    """A file's bytes, as text or base64."""
    content = call.body.get("content")
    if not isinstance(content, str):
        raise invalid("Blob", "missing_field", "content")
    sha = call.repository.git.write_blob(decode(content, call.body.get("encoding", "utf-8")))
    return Answer(201, {"sha": sha, "url": f"{api(call.state, call.repository)}/git/blobs/{sha}"})


def decode(content: str, encoding: str) -> bytes:
    """What the API calls content to bytes."""
    if encoding != "base64":
        return content.encode()
    try:
        return base64.b64decode("".join(content.split()), validate=True)
    except binascii.Error:
        raise Refusal(422, "content is not valid Base64") from None


@route("GET", f"{_HOME}/blobs/{{file_sha}}", "contents:read")
def get_blob(call: Call) -> Answer:
    """A file's bytes in base64."""
    sha = _object(call, "file_sha", "blob")
    data = call.repository.git.blob(sha)
    body = {
        "sha": sha,
        "node_id": node_id("B", sha),
        "size": len(data),
        "url": f"{api(call.state, call.repository)}/git/blobs/{sha}",
        "content": base64.encodebytes(data).decode(),
        "encoding": "base64",
    }
    return Answer(200, body)


@route("POST", f"{_HOME}/trees", "contents:write")
def create_tree(call: Call) -> Answer:
    """A tree, from nothing or on top of another one."""
    git, base = call.repository.git, call.body.get("base_tree")
    lines = call.body.get("tree")
    if not isinstance(lines, list) or not lines:
        raise Refusal(422, "Invalid tree info")
    if base and git.kind(base) not in ("tree", "commit"):
        raise not_found()
    files = git.tree(base, recursive=True) if base else {}
    files = {path: entry for path, entry in files.items() if entry.kind != "tree"}
    for line in lines:
        _apply(call, files, line)
    sha = git.write_tree(files)
    return Answer(201, _render_tree(call, sha, git.tree(sha)))


def _apply(call: Call, files: dict[str, Entry], line: Json) -> None:
    """Put one line of a request into a tree's files."""
    git, path = call.repository.git, str(line.get("path", ""))
    if not path or any(part in ("", ".", "..", ".git") for part in path.split("/")):
        raise Refusal(422, f"tree.path contains a malformed path component: {path}")
    for known in [each for each in files if each == path or each.startswith(f"{path}/")]:
        del files[known]
    if "content" in line:
        files[path] = Entry(
            line.get("mode", "100644"), "blob", git.write_blob(line["content"].encode())
        )
    elif line.get("sha") is not None:
        kind = git.kind(line["sha"])
        if kind is None:
            raise Refusal(422, f"tree.sha {line['sha']} is not a valid {line.get('type', 'blob')}")
        files[path] = Entry(
            "040000" if kind == "tree" else line.get("mode", "100644"), kind, line["sha"]
        )


@route("GET", f"{_HOME}/trees/{{tree_sha}}", "contents:read")
def get_tree(call: Call) -> Answer:
    """A tree by its SHA, or of a commit, a branch or a tag."""
    git, name = call.repository.git, call.parameters["tree_sha"]
    sha = name if git.kind(name) == "tree" else None
    if sha is None:
        commit = git.resolve(name)
        if commit is None:
            raise not_found()
        sha = git.commit(commit).tree
    entries = git.tree(sha, recursive=bool(call.request.query.get("recursive")))
    return Answer(200, _render_tree(call, sha, entries))


@route("POST", f"{_HOME}/commits", "contents:write")
def create_commit(call: Call) -> Answer:
    """A commit; a ref makes it visible."""
    git, message = call.repository.git, call.need("Commit", "message")
    tree, parents = call.need("Commit", "tree"), call.body.get("parents") or []
    if git.kind(tree) != "tree":
        raise Refusal(422, "Tree SHA does not exist")
    if any(git.kind(sha) != "commit" for sha in parents):
        raise Refusal(422, "Parent SHA does not exist or is not a commit object")
    author = person(call, call.body.get("author"))
    committer = person(call, call.body.get("committer") or call.body.get("author"))
    sha = git.write_commit(tree, parents, author, committer, message)
    return Answer(201, render_commit(call.state, call.repository, git.commit(sha)))


@route("GET", f"{_HOME}/commits/{{commit_sha}}", "contents:read")
def get_commit(call: Call) -> Answer:
    """A commit by its SHA."""
    commit = call.repository.git.commit(_object(call, "commit_sha", "commit"))
    return Answer(200, render_commit(call.state, call.repository, commit))


@route("POST", f"{_HOME}/tags", "contents:write")
def create_tag(call: Call) -> Answer:
    """An annotated tag's object; a ref makes it visible."""
    git, name = call.repository.git, call.need("Tag", "tag")
    message, target = call.need("Tag", "message"), call.need("Tag", "object")
    kind = git.kind(target)
    if kind is None or kind != call.body.get("type"):
        raise Refusal(422, "Object does not exist or is of another type")
    sha = git.write_tag(target, kind, name, person(call, call.body.get("tagger")), message)
    return Answer(201, _render_tag(call.state, call.repository, git.tag(sha)))


@route("GET", f"{_HOME}/tags/{{tag_sha}}", "contents:read")
def get_tag(call: Call) -> Answer:
    """An annotated tag's object."""
    tag = call.repository.git.tag(_object(call, "tag_sha", "tag"))
    return Answer(200, _render_tag(call.state, call.repository, tag))
