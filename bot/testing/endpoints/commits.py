"""Commits with their diffs, branches, tags, and what lies between two commits."""

from urllib.parse import quote

from bot.testing.accounts import Account
from bot.testing.call import Call, route
from bot.testing.endpoints.git_data import render_commit as render_git_commit
from bot.testing.git_store import Commit, FileChange
from bot.testing.messages import Answer, Json, Refusal, not_found
from bot.testing.shapes import api, node_id, user, web
from bot.testing.state import Repository, State

_HOME = "/repos/{owner}/{repo}"
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def resolve(call: Call, name: str) -> str:
    """The commit that a name stands for; refused if there is none."""
    sha = call.repository.git.resolve(name)
    if sha is None:
        raise Refusal(422, f"No commit found for SHA: {name}")
    return sha


def render(state: State, repository: Repository, commit: Commit) -> Json:
    """A commit, as the repository's history shows it."""
    address = f"{api(state, repository)}/commits"
    inner = render_git_commit(state, repository, commit)
    parents = [{**parent, "url": f"{address}/{parent['sha']}"} for parent in inner["parents"]]
    keys = ("author", "committer", "message", "tree", "url", "verification")
    people = {
        name: user(state, account) if account else None
        for name, account in (
            ("author", _account(state, commit.author.email)),
            ("committer", _account(state, commit.committer.email)),
        )
    }
    return {
        "sha": commit.sha,
        "node_id": node_id("C", commit.sha),
        "commit": {**{key: inner[key] for key in keys}, "comment_count": 0},
        "url": f"{address}/{commit.sha}",
        "html_url": inner["html_url"],
        "comments_url": f"{address}/{commit.sha}/comments",
        **people,
        "parents": parents,
    }


def render_change(state: State, repository: Repository, head: str, change: FileChange) -> Json:
    """A file of a diff."""
    path, page = quote(change.path), web(state, repository)
    body: Json = {
        "sha": change.sha,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{page}/blob/{head}/{path}",
        "raw_url": f"{page}/raw/{head}/{path}",
        "contents_url": f"{api(state, repository)}/contents/{path}?ref={head}",
    }
    if change.patch:
        body["patch"] = change.patch
    if change.previous:
        body["previous_filename"] = change.previous
    return body


def _account(state: State, email: str) -> Account | None:
    """Whose address it is, if it is one that GitHub gives out."""
    login = email.removesuffix("@users.noreply.github.com").partition("+")[2]
    return state.accounts.get(login.lower()) if login else None


def _with_changes(call: Call, commit: Commit) -> Json:
    before = commit.parents[0] if commit.parents else _EMPTY_TREE
    changes = call.repository.git.changes(before, commit.sha)
    additions, deletions = (sum(getattr(c, n) for c in changes) for n in ("additions", "deletions"))
    total = additions + deletions
    files = [render_change(call.state, call.repository, commit.sha, each) for each in changes]
    stats = {"additions": additions, "deletions": deletions, "total": total}
    return {**render(call.state, call.repository, commit), "stats": stats, "files": files}


@route("GET", f"{_HOME}/commits", "contents:read")
def list_commits(call: Call) -> Answer:
    """History, newest first."""
    home, query = call.repository, call.request.query
    tip = home.git.resolve(query.get("sha") or home.default_branch)
    if tip is None:
        raise not_found() if query.get("sha") else Refusal(409, "Git Repository is empty.")
    found = home.git.log(tip, path=query.get("path", ""))
    return call.page(found, lambda sha: render(call.state, home, home.git.commit(sha)))


@route("GET", f"{_HOME}/commits/{{ref}}", "contents:read")
def get_commit(call: Call) -> Answer:
    """One commit with its diff."""
    sha = resolve(call, call.parameters["ref"])
    return Answer(200, _with_changes(call, call.repository.git.commit(sha)))


@route("GET", f"{_HOME}/compare/{{basehead}}", "contents:read")
def compare(call: Call) -> Answer:
    """What head has that base has not."""
    home, git = call.repository, call.repository.git
    left, dots, right = call.parameters["basehead"].partition("...")
    prefix = f"{home.owner.login}:"
    base, head = (git.resolve(name.removeprefix(prefix)) for name in (left, right))
    fork = git.merge_base(base, head) if base and head else None
    if not dots or base is None or head is None or fork is None:
        raise not_found()
    ahead, behind = git.log(head, without=base), git.log(base, without=head)
    states = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind"}
    page = f"{web(call.state, home)}/compare/{left}...{right}"
    body = {
        "url": f"{api(call.state, home)}/compare/{left}...{right}",
        "html_url": page,
        "permalink_url": f"{web(call.state, home)}/compare/{prefix}{base[:7]}...{prefix}{head[:7]}",
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "base_commit": render(call.state, home, git.commit(base)),
        "merge_base_commit": render(call.state, home, git.commit(fork)),
        "status": states.get((bool(ahead), bool(behind)), "identical"),
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [render(call.state, home, git.commit(sha)) for sha in reversed(ahead[:250])],
        "files": [render_change(call.state, home, head, each) for each in git.changes(fork, head)],
    }
    return Answer(200, body)


@route("GET", f"{_HOME}/branches", "contents:read")
def list_branches(call: Call) -> Answer:
    """All branches by name."""
    home, address = call.repository, api(call.state, call.repository)
    protected = call.request.query.get("protected", "")

    def short(each: tuple[str, str]) -> Json:
        commit = {"sha": each[1], "url": f"{address}/commits/{each[1]}"}
        return {"name": each[0], "commit": commit, "protected": each[0] in home.protected}

    found = sorted(home.git.refs("refs/heads/").items())
    named = [(name.removeprefix("refs/heads/"), sha) for name, sha in found]
    if protected:
        named = [each for each in named if (each[0] in home.protected) == (protected == "true")]
    return call.page(named, short)


@route("GET", f"{_HOME}/branches/{{branch}}", "contents:read")
def get_branch(call: Call) -> Answer:
    """One branch and its newest commit."""
    home, name = call.repository, call.parameters["branch"]
    sha = home.git.ref(f"refs/heads/{name}")
    if sha is None:
        raise Refusal(404, "Branch not found")
    address = f"{api(call.state, home)}/branches/{quote(name)}"
    level = "non_admins" if name in home.protected else "off"
    checks = {"enforcement_level": level, "contexts": [], "checks": []}
    body = {
        "name": name,
        "commit": render(call.state, home, home.git.commit(sha)),
        "_links": {"self": address, "html": f"{web(call.state, home)}/tree/{quote(name)}"},
        "protected": name in home.protected,
        "protection": {"enabled": name in home.protected, "required_status_checks": checks},
        "protection_url": f"{address}/protection",
    }
    return Answer(200, body)


@route("GET", f"{_HOME}/branches/{{branch}}/protection", "administration:read")
def get_protection(call: Call) -> Answer:
    """What protects a branch; 404 in GitHub's words if nothing does."""
    home, name = call.repository, call.parameters["branch"]
    if home.git.ref(f"refs/heads/{name}") is None:
        raise Refusal(404, "Branch not found")
    if name not in home.protected:
        raise Refusal(404, "Branch not protected")
    address = f"{api(call.state, home)}/branches/{quote(name)}/protection"
    reviews = {
        "url": f"{address}/required_pull_request_reviews",
        "dismiss_stale_reviews": True,
        "require_code_owner_reviews": False,
        "required_approving_review_count": 1,
    }
    body = {
        "url": address,
        "required_pull_request_reviews": reviews,
        "enforce_admins": {"url": f"{address}/enforce_admins", "enabled": False},
        "allow_force_pushes": {"enabled": False},
        "allow_deletions": {"enabled": False},
    }
    return Answer(200, body)


@route("GET", f"{_HOME}/tags", "contents:read")
def list_tags(call: Call) -> Answer:
    """All tags, by name."""
    home, address = call.repository, api(call.state, call.repository)

    def short(name: str) -> Json:
        sha = home.git.resolve(f"refs/tags/{name}") or ""
        return {
            "name": name,
            "node_id": node_id("REF", f"{home.id}:refs/tags/{name}"),
            "commit": {"sha": sha, "url": f"{address}/commits/{sha}"},
            "zipball_url": f"{address}/zipball/refs/tags/{quote(name)}",
            "tarball_url": f"{address}/tarball/refs/tags/{quote(name)}",
        }

    names = [name.removeprefix("refs/tags/") for name in home.git.refs("refs/tags/")]
    return call.page(sorted(names, reverse=True), short)
