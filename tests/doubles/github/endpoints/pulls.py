"""Pull requests: issues that ask to merge one branch into another."""

from tests.doubles.github.access import allows, is_actions
from tests.doubles.github.call import Call, route
from tests.doubles.github.endpoints import issues
from tests.doubles.github.endpoints.pull_views import (
    head_repository,
    refresh,
    render,
    render_simple,
)
from tests.doubles.github.git_store import Person
from tests.doubles.github.messages import Answer, Refusal, invalid, not_found
from tests.doubles.github.state import Issue, Pull, Repository

_HOME = "/repos/{owner}/{repo}"
_PULL = f"{_HOME}/pulls/{{pull_number}}"
_NO_ACTIONS = "GitHub Actions is not permitted to create or approve pull requests."


def find(call: Call) -> tuple[Issue, Pull]:
    """The pull request that a path names, caught up."""
    issue = call.repository.issues.get(call.number("pull_number"))
    if issue is None or issue.pull is None:
        raise not_found()
    return issue, refresh(call.state, call.repository, issue)


@route("GET", f"{_HOME}/pulls", "pull_requests:read")
def list_pulls(call: Call) -> Answer:
    """Pull requests by state, head (`owner:branch`) and base."""
    query, home = call.request.query, call.repository
    state, base = query.get("state", "open"), query.get("base", "")
    owner, colon, branch = query.get("head", "").rpartition(":")
    if state not in ("open", "closed", "all"):
        raise invalid("PullRequest", "invalid", "state")
    found = []
    for issue in home.pulls():
        pull = refresh(call.state, home, issue)
        source = head_repository(call.state, home, pull).owner.login
        # GitHub ignores a head without an owner.
        fits = not colon or (owner.lower() == source.lower() and branch == pull.head)
        if state in ("all", issue.state) and base in ("", pull.base) and fits:
            found.append(issue)
    by_update = query.get("sort") == "updated"
    found.sort(
        key=lambda one: (one.updated if by_update else one.created, one.number),
        reverse=query.get("direction", "desc" if not by_update else "asc") == "desc",
    )
    return call.page(found, lambda issue: render_simple(call.state, home, issue))


@route("POST", f"{_HOME}/pulls", "pull_requests:write", readers=True)
def create_pull(call: Call) -> Answer:
    """A new pull request; one at a time for a head and a base."""
    home = call.repository
    if is_actions(call.token) and not home.settings.can_approve_pull_request_reviews:
        raise Refusal(403, _NO_ACTIONS)
    if "issue" not in call.body:
        call.need("PullRequest", "title")
    head_name, base = call.need("PullRequest", "head"), call.need("PullRequest", "base")
    owner, _, head = head_name.rpartition(":")
    source = _source(call, owner)
    if call.body.get("draft") and not home.offers(home.settings.drafts_available):
        raise Refusal(422, "Draft pull requests are not supported in this repository.")
    pull = _between(call, source, head, base)
    body = issues.check_body("PullRequest", call.body.get("body"))
    at, title = call.state.time(), str(call.body.get("title", ""))
    number, new_id = home.next_number(), call.state.next_id()
    app = call.token.app if call.token else None
    issue = Issue(new_id, number, title, body, call.actor, at, at, app=app, pull=pull)
    home.issues[issue.number] = issue
    home.git.set_ref(f"refs/pull/{issue.number}/head", pull.head_sha)
    return Answer(201, render(call.state, home, issue))


def _source(call: Call, owner: str) -> Repository:
    """The repository of a head: this one, or somebody's fork of it."""
    home = call.repository
    if owner.lower() in ("", home.owner.login.lower()):
        if not allows(home, call.token, "pull_requests", "write"):
            raise Refusal(403, "Must have push access to repository")
        return home
    for other in call.state.repositories.values():
        forked = other.fork_of.lower() == home.full_name.lower()
        if forked and other.owner.login.lower() == owner.lower():
            return other
    raise invalid("PullRequest", "invalid", "head")


def _between(call: Call, source: Repository, head: str, base: str) -> Pull:
    """What a pull request from head to base is about, if there can be one."""
    home = call.repository
    head_sha = source.git.ref(f"refs/heads/{head}")
    from_fork = source.full_name.lower() if source is not home else ""
    if head_sha and from_fork:
        home.git.fetch(source.git, head_sha)
    base_sha = home.git.ref(f"refs/heads/{base}")
    for name, sha in (("head", head_sha), ("base", base_sha)):
        if sha is None:
            raise invalid("PullRequest", "invalid", name)
    for issue in home.pulls():
        other = refresh(call.state, home, issue)
        if issue.state == "open" and (
            other.head,
            other.base,
            other.head_repository,
        ) == (head, base, from_fork):
            message = f"A pull request already exists for {source.owner.login}:{head}."
            raise invalid("PullRequest", "custom", message=message)
    if head_sha is None or base_sha is None or not home.git.log(head_sha, without=base_sha):
        message = f"No commits between {base} and {head}"
        raise invalid("PullRequest", "custom", message=message)
    draft = bool(call.body.get("draft"))
    return Pull(head, base, head_sha, base_sha, draft, from_fork)


@route("GET", _PULL, "pull_requests:read")
def get_pull(call: Call) -> Answer:
    """One pull request."""
    return Answer(200, render(call.state, call.repository, find(call)[0]))


@route("PATCH", _PULL, "pull_requests:write", readers=True)
def update_pull(call: Call) -> Answer:
    """Change title, text, state or base; its author may, and who can write."""
    (issue, pull), home, body = find(call), call.repository, call.body
    if not allows(home, call.token, "pull_requests", "write") and issue.author != call.actor:
        raise Refusal(403, "Must have admin rights to Repository.")
    if body.get("base") and body["base"] != pull.base:
        base_sha = home.git.ref(f"refs/heads/{body['base']}")
        if base_sha is None:
            raise invalid("PullRequest", "invalid", "base")
        pull.base, pull.base_sha = body["base"], base_sha
    if body.get("state") == "open" and issue.state == "closed":
        _check_reopening(home, issue, pull)
    if "title" in body:
        issue.title = call.need("PullRequest", "title")
    if "body" in body:
        issue.body = issues.check_body("PullRequest", body["body"])
    if body.get("state"):
        issues.set_state(call, issue, body["state"])
    issue.updated = call.state.time()
    return Answer(200, render(call.state, home, issue))


def _check_reopening(home: Repository, issue: Issue, pull: Pull) -> None:
    if pull.merged:
        message = "state cannot be changed. The pull request cannot be reopened."
        raise invalid("PullRequest", "invalid", "state", message)
    if not pull.head_repository and home.git.ref(f"refs/heads/{pull.head}") is None:
        message = f"state cannot be changed. The {pull.head} branch has been deleted."
        raise invalid("PullRequest", "invalid", "state", message)
    for other in home.pulls():
        same = other.pull is not None and (other.pull.head, other.pull.base) == (
            pull.head,
            pull.base,
        )
        if same and other is not issue and other.state == "open":
            message = (
                "state cannot be changed. There is already an open pull request from "
                f"{home.owner.login}:{pull.head} to {home.owner.login}:{pull.base}."
            )
            raise invalid("PullRequest", "invalid", "state", message)


@route("PUT", f"{_PULL}/merge", "contents:write")
def merge(call: Call) -> Answer:
    """Merge it, by a merge commit or squashed into one."""
    (issue, pull), git = find(call), call.repository.git
    method = call.body.get("merge_method", "merge")
    if method == "rebase":
        raise Refusal(405, "Rebase merges are not allowed on this repository.")
    tree = git.merge(pull.base_sha, pull.head_sha) if issue.state == "open" else None
    if tree is None or pull.draft:
        raise Refusal(405, "Pull Request is not mergeable")
    if call.body.get("sha", pull.head_sha) != pull.head_sha:
        raise Refusal(409, "Head branch was modified. Review and try the merge again.")
    title = f"Merge pull request #{issue.number} from {call.repository.owner.login}/{pull.head}"
    parents = [pull.base_sha, pull.head_sha]
    if method == "squash":
        title, parents = f"{issue.title} (#{issue.number})", parents[:1]
    message = f"{call.body.get('commit_title') or title}\n\n{call.body.get('commit_message') or ''}"
    email = f"{call.actor.id}+{call.actor.login}@users.noreply.github.com"
    who = Person(call.actor.login, email, call.state.now())
    sha = git.write_commit(tree, parents, who, who, message.rstrip())
    git.set_ref(f"refs/heads/{pull.base}", sha)
    _mark_merged(call, issue, pull, sha)
    body = {"sha": sha, "merged": True, "message": "Pull Request successfully merged"}
    return Answer(200, body)


def _mark_merged(call: Call, issue: Issue, pull: Pull, sha: str) -> None:
    at = call.state.time()
    issue.state, issue.closed, issue.closed_by, issue.updated = "closed", at, call.actor, at
    pull.merged, pull.merged_by, pull.merge_commit = at, call.actor, sha
