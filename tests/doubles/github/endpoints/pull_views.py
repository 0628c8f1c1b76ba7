"""A pull request as GitHub shows it: caught up with what was pushed, in three sizes."""

from dataclasses import dataclass

from tests.doubles.github.endpoints import labels
from tests.doubles.github.git_store import FileChange
from tests.doubles.github.messages import Json, not_found
from tests.doubles.github.shapes import (
    api,
    association,
    maybe_user,
    node_id,
    repository_inside,
    user,
    web,
)
from tests.doubles.github.state import Issue, Pull, Repository, State


@dataclass(frozen=True)
class Merge:
    """What merging would do."""

    mergeable: bool
    commits: list[str]
    changes: list[FileChange]


def refresh(state: State, repository: Repository, issue: Issue) -> Pull:
    """Catch up with what was pushed: a moved head, a merged one, a deleted branch."""
    pull, git = _pull(issue), repository.git
    if issue.state != "open":
        return pull
    tips, at = git.refs("refs/heads/"), state.time()
    source = head_repository(state, repository, pull)
    theirs = tips if source is repository else source.git.refs("refs/heads/")
    base, head = tips.get(f"refs/heads/{pull.base}"), theirs.get(f"refs/heads/{pull.head}")
    if head and source is not repository and git.kind(head) is None:
        git.fetch(source.git, head)
    if base and base != pull.base_sha and git.contains(base, pull.head_sha):
        issue.state, issue.closed, issue.updated = "closed", at, at
        pull.merged, pull.merged_by, pull.merge_commit = at, repository.owner, base
    elif head is None:
        issue.state, issue.closed, issue.updated = "closed", at, at
    elif head != pull.head_sha:
        pull.head_sha, issue.updated = head, at
    if base and issue.state == "open":
        pull.base_sha = base
    return pull


def _pull(issue: Issue) -> Pull:
    if issue.pull is None:
        raise not_found()
    return issue.pull


def head_repository(state: State, repository: Repository, pull: Pull) -> Repository:
    """Where the head branch lies: here, or in a fork."""
    return state.repositories.get(pull.head_repository, repository)


def render_simple(state: State, repository: Repository, issue: Issue) -> Json:
    """A pull request, as lists show it."""
    pull = _pull(issue)
    home, page = api(state, repository), f"{web(state, repository)}/pull/{issue.number}"
    address, thread = f"{home}/pulls/{issue.number}", f"{home}/issues/{issue.number}"
    links = {
        "self": address,
        "html": page,
        "issue": thread,
        "comments": f"{thread}/comments",
        "review_comments": f"{address}/comments",
        "review_comment": f"{home}/pulls/comments{{/number}}",
        "commits": f"{address}/commits",
        "statuses": f"{home}/statuses/{pull.head_sha}",
    }
    on = labels.on(state, repository, issue)
    return {
        "url": address,
        "id": issue.id,
        "node_id": node_id("PR", issue.id),
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": thread,
        "commits_url": links["commits"],
        "review_comments_url": links["review_comments"],
        "review_comment_url": links["review_comment"],
        "comments_url": links["comments"],
        "statuses_url": links["statuses"],
        "number": issue.number,
        "state": issue.state,
        "locked": issue.locked,
        "title": issue.title,
        "user": user(state, issue.author),
        "body": issue.body,
        "labels": [{**label, "description": label["description"] or ""} for label in on],
        "milestone": None,
        "created_at": issue.created,
        "updated_at": issue.updated,
        "closed_at": issue.closed,
        "merged_at": pull.merged,
        "merge_commit_sha": pull.merge_commit,
        "assignee": maybe_user(state, issue.assignees[0] if issue.assignees else None),
        "assignees": [user(state, one) for one in issue.assignees],
        "requested_reviewers": [],
        "requested_teams": [],
        "head": _end(state, head_repository(state, repository, pull), pull.head, pull.head_sha),
        "base": _end(state, repository, pull.base, pull.base_sha),
        "_links": {name: {"href": link} for name, link in links.items()},
        "author_association": association(repository, issue.author),
        "auto_merge": None,
        "active_lock_reason": None,
        "draft": pull.draft,
    }


def render(state: State, repository: Repository, issue: Issue) -> Json:
    """A pull request's own page: with counts, and whether it can be merged."""
    simple = render_simple(state, repository, issue)
    pull = _pull(issue)
    merge = merge_of(repository, pull)
    on_it = [one for one in repository.comments.values() if one.number == issue.number]
    is_open = issue.state == "open"
    return {
        **simple,
        "labels": labels.on(state, repository, issue),
        "merged": pull.merged is not None,
        "mergeable": merge.mergeable if is_open else None,
        "rebaseable": merge.mergeable if is_open else None,
        "mergeable_state": _merge_state(pull, merge, is_open),
        "merged_by": maybe_user(state, pull.merged_by),
        "comments": len(on_it),
        "review_comments": 0,
        "maintainer_can_modify": False,
        "commits": len(merge.commits),
        "additions": sum(change.additions for change in merge.changes),
        "deletions": sum(change.deletions for change in merge.changes),
        "changed_files": len(merge.changes),
    }


def render_minimal(state: State, repository: Repository, issue: Issue) -> Json:
    """A pull request, as it appears inside checks and runs."""
    pull = _pull(issue)
    home = {"id": repository.id, "url": api(state, repository), "name": repository.name}
    return {
        "id": issue.id,
        "number": issue.number,
        "url": f"{api(state, repository)}/pulls/{issue.number}",
        "head": {"ref": pull.head, "sha": pull.head_sha, "repo": home},
        "base": {"ref": pull.base, "sha": pull.base_sha, "repo": home},
    }


def with_head(state: State, repository: Repository, sha: str) -> list[Json]:
    """The open pull requests of a head commit."""
    found = [one for one in repository.pulls() if refresh(state, repository, one).head_sha == sha]
    return [render_minimal(state, repository, one) for one in found if one.state == "open"]


def _end(state: State, repository: Repository, ref: str, sha: str) -> Json:
    return {
        "label": f"{repository.owner.login}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user(state, repository.owner),
        "repo": repository_inside(state, repository),
    }


def merge_of(repository: Repository, pull: Pull) -> Merge:
    """What merging a pull request would do."""
    git = repository.git
    fork = git.merge_base(pull.base_sha, pull.head_sha)
    if fork is None:
        return Merge(False, [], [])
    ahead = git.log(pull.head_sha, without=pull.base_sha)
    mergeable = git.merge(pull.base_sha, pull.head_sha) is not None
    return Merge(mergeable, ahead, git.changes(fork, pull.head_sha))


def _merge_state(pull: Pull, merge: Merge, is_open: bool) -> str:
    if not is_open:
        return "unknown"
    if not merge.mergeable:
        return "dirty"
    return "draft" if pull.draft else "clean"
