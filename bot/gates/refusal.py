"""Turns the offences of many files into one verdict."""

from collections.abc import Mapping, Sequence

from bot.gates.port import Verdict
from bot.gates.static.offence import Offence


def python_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Give the Python files of a candidate, in the order of their paths."""
    return {path: files[path] for path in sorted(files) if path.endswith((".py", ".pyi", ".pyw"))}


def verdict_of(name: str, found: Mapping[str, Sequence[Offence]], figure: str) -> Verdict:
    """Turn what was found into the gate's answer; the first offence says where."""
    refused = {path: offences for path, offences in found.items() if offences}
    if not refused:
        return Verdict(name, passed=True, figure=figure)
    path, offences = next(iter(refused.items()))
    first = offences[0]
    count = sum(len(item) for item in refused.values())
    more = f" ({count - 1} more)" if count > 1 else ""
    return Verdict(
        name,
        passed=False,
        figure=f"{count} refused" if count > 1 else "1 refused",
        reason=f"{first.name}: {first.why}{more}",
        where=f"{path}:{first.line}" if first.line else path,
        next_step=first.instead,
    )


def no_files(name: str) -> Verdict:
    """Refuse a candidate without any Python file: nothing was proven."""
    return Verdict(
        name,
        passed=False,
        figure="0 files",
        reason="the candidate has no Python file",
        next_step="write the files that the plan names",
    )


def counted(files: int) -> str:
    """Say how many files were read."""
    return f"{files} file" if files == 1 else f"{files} files"
