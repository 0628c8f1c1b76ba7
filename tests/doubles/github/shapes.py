"""Accounts, repositories and Apps to GitHub's JSON; they appear inside everything else."""

import base64
import re

from tests.doubles.github.accounts import Account, App
from tests.doubles.github.messages import Json
from tests.doubles.github.state import Repository, State

_USER_LINKS = {
    "followers_url": "followers",
    "following_url": "following{/other_user}",
    "gists_url": "gists{/gist_id}",
    "starred_url": "starred{/owner}{/repo}",
    "subscriptions_url": "subscriptions",
    "organizations_url": "orgs",
    "repos_url": "repos",
    "events_url": "events{/privacy}",
    "received_events_url": "received_events",
}
_REPOSITORY_LINKS = {
    "archive_url": "{archive_format}{/ref}",
    "assignees_url": "assignees{/user}",
    "blobs_url": "git/blobs{/sha}",
    "branches_url": "branches{/branch}",
    "collaborators_url": "collaborators{/collaborator}",
    "comments_url": "comments{/number}",
    "commits_url": "commits{/sha}",
    "compare_url": "compare/{base}...{head}",
    "contents_url": "contents/{+path}",
    "contributors_url": "contributors",
    "deployments_url": "deployments",
    "downloads_url": "downloads",
    "events_url": "events",
    "forks_url": "forks",
    "git_commits_url": "git/commits{/sha}",
    "git_refs_url": "git/refs{/sha}",
    "git_tags_url": "git/tags{/sha}",
    "hooks_url": "hooks",
    "issue_comment_url": "issues/comments{/number}",
    "issue_events_url": "issues/events{/number}",
    "issues_url": "issues{/number}",
    "keys_url": "keys{/key_id}",
    "labels_url": "labels{/name}",
    "languages_url": "languages",
    "merges_url": "merges",
    "milestones_url": "milestones{/number}",
    "notifications_url": "notifications{?since,all,participating}",
    "pulls_url": "pulls{/number}",
    "releases_url": "releases{/id}",
    "stargazers_url": "stargazers",
    "statuses_url": "statuses/{sha}",
    "subscribers_url": "subscribers",
    "subscription_url": "subscription",
    "tags_url": "tags",
    "teams_url": "teams",
    "trees_url": "git/trees{/sha}",
}


def node_id(kind: str, number: int | str) -> str:
    """GraphQL's name for a thing; opaque, but the same each time."""
    return f"{kind}_{base64.urlsafe_b64encode(str(number).encode()).decode().rstrip('=')}"


def api(state: State, repository: Repository) -> str:
    """A repository's address in the API."""
    return f"{state.url}/repos/{repository.full_name}"


def web(state: State, repository: Repository) -> str:
    """A repository's address for people."""
    return f"{state.web}/{repository.full_name}"


def user(state: State, account: Account) -> Json:
    """Somebody, as they appear inside other things."""
    address = f"{state.url}/users/{account.login}"
    page = account.login
    if account.kind == "Bot":
        page = f"apps/{account.login.removesuffix('[bot]')}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id("U", account.id),
        "avatar_url": f"https://avatars.githubusercontent.com/u/{account.id}?v=4",
        "gravatar_id": "",
        "url": address,
        "html_url": f"{state.web}/{page}",
        **{name: f"{address}/{path}" for name, path in _USER_LINKS.items()},
        "type": account.kind,
        "user_view_type": "public",
        "site_admin": False,
    }


def maybe_user(state: State, account: Account | None) -> Json | None:
    """Somebody or nobody."""
    return user(state, account) if account else None


def profile(state: State, account: Account) -> Json:
    """Somebody's own page."""
    about = ("name", "company", "location", "email", "hireable", "bio", "twitter_username")
    return {
        **user(state, account),
        **dict.fromkeys(about),
        "blog": "",
        **dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0),
        "created_at": "2020-01-01T00:00:00Z",
        "updated_at": "2020-01-01T00:00:00Z",
    }


def minimal_repository(state: State, repository: Repository) -> Json:
    """A repository, as it appears inside checks and runs."""
    address = api(state, repository)
    return {
        "id": repository.id,
        "node_id": node_id("R", repository.id),
        "name": repository.name,
        "full_name": repository.full_name,
        "private": repository.private,
        "owner": user(state, repository.owner),
        "html_url": web(state, repository),
        "description": None,
        "fork": bool(repository.fork_of),
        "url": address,
        **{
            name: f"{address}{'' if path[:2] == '{/' else '/'}{path}"
            for name, path in _REPOSITORY_LINKS.items()
        },
    }


def repository_inside(state: State, repository: Repository) -> Json:
    """A repository, as it appears inside pull requests."""
    page = web(state, repository)
    host = re.sub(r"^https?://", "", state.web)
    issues = sum(issue.state == "open" for issue in repository.issues.values())
    counts = ("forks", "forks_count", "size", "stargazers_count", "watchers", "watchers_count")
    return {
        **minimal_repository(state, repository),
        "git_url": f"git://{host}/{repository.full_name}.git",
        "ssh_url": f"git@{host}:{repository.full_name}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "topics": [],
        **dict.fromkeys(counts, 0),
        "open_issues": issues,
        "open_issues_count": issues,
        "default_branch": repository.default_branch,
        "visibility": "private" if repository.private else "public",
        **dict.fromkeys(("archived", "disabled", "is_template", "has_pages"), False),
        **dict.fromkeys(("has_issues", "has_projects", "has_wiki", "has_downloads"), True),
        "has_discussions": False,
        "allow_forking": True,
        "web_commit_signoff_required": False,
        "pushed_at": repository.created,
        "created_at": repository.created,
        "updated_at": repository.created,
    }


def full_repository(state: State, repository: Repository, account: Account | None) -> Json:
    """A repository's own page, with what the asker may do."""
    body = {
        **repository_inside(state, repository),
        "network_count": 0,
        "subscribers_count": 0,
        "allow_squash_merge": True,
        "allow_merge_commit": True,
        "allow_rebase_merge": False,
        "allow_auto_merge": False,
        "delete_branch_on_merge": False,
    }
    return {**body, "permissions": permissions(repository, account)} if account else body


def permissions(repository: Repository, account: Account) -> dict[str, bool]:
    """What somebody may do, as five switches."""
    role = repository.role(account)
    granted = {
        "none": 0, "read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5,
    }[role]  # fmt: skip
    names = ("pull", "triage", "push", "maintain", "admin")
    return {name: granted > at for at, name in enumerate(names)}


def app(state: State, one: App) -> Json:
    """A GitHub App."""
    return {
        "id": one.id,
        "slug": one.slug,
        "node_id": node_id("A", one.id),
        "owner": user(state, one.owner),
        "name": one.slug,
        "description": "",
        "external_url": f"{state.web}/apps/{one.slug}",
        "html_url": f"{state.web}/apps/{one.slug}",
        "created_at": "2020-01-01T00:00:00Z",
        "updated_at": "2020-01-01T00:00:00Z",
        "permissions": {"metadata": "read"},
        "events": [],
    }


def maybe_app(state: State, one: App | None) -> Json | None:
    """An App or none."""
    return app(state, one) if one else None


def association(repository: Repository, account: Account) -> str:
    """How somebody belongs to a repository."""
    if account.login == repository.owner.login:
        return "OWNER"
    if account.kind == "Bot":
        return "NONE"
    known = repository.roles.get(account.login.lower(), "none") != "none"
    return "COLLABORATOR" if known else "NONE"
