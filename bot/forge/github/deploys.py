"""Asks GitHub who approved what and what protects an environment; shows deployments there."""

import re

from bot.forge.command_line import read_command
from bot.forge.deploys import Assent, Deployment, Gate, Pull, Run, Way
from bot.forge.github.api import Forbidden, GitHubApi, Missing, Row, Unprocessable, segment
from bot.forge.trigger import Actor

TASK = "stratwright"
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
_EDITED = (
    "query($ids:[ID!]!){nodes(ids:$ids)"
    "{...on PullRequestReview{id lastEditedAt}...on IssueComment{id lastEditedAt}}}"
)
_MOST_NODES = 100


class GitHubDeploys:
    """Approvals and deployments of one repository."""

    def __init__(self, api: GitHubApi) -> None:
        self._api = api

    def gate(self, environment: str) -> Gate | None:
        """Return what protects an environment; None if there is none of the name."""
        place = f"environments/{segment(environment)}"
        try:
            found = self._api.get(place)
        except Missing:
            return None
        rules = found.get("protection_rules") or []
        wanted = [rule for rule in rules if rule.get("type") == "required_reviewers"]
        people = [each for rule in wanted for each in rule.get("reviewers") or ()]
        users = [each["reviewer"]["id"] for each in people if each.get("type") == "User"]
        return Gate(
            environment,
            frozenset(map(int, users)),
            len(people) - len(users),
            bool(wanted) and all(rule.get("prevent_self_review") is True for rule in wanted),
            found.get("can_admins_bypass") is not False,
            self._branches(place, found.get("deployment_branch_policy")),
        )

    def _branches(self, place: str, policy: Row | None) -> tuple[str, ...] | None:
        """Name what may deploy; a rule may protect whatever branch a writer makes tomorrow."""
        if not policy:
            return None
        if policy.get("protected_branches"):
            return ("every protected branch",)
        found = self._api.get(f"{place}/deployment-branch-policies", per_page=100)
        named = found["branch_policies"]
        # A tag may be pushed by every writer: as open as any branch.
        return tuple(sorted(_pattern(row) for row in named))

    def run(self, number: int) -> Run | None:
        """Return a run; None if there is none."""
        try:
            row = self._api.get(f"actions/runs/{number}")
        except Missing:
            return None
        return Run(
            int(row["id"]),
            str(row["path"]).partition("@")[0],
            str(row["event"]),
            str(row["head_branch"] or ""),
            str(row["head_sha"]),
            str((row.get("head_repository") or {}).get("full_name", "")),
            str(row["created_at"]),
            tuple(_actor(row[key]) for key in ("actor", "triggering_actor") if row.get(key)),
        )

    def pull(self, number: int) -> Pull | None:
        """Return a pull request; None if there is none."""
        try:
            row = self._api.get(f"pulls/{number}")
        except Missing:
            return None
        head = row["head"]
        home = str((head.get("repo") or {}).get("full_name", ""))
        return Pull(
            number,
            _actor(row.get("user") or {}),
            str(head["ref"]),
            str(head["sha"]),
            home.casefold() != self._api.repository.casefold(),
            row["state"] == "open",
            bool(row.get("merged_at")),
        )

    def run_assents(self, run: Run, commit: str, environment: str) -> tuple[Assent, ...]:
        """Return what was said about letting a run into an environment; GitHub tells no time."""
        rows = self._api.get(f"actions/runs/{run.id}/approvals")
        return tuple(
            Assent(
                _actor(row.get("user") or {}), Way.RUN, run.id, commit, run.created,
                str(row["state"]),
            )
            for row in rows
            if environment in {str(place.get("name")) for place in row["environments"]}
        )  # fmt: skip

    def assents(self, number: int) -> tuple[Assent, ...]:
        """Return reviews and approving comments of a pull request, oldest first."""
        said = [*self._reviews(number), *self._comments(number)]
        return tuple(sorted(said, key=lambda each: (each.at, each.id)))

    def _reviews(self, number: int) -> list[Assent]:
        rows = [
            row
            for row in self._api.pages(f"pulls/{number}/reviews")
            if row["state"] in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED")
        ]
        edited = self._edited([str(row["node_id"]) for row in rows])
        return [
            Assent(
                _actor(row.get("user") or {}), Way.REVIEW, int(row["id"]),
                str(row.get("commit_id") or ""), str(row.get("submitted_at") or ""),
                str(row["state"]).lower(), str(row["node_id"]) in edited,
            )
            for row in rows
        ]  # fmt: skip

    def _edited(self, nodes: list[str]) -> set[str]:
        """Find the words that were changed: GraphQL tells, to the second REST does not."""
        plain: set[str] = set()
        for first in range(0, len(nodes), _MOST_NODES):
            part = nodes[first : first + _MOST_NODES]
            found = self._api.graphql(_EDITED, ids=part)
            rows = (found or {}).get("nodes") or []
            plain |= {str(row["id"]) for row in rows if row and row.get("lastEditedAt") is None}
        return {*nodes} - plain

    def _comments(self, number: int) -> list[Assent]:
        found, rows = [], []
        for row in self._api.pages(f"issues/{number}/comments"):
            command = read_command(str(row.get("body") or ""))
            if command is not None and command.verb == "approve":
                rows.append((row, command))
        changed = self._edited([str(row["node_id"]) for row, _ in rows])
        for row, command in rows:
            actor = _actor(row.get("user") or {})
            if row.get("performed_via_github_app"):
                actor = Actor(actor.id, actor.login, "Bot")
            commit = command.argument if _SHA.fullmatch(command.argument) else ""
            edited = row["created_at"] != row["updated_at"] or str(row["node_id"]) in changed
            at = str(row["created_at"])
            found.append(Assent(actor, Way.COMMENT, int(row["id"]), commit, at, "approved", edited))
        return found

    def authors(self, commit: str) -> tuple[Actor, ...]:
        """Return the accounts of those who wrote a commit; none if its author has none."""
        try:
            row = self._api.get(f"commits/{segment(commit)}")
        except (Missing, Unprocessable):
            return ()
        people = [row[key] for key in ("author", "committer") if row.get(key)]
        return tuple(dict.fromkeys(map(_actor, people))) if row.get("author") else ()

    def goes_around(self, actor: Actor) -> bool:
        """Say whether somebody administers the repository, so that no reviewer stops them."""
        try:
            found = self._api.get(f"collaborators/{segment(actor.login)}/permission")
        except (Missing, Unprocessable):
            return True
        return bool(found.get("permission") != "write")

    def asker(self, number: int) -> Actor | None:
        """Return who opened an issue."""
        try:
            return _actor(self._api.get(f"issues/{number}").get("user") or {})
        except Missing:
            return None

    def show(self, deployment: Deployment) -> str:
        """Show a deployment as done, and others of its task as over; gives its address."""
        task = f"{TASK}:{deployment.task}"
        body = {
            "ref": deployment.commit,
            "task": task,
            "auto_merge": False,
            "required_contexts": [],
            "payload": {"record": deployment.key, **deployment.payload},
            "environment": deployment.environment,
            "description": deployment.description[:140],
            "production_environment": deployment.environment == "live",
        }

        def look() -> Row | None:
            rows = self._listed(deployment.task, deployment.environment)
            mine = [row for row in rows if _record(row) == deployment.key]
            return min(mine, key=lambda row: int(row["id"])) if mine else None

        made = self._api.ensure(
            "the deployment", look, lambda: self._api.write("POST", "deployments", body)
        )
        for row in self._listed(deployment.task, deployment.environment):
            if row["id"] != made["id"]:
                self._say(row, "inactive", "another approval took its place")
        self._say(made, "success", "the record is published", deployment.link)
        return str(made["url"])

    def end(self, task: str) -> int:
        """Show every deployment of a task as over; gives how many were not.

        A token that may not see deployments has made none.
        """
        try:
            rows = self._listed(task)
        except Forbidden:
            return 0
        return sum(self._say(row, "inactive", "halted") for row in rows)

    def _listed(self, task: str, environment: str = "") -> list[Row]:
        place = {"environment": environment} if environment else {}
        return list(self._api.pages("deployments", task=f"{TASK}:{task}", **place))

    def _say(self, row: Row, state: str, words: str, link: str = "") -> bool:
        """Give a deployment a state, unless it has it; says whether it had another."""
        path = f"deployments/{row['id']}/statuses"
        body = {"state": state, "description": words, "auto_inactive": False}
        body |= {"log_url": link} if link else {}

        def look() -> bool | None:
            rows = self._api.get(path, per_page=1)
            return True if rows and rows[0]["state"] == state else None

        if look():
            return False
        self._api.ensure(
            "the deployment's status",
            look,
            lambda: self._api.write("POST", path, body),
            looked=True,
        )
        return True

    def open_issue(self, title: str, body: str, key: str) -> str:
        """Open an issue once for a key, which stands in its first line; gives its address."""
        mark = f"<!-- stratwright:incident:{key} -->"

        def look() -> str | None:
            order = {"sort": "created", "direction": "desc"}
            for row in self._api.get("issues", state="all", per_page=100, **order):
                if str(row.get("body") or "").startswith(mark) and not row.get("pull_request"):
                    return str(row["html_url"])
            return None

        wanted = {"title": title, "body": f"{mark}\n{body}"}
        return self._api.ensure(
            "the incident", look, lambda: self._api.write("POST", "issues", wanted)
        )


def _pattern(row: Row) -> str:
    return f"tag {row['name']}" if row.get("type") == "tag" else str(row["name"])


def _record(row: Row) -> str:
    payload = row.get("payload")
    return str(payload.get("record", "")) if isinstance(payload, dict) else ""


def _actor(row: Row) -> Actor:
    number = row.get("id")
    login, kind = str(row.get("login") or ""), str(row.get("type") or "")
    return Actor(number if isinstance(number, int) else 0, login, kind)
