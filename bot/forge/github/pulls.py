"""Keeps pull requests and labels on GitHub; everything is looked for before it is written."""

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import quote, urlencode

from bot.errors import InputError
from bot.forge.github.api import Forbidden, GitHubApi, Missing, Row, Unprocessable, segment
from bot.forge.github.checks import GitHubChecks
from bot.forge.github.comments import GitHubThreads, same
from bot.forge.github.deploys import GitHubDeploys
from bot.forge.github.people import GitHubPeople
from bot.forge.port import (
    Draft,
    PullRequest,
    PullRequestForbidden,
    PullState,
    RequestsLeft,
    Thread,
    continues,
)
from bot.git.identity import task_of_branch
from bot.git.objects import object_id
from bot.report.hidden_block import read_hidden_block
from bot.report.picture import PICTURE
from bot.settings import FORM, Settings

_HOW_TO_ALLOW = (
    "Open it by that link. To let the bot do it: Settings > Actions > General > Workflow "
    "permissions > Allow GitHub Actions to create and approve pull requests."
)


class GitHubForge:
    """Pull requests of one repository on GitHub. It has no way to merge or to approve."""

    kind = "github"

    def __init__(
        self,
        api: GitHubApi,
        settings: Settings | None = None,
        server_url: str = "https://github.com",
    ) -> None:
        self.api = api
        self.settings = settings or Settings()
        self.address = f"{server_url.rstrip('/')}/{api.repository}"
        self.repository = api.repository
        self.form = f"{self.address}/issues/new?template={FORM.rpartition('/')[2]}"
        self.threads = GitHubThreads(api, self.settings.bot, self.address)
        self.checks = GitHubChecks(api)
        self.people = GitHubPeople(api, self.address)
        self.deploys = GitHubDeploys(api)

    def submit(self, draft: Draft, *, reopen: bool = False) -> PullRequest:
        """Open a pull request, or bring the branch's open one up to date; never a second one.

        Raises:
            PullRequestForbidden: the branch is there, the pull request is not.
        """
        draft = self._with_picture(draft)
        last = self.find(draft.branch)
        if last is None or not continues(last, draft, reopen):
            return self._labelled(self._open(draft, last), opened=True)
        if last.state is PullState.MERGED or (last.state is PullState.CLOSED and not reopen):
            return last
        if last.state is PullState.CLOSED and not self.reopen(last.number):
            # GitHub does not reopen a pull request whose branch was replaced meanwhile.
            return self._labelled(self._open(draft, last), opened=True)
        return self._labelled(self._updated(last, draft))

    def find(self, branch: str) -> PullRequest | None:
        """The newest pull request of a branch of this repository, never of a fork."""
        owner = self.api.repository.partition("/")[0]
        rows = self.api.get(
            "pulls",
            head=f"{owner}:{branch}",
            state="all",
            sort="created",
            direction="desc",
            per_page=100,
        )
        own = [row for row in rows if self._is_own(row, branch)]
        return _pull(max(own, key=lambda row: int(row["number"]))) if own else None

    def get(self, number: int) -> PullRequest:
        """One by its number."""
        try:
            return self._seen(number)
        except Missing:
            hint = "Check the number; if it was opened a moment ago, run again."
            raise InputError(f"there is no pull request {number}", hint) from None

    def _seen(self, number: int) -> PullRequest:
        """One by its number, as those ask who know that it is there or comes.

        That of a fork has the fork's owner in its branch's name, so it is taken for no task's.
        """
        row = self.api.get(f"pulls/{number}")
        pull = _pull(row)
        if self._is_own(row):
            return pull
        owner = ((row.get("head") or {}).get("user") or {}).get("login", "")
        return replace(pull, draft=replace(pull.draft, branch=f"{owner}:{pull.draft.branch}"))

    def pulls(self, *, only_open: bool = False) -> tuple[PullRequest, ...]:
        """Return all of generated branches, oldest first; one request for a hundred."""
        state = "open" if only_open else "all"
        rows = self.api.pages("pulls", state=state, sort="created", direction="asc")
        return tuple(
            _pull(row) for row in rows if task_of_branch(row["head"]["ref"]) and self._is_own(row)
        )

    def close(self, number: int, reason: str = "") -> PullRequest:
        """Close without merging, and say why; closing again changes nothing."""
        pull = self.get(number)
        if pull.state is PullState.MERGED:
            raise InputError(f"pull request {number} is merged already")
        if pull.state is PullState.CLOSED:
            return pull
        if reason:
            self.threads.say(Thread(number), reason, "closed")

        def look() -> PullRequest | None:
            found = self._seen(number)
            return found if found.state is not PullState.OPEN else None

        return self.api.ensure(
            f"the end of pull request {number}",
            look,
            lambda: self.api.write("PATCH", f"pulls/{number}", {"state": "closed"}),
        )

    def has_file(self, branch: str, path: str, data: bytes) -> bool:
        """Say whether a branch has exactly these bytes at a path now."""
        try:
            found = self.api.get(f"contents/{'/'.join(map(segment, path.split('/')))}", ref=branch)
        except Missing:
            return False
        return isinstance(found, dict) and found.get("sha") == object_id("blob", data)

    def leave_room(self, calls: int) -> RequestsLeft | None:
        """Stop before work begins that the hour's requests would not last for."""
        return self.api.leave_room(calls)

    def spent(self, contracts: int = 0) -> str:
        """Say in a sentence how many requests were made."""
        return self.api.spent(contracts)

    def compare_link(self, draft: Draft) -> str:
        """Where people open the pull request themselves, with its title filled in."""
        names = f"{quote(draft.base, safe='/')}...{quote(draft.branch, safe='/')}"
        return f"{self.address}/compare/{names}?{urlencode({'expand': 1, 'title': draft.title})}"

    def _open(self, draft: Draft, last: PullRequest | None) -> PullRequest:
        if not draft.base:
            raise InputError("a pull request needs a branch to go into", "Check out a branch.")
        after = last.number if last else 0
        body = {"title": draft.title, "head": draft.branch, "base": draft.base, "body": draft.body}

        def look() -> PullRequest | None:
            found = self.find(draft.branch)
            is_new = found and found.number > after and found.state is PullState.OPEN
            return found if is_new else None

        def write() -> None:
            try:
                self._create(body, self.settings.pull_requests.draft)
            except Unprocessable as error:
                # Somebody was quicker: then the look that follows finds it.
                if "already exists" not in error.message:
                    raise

        try:
            pull = self.api.ensure("the pull request", look, write, looked=True)
        except Forbidden:
            link = self.compare_link(draft)
            message = f"GitHub does not let the bot open pull requests here: {link}"
            raise PullRequestForbidden(message, _HOW_TO_ALLOW, draft, link) from None
        return self._updated(pull, draft)

    def _create(self, body: Row, as_draft: bool) -> None:
        try:
            self.api.write("POST", "pulls", {**body, "draft": as_draft})
        except Unprocessable as error:
            # Private repositories of a free plan have no drafts.
            if not as_draft or "raft" not in error.message:
                raise
            self.api.write("POST", "pulls", {**body, "draft": False})

    def _updated(self, pull: PullRequest, draft: Draft) -> PullRequest:
        """Bring title, body and state up to date; the text of a person's own pull request stays."""
        if read_hidden_block(pull.draft.body) is None and not self._is_mine(pull):
            self.threads.say(Thread(pull.number), draft.body, "evidence")
            return pull
        wanted = {"title": draft.title, "body": draft.body}

        def right(found: PullRequest) -> bool:
            return found.draft.title == draft.title and same(found.draft.body, draft.body)

        def look() -> PullRequest | None:
            found = self._seen(pull.number)
            return found if right(found) else None

        fresh = pull.state is PullState.OPEN  # else it was read before it was opened again
        if fresh and right(pull):
            return pull

        return self.api.ensure(
            f"the text of pull request {pull.number}",
            look,
            lambda: self.api.write("PATCH", f"pulls/{pull.number}", wanted),
            looked=fresh,
        )

    def reopen(self, number: int) -> bool:
        """Open a closed one again; False where GitHub does not, as its branch is gone."""

        def look() -> bool | None:
            return self._seen(number).state is PullState.OPEN or None

        try:
            return self.api.ensure(
                f"the reopening of pull request {number}",
                look,
                lambda: self.api.write("PATCH", f"pulls/{number}", {"state": "open"}),
            )
        except Unprocessable as error:
            # A refusal without that word is about something else, and not for ever.
            if "state cannot be changed" not in error.message:
                raise
            return False

    def _labelled(self, pull: PullRequest, *, opened: bool = False) -> PullRequest:
        wanted = self.settings.pull_requests.labels
        self.label(pull.number, wanted, looked=opened)
        return pull

    def label(self, number: int, wanted: Iterable[str], *, looked: bool = False) -> None:
        """Add labels to an issue or pull request; those that are there stay.

        `looked` says that it is known that they are not there, as with one just opened.
        """
        names = tuple(wanted)

        def look() -> bool | None:
            rows = self.api.get(f"issues/{number}/labels", per_page=100)
            there = {str(row["name"]).casefold() for row in rows}
            return there >= {name.casefold() for name in names} or None

        if names:
            self.api.ensure(
                f"the labels of #{number}",
                look,
                lambda: self.api.write("POST", f"issues/{number}/labels", {"labels": list(names)}),
                looked=looked,
            )

    def _is_own(self, row: Row, branch: str = "") -> bool:
        head = row.get("head") or {}
        repository = (head.get("repo") or {}).get("full_name", "")
        name_fits = not branch or head.get("ref") == branch
        return name_fits and str(repository).casefold() == self.api.repository.casefold()

    def _is_mine(self, pull: PullRequest) -> bool:
        return pull.author.casefold() == self.threads.login.casefold()

    def _with_picture(self, draft: Draft) -> Draft:
        """Give the picture an address that private repositories show as well."""
        task = task_of_branch(draft.branch)
        if task is None:
            raise InputError(f"{draft.branch!r} is not a branch of generated code")
        path = f"artifacts/{task}/{PICTURE}"
        address = f"{self.address}/blob/{draft.head}/{path}?raw=true"
        return replace(draft, body=draft.body.replace(f"]({path})", f"]({address})", 1))


def _pull(row: Row) -> PullRequest:
    body = str(row.get("body") or "")
    block = read_hidden_block(body) or {"tag": "", "trailers": {}}
    if row.get("merged_at"):
        state = PullState.MERGED
    else:
        state = PullState.OPEN if row["state"] == "open" else PullState.CLOSED
    draft = Draft(
        branch=str(row["head"]["ref"]),
        base=str(row["base"]["ref"]),
        base_commit=str(row["base"]["sha"]),
        head=str(row["head"]["sha"]),
        tag=str(block["tag"]),
        correlation_id=str(block["trailers"].get("Correlation-Id", "")),
        title=str(row["title"]),
        body=body,
    )
    author = str((row.get("user") or {}).get("login", ""))
    times = str(row["created_at"]), str(row["updated_at"])
    labels = tuple(str(each["name"]) for each in row.get("labels") or ())
    return PullRequest(int(row["number"]), state, draft, author, *times, labels=labels)
