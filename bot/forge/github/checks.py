"""Writes checks of commits on GitHub: as a check run, else as a commit status."""

import contextlib

from bot.forge.github.api import Forbidden, GitHubApi, Missing, Row
from bot.forge.port import CHECK, Annotation, Check
from bot.report.inert import visible

_AT_ONCE = 50
_MOST = 200


class GitHubChecks:
    """The checks of one repository."""

    def __init__(self, api: GitHubApi) -> None:
        self._api = api

    def report(self, check: Check) -> str:
        """Write a check; says which form it took: `check run` or `commit status`."""
        try:
            self._ensure(check)
        except Forbidden:
            return self._state(check)
        except Missing:
            # The commit was pushed a moment ago and may not be known everywhere yet.
            try:
                self._ensure(check)
            except (Forbidden, Missing):
                return self._state(check)
        return "check run"

    def _ensure(self, check: Check) -> None:
        seen: list[Row | None] = [None]

        def look() -> Row | None:
            seen[0] = self.read(check.head, check.name)
            return _as_it_should(seen[0], check)

        self._api.ensure("the check run", look, lambda: self._write(check, seen[0]))

    def _state(self, check: Check) -> str:
        self._api.ensure("the status", lambda: self._told(check), lambda: self._tell(check))
        return "commit status"

    def stands(self, check: Check) -> bool:
        """Whether a check is there as it should be, in either form."""
        try:
            return _as_it_should(self.read(check.head, check.name), check) is not None
        except (Forbidden, Missing):
            return self._told(check) is not None

    def read(self, head: str, name: str = CHECK) -> Row | None:
        """The newest check run of a name."""
        runs = self._api.get(
            f"commits/{head}/check-runs", check_name=name, filter="latest", per_page=100
        )["check_runs"]
        return max(runs, key=lambda run: int(run["id"]), default=None)

    def find(self, head: str, name: str = CHECK) -> Check | None:
        """Return the newest check of a name, in either form; a status has no key."""
        with contextlib.suppress(Forbidden, Missing):
            run = self.read(head, name)
            if run is not None:
                key, output = str(run.get("external_id") or ""), run.get("output") or {}
                title, summary = (str(output.get(part) or "") for part in ("title", "summary"))
                link, passed = str(run.get("details_url") or ""), run.get("conclusion") == "success"
                return Check(name, head, key, passed, title, summary, link=link)
        with contextlib.suppress(Forbidden, Missing):  # an App need not have that right
            for row in self._statuses(head):
                if row.get("context") == name:
                    passed, title = row.get("state") == "success", str(row.get("description") or "")
                    link = str(row.get("target_url") or "")
                    return Check(name, head, "", passed, title, "", link=link)
        return None

    def _statuses(self, head: str) -> list[Row]:
        return list(self._api.get(f"commits/{head}/statuses", per_page=100))

    def _write(self, check: Check, run: Row | None) -> None:
        body = {
            "name": check.name,
            "head_sha": check.head,
            "external_id": check.key,
            "status": "completed",
            "conclusion": _conclusion(check),
            **({"details_url": check.link} if check.link else {}),
        }
        annotations = [_annotation(each) for each in check.annotations[:_MOST]]
        output = {"title": _title(check), "summary": check.summary[:60_000]}
        first = {**body, "output": {**output, "annotations": annotations[:_AT_ONCE]}}
        if run is None or run.get("external_id") != check.key:
            run = self._api.write("POST", "check-runs", first)
            rest = annotations[_AT_ONCE:]
        else:
            # Annotations only ever add up: send those that are not there yet.
            there = (run.get("output") or {}).get("annotations_count") or 0
            rest = annotations[there:]
            first = {**body, "output": {**output, "annotations": rest[:_AT_ONCE]}}
            first.pop("head_sha")
            self._api.write("PATCH", f"check-runs/{run['id']}", first)
            rest = rest[_AT_ONCE:]
        for start in range(0, len(rest), _AT_ONCE):
            more = {"output": {**output, "annotations": rest[start : start + _AT_ONCE]}}
            self._api.write("PATCH", f"check-runs/{run['id']}", more)

    def _told(self, check: Check) -> Row | None:
        for row in self._statuses(check.head):
            if row.get("context") == check.name:
                wanted = (_conclusion(check), _title(check)[:140])
                return row if (row.get("state"), row.get("description")) == wanted else None
        return None

    def _tell(self, check: Check) -> None:
        body = {
            "state": _conclusion(check),
            "context": check.name,
            "description": _title(check)[:140],
            **({"target_url": check.link} if check.link else {}),
        }
        self._api.write("POST", f"statuses/{check.head}", body)


def _as_it_should(run: Row | None, check: Check) -> Row | None:
    """The run if it says what the check says."""
    if run is None:
        return None
    output = run.get("output") or {}
    there = (run.get("external_id"), run.get("conclusion"), output.get("title"))
    complete = (output.get("annotations_count") or 0) >= len(check.annotations[:_MOST])
    wanted = (check.key, _conclusion(check), _title(check))
    return run if there == wanted and complete else None


def _conclusion(check: Check) -> str:
    return "success" if check.passed else "failure"


def _title(check: Check) -> str:
    return visible(check.title)[:200]


def _annotation(annotation: Annotation) -> Row:
    shown = {
        "path": annotation.path,
        "start_line": max(1, annotation.line),
        "end_line": max(1, annotation.line),
        "annotation_level": "failure",
        "message": visible(annotation.message)[:2000] or "no reason given",
    }
    return {**shown, "title": visible(annotation.title)[:200]} if annotation.title else shown
