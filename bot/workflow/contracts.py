"""Commits to the contracts in them: which there are, which a push changed, which it took away."""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from bot.contract.answering import open_questions, prose_of, with_answers
from bot.contract.document.problems import ContractError, Problem
from bot.contract.document.source import Form, read_source
from bot.contract.load import FORMS, LoadedContract, parse_contract
from bot.errors import InputError
from bot.files import path_in_repository
from bot.git.identity import TaskName
from bot.git.repository import Repository


@dataclass(frozen=True)
class Read:
    """A contract's file, read: either the contract or what is wrong with it.

    Where only its prose is open, `problems` asks for the expressions and `loaded` has rules that
    never fire in their place: enough to know its task, its candles and its targets.
    """

    path: str
    data: bytes
    loaded: LoadedContract | None
    problems: tuple[Problem, ...] = ()
    is_open: bool = False

    @property
    def task(self) -> TaskName | None:
        """Whose contract it is, if it is one."""
        if self.loaded is None:
            return None
        return TaskName(self.loaded.contract.workflow, self.loaded.contract.task)


@dataclass(frozen=True)
class Change:
    """What a push did to the contracts."""

    changed: tuple[str, ...]
    gone: tuple[str, ...] = ()
    # Whether the commit before it is here; if not, all contracts count as changed and what went
    # away is not known.
    comparable: bool = True


def contract_paths(repository: Repository, commit: str, folder: str) -> tuple[str, ...]:
    """The contracts of a commit; schemas and other files are none."""
    return tuple(path for path in repository.paths(commit, folder) if is_contract(path, folder))


def is_contract(path: str, folder: str) -> bool:
    """Whether a path is that of a contract."""
    name = PurePosixPath(path)
    return (
        name.suffix.lower() in FORMS
        and path.startswith(f"{folder}/")
        and "schema" not in name.parent.parts
        and ".." not in name.parts
        and name.as_posix() == path
        and path.isprintable()
        and len(path) <= 255
    )


def is_form_path(path: str, folder: str) -> bool:
    """Whether a path is one that the answers of an issue get."""
    return re.fullmatch(rf"{re.escape(folder)}/issue_[0-9]+\.yaml", path, re.ASCII) is not None


def tasks_of(repository: Repository, commit: str, folder: str) -> dict[str, TaskName | None]:
    """Whose contracts a commit has; None stands for one with mistakes."""
    paths = contract_paths(repository, commit, folder)
    return {path: read_contract_of(repository, commit, path).task for path in paths}


def changed_contracts(repository: Repository, before: str, after: str, folder: str) -> Change:
    """What a push changed and what it took away.

    A commit that is not here (a first push, a rewritten history) is no ground to compare with:
    then every contract counts as changed, and those that stand already are found unchanged later.
    """
    if not repository.commit_of(before):
        return Change(contract_paths(repository, after, folder), comparable=False)
    listed = repository.git.ask(
        "diff-tree", "-r", "-z", "--no-renames", "--name-status", before, after, "--", folder
    ).out.decode("utf-8", "surrogateescape")
    fields = listed.split("\0")[:-1]
    rows = [
        row for row in zip(fields[::2], fields[1::2], strict=True) if is_contract(row[1], folder)
    ]
    changed = tuple(path for status, path in rows if status != "D")
    return Change(changed, tuple(path for status, path in rows if status == "D"))


def read_contract(path: str, data: bytes, root: Path) -> Read:
    """Check a contract's bytes as the file at its place in the repository."""
    form = FORMS[PurePosixPath(path).suffix.lower()]
    try:
        loaded = parse_contract(data, form, root / path, root)
        loaded.strategy  # noqa: B018 - a module is refused with its reason
        path_in_repository(root / path, root)
    except ContractError as error:
        problems = tuple(replace(problem, file=path) for problem in error.problems)
        held = _with_nevers(data, form, root / path) if open_questions(error) else None
        return Read(path, data, held, problems, is_open=held is not None)
    except InputError as error:
        words = error.message.replace(str(root / path), path)
        return Read(path, data, None, (Problem(path, 1, 1, "", f"{words}. {error.hint}".strip()),))
    return Read(path, data, loaded)


def _with_nevers(data: bytes, form: Form, path: Path) -> LoadedContract | None:
    """Read a contract with rules that never fire for its prose; None where none can be put in."""
    with suppress(InputError):
        open_rules = prose_of(read_source(data, form).root or {})
        held = parse_contract(
            with_answers(data, form, dict.fromkeys(open_rules, "never")), form, path
        )
        held.strategy  # noqa: B018 - a module has no rules
        return held
    return None


def read_contract_of(repository: Repository, commit: str, path: str) -> Read:
    """Read a contract of a commit."""
    data = repository.read(commit, path)
    if data is None:
        problem = Problem(path, 1, 1, "", "there is no such file, or it is a symbolic link")
        return Read(path, b"", None, (problem,))
    return read_contract(path, data, repository.root)
