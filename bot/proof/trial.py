"""Runs a candidate in the sandbox: linters, tests and conversations, side by side."""

import os
import tokenize
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

from bot.contract.numbers import flat_settings
from bot.errors import WorldError
from bot.gates.elsewhere import places
from bot.gates.questions import (
    Conversation,
    Talks,
    Trial,
    TrustedTests,
    perturb,
    place_name,
    some_bars,
)
from bot.gates.static.syntax_tree import comments_of
from bot.proof.assignment import Assignment
from bot.proof.edges import Prover
from sandbox_runner.jobs import TOOLS, pytest_job, tool_job
from sandbox_runner.port import Job, Limits, Outcome, SandboxUnavailable

_TRUSTED = "pytest, the contract's tests"
# What the jobs of a trial do, for people who wait.
_IN_WORDS = {
    "whole": "decisions on every candle",
    "cuts": "decisions on cut-off histories",
    "again": "the same decisions again, and elsewhere",
}


def run_trial(
    work: Assignment,
    files: Mapping[str, bytes],
    prover: Prover,
    trusted_tests: bytes | None = None,
) -> Trial:
    """Run everything that needs the candidate to run, in the sandbox and nowhere else.

    Args:
        work: what the candidate was written from, with the trusted side's candles.
        files: the candidate's bytes by repository path.
        prover: where it runs; its `say` is given each part in words as it ends.
        trusted_tests: the template's tests, where it did not write the candidate: they run beside
            the candidate's own, and many more places are asked about.

    Raises:
        WorldError: the sandbox itself failed.
    """
    contract, program, data = work.contract, work.program, work.data
    limits, memory = prover.limits, prover.memory
    strategy = contract.strategy_file
    tests = contract.tests_file
    cfg = dict(flat_settings(contract, program).defaults)
    perturbed = perturb(data, files[strategy])
    frames = {**data.frames, **perturbed}
    some = {key: some_bars(program, frame, files[strategy]) for key, frame in frames.items()}
    talks = Talks(strategy, files[strategy], cfg, data, limits, some)
    thorough = trusted_tests is not None
    elsewhere = places(contract, program, data, files[strategy], thorough)
    again = (*talks.again(), *talks.elsewhere(elsewhere))
    others = {**data.frames, **{place_name(n): p.frame for n, p in enumerate(elsewhere)}}
    jobs: dict[str, Job] = {
        # The longest first, so that the others fit beside it.
        "cuts": talks.job("cuts", talks.cuts(), frames),
        "whole": talks.job("whole", talks.whole(), data.frames),
        "mypy": _tool("mypy", files, prover.mypy_cache, limits),
        "pytest": pytest_job(tests, files, limits=limits),
        "again": talks.job("again", again, others, hash_seed=4242),
        "flake8": _tool("flake8", files, None, limits),
        "bandit": _tool("bandit", files, None, limits),
    }
    if trusted_tests is not None:
        jobs[_TRUSTED] = pytest_job(
            tests,
            {**files, tests: trusted_tests},
            limits=limits,
        )
    prover.expect(len(jobs))
    known = _recall(jobs, prover)
    unknown = {name: job for name, job in jobs.items() if name not in known}
    outcomes = known | _side_by_side(unknown, prover)
    if memory is not None:
        for name, job in unknown.items():
            memory.keep(job, prover.sandbox, outcomes[name])
    return Trial(
        tools={tool: outcomes[tool] for tool in TOOLS},
        tests=outcomes["pytest"],
        whole=Conversation(talks.whole(), talks.named(data.frames), outcomes["whole"]),
        again=Conversation(again, talks.named(others), outcomes["again"]),
        cuts=Conversation(talks.cuts(), talks.named(frames), outcomes["cuts"]),
        perturbed=perturbed,
        places=elsewhere,
        trusted=None if trusted_tests is None else TrustedTests(trusted_tests, outcomes[_TRUSTED]),
        remembered=frozenset(known),
    )


def _recall(jobs: Mapping[str, Job], prover: Prover) -> dict[str, Outcome]:
    if prover.memory is None:
        return {}
    known = {}
    for name, job in jobs.items():
        outcome = prover.memory.recall(job, prover.sandbox)
        if outcome is not None:
            known[name] = outcome
            prover.say(f"{_IN_WORDS.get(name, name)} (remembered: same files, same tools)")
    return known


def _tool(tool: str, files: Mapping[str, bytes], cache: Path | None, limits: Limits) -> Job:
    targets = [path for path in files if path.endswith(".py")]
    if tool == "bandit":
        # bandit calls every assert an offence, and pytest is made of them.
        targets = [path for path in targets if not path.startswith("tests/")]
    if tool == "mypy":
        files = {path: without_comments(content) for path, content in files.items()}
    return tool_job(
        tool,
        files,
        targets,
        mypy_cache=cache,
        limits=limits,
    )


def without_comments(content: bytes) -> bytes:
    """A file with its comments blanked, in place: mypy obeys some, and no option stops it."""
    try:
        text = content.decode("utf-8")
        comments = comments_of(text)
    except (ValueError, SyntaxError, tokenize.TokenError):
        return content  # no Python, as mypy will say
    lines = text.split("\n")
    for line, column, comment in comments:
        old = lines[line - 1]
        blank = "#".ljust(len(comment))
        lines[line - 1] = old[: column - 1] + blank + old[column - 1 + len(comment) :]
    return "\n".join(lines).encode()


def _side_by_side(jobs: Mapping[str, Job], prover: Prover) -> dict[str, Outcome]:
    def run(name: str) -> Outcome:
        outcome = prover.sandbox.run(jobs[name])
        prover.say(_IN_WORDS.get(name, name))
        return outcome

    # One more than there are processors: a job that starts or ends leaves one idle.
    workers = (os.cpu_count() or 1) + 1
    try:
        with ThreadPoolExecutor(workers) as pool:
            # A copy of the context each: what is logged inside carries the run's id.
            parts = {name: pool.submit(copy_context().run, run, name) for name in jobs}
            return {name: part.result() for name, part in parts.items()}
    except SandboxUnavailable as error:
        raise WorldError(error.message, error.hint) from None
