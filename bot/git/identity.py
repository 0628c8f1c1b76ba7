"""What a contract is called in Git: correlation id, branch, tag, trailers; from digests alone."""

import hashlib
import json
import re
from dataclasses import dataclass, fields

from bot.contract.code_paths import ID
from bot.errors import InputError

_CORRELATION_ID = re.compile(r"corr_[0-9a-f]{12}", re.ASCII)
_TRAILER = re.compile(r"([A-Za-z][A-Za-z-]*): (.*)", re.ASCII)
_NO_MODEL = "none"


def correlation_id(
    repository: str,
    contract_path: str,
    contract_digest: str,
    data_digest: str,
    generator_version: str,
) -> str:
    """Name a run by everything that decides its outcome, so that the same run has the same name."""
    parts = [repository, contract_path, contract_digest, data_digest, generator_version]
    # JSON keeps the parts apart: ("ab", "c") and ("a", "bc") are two names.
    text = json.dumps(parts, separators=(",", ":"))
    return f"corr_{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def is_correlation_id(text: str) -> bool:
    """Say whether a text has the form of a correlation id."""
    return _CORRELATION_ID.fullmatch(text) is not None


@dataclass(frozen=True, order=True)
class TaskName:
    """One contract's place: its workflow and its task, and the names in Git that follow."""

    workflow: str
    task: str

    def __post_init__(self) -> None:
        for label, value in (("workflow", self.workflow), ("task", self.task)):
            if not re.fullmatch(ID, value, re.ASCII):
                message = f"{label} {value!r} is not an id"
                raise InputError(message, "An id has small letters, digits and inner hyphens.")

    def __str__(self) -> str:
        return f"{self.workflow}/{self.task}"

    @property
    def branch(self) -> str:
        """The branch that its candidates are proposed on."""
        return f"ai/generated/{self.workflow}/{self.task}"

    @property
    def tag_folder(self) -> str:
        """What all tags of its candidates begin with."""
        return f"ai/{self.workflow}/{self.task}/"

    def tag(self, correlation: str, attempt: int = 1) -> str:
        """Name the tag of a candidate; a second attempt for the same id ends in `.2`."""
        if not is_correlation_id(correlation):
            raise InputError(
                f"{correlation!r} is not a correlation id", "It looks like corr_ + 12 hex."
            )
        return f"{self.tag_folder}{correlation}" + (f".{attempt}" if attempt > 1 else "")

    def attempt(self, tag: str) -> tuple[str, int] | None:
        """Read correlation id and attempt from a tag's name; None if it is not one of this task."""
        name = tag.removeprefix(self.tag_folder)
        correlation, dot, number = name.partition(".")
        if name == tag or not is_correlation_id(correlation):
            return None
        if not dot:
            return correlation, 1
        counted = re.fullmatch("[1-9][0-9]{0,5}", number, re.ASCII) and int(number) > 1
        return (correlation, int(number)) if counted else None


def task_of_branch(branch: str) -> TaskName | None:
    """Read the task from a branch's name; None if the branch is not one of ours."""
    parts = branch.split("/")
    if len(parts) != 4 or parts[:2] != ["ai", "generated"]:
        return None
    try:
        return TaskName(parts[2], parts[3])
    except InputError:
        return None


@dataclass(frozen=True)
class Trailers:
    """Where a candidate came from, as the last lines of its commit and of its tag."""

    correlation_id: str
    prompt_hash: str
    contract_digest: str
    coder: str
    model: str = ""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value.isprintable() or value != value.strip():
                raise InputError(f"the trailer {_key(field.name)} is not one plain line: {value!r}")

    def render(self) -> str:
        """Write one line each; a candidate without a model says so."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["model"] = self.model or _NO_MODEL
        return "\n".join(f"{_key(name)}: {value}" for name, value in values.items())

    def attached_to(self, text: str) -> str:
        """End a message with the trailers."""
        return f"{text.strip()}\n\n{self.render()}\n"


def parse_trailers(message: str) -> Trailers | None:
    """Read the trailers of a commit or tag message; None if any is missing or written twice."""
    lines = message.rstrip("\n").rpartition("\n\n")[2].splitlines()
    found = [match.groups() for line in lines if (match := _TRAILER.fullmatch(line))]
    names = {_key(field.name): field.name for field in fields(Trailers)}
    values = {names[key]: value for key, value in found if key in names}
    if len(values) != len(names) or len(values) != sum(key in names for key, _ in found):
        return None
    values["model"] = "" if values["model"] == _NO_MODEL else values["model"]
    try:
        return Trailers(**values)
    except InputError:
        return None


def _key(name: str) -> str:
    """`correlation_id` is written Correlation-Id."""
    return "-".join(part.capitalize() for part in name.split("_"))
