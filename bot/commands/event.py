"""`stratwright event`: the Action's entry; one stage of the line for the event at hand."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from bot.forge.port import Runner
    from bot.workflow.context import Context, ModelKeys
    from bot.workflow.items import Item, Job

Thing = TypeVar("Thing")
HAS_MODEL = "STRATWRIGHT_HAS_MODEL"
STAGES = ("plan", "announce", "generate", "gates", "write")
DEPLOY_STAGES = ("deploy-gate", "deploy-verify", "deploy-sign", "deploy-stop", "deploy-answer")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("stage", choices=(*STAGES, *DEPLOY_STAGES), help="which part of the line")
    parser.add_argument("--keys", default="", help="what to work on, as the plan named it")
    parser.add_argument(
        "--cases", default="", help="digests of what the generate job handed on, key:sha256,..."
    )
    parser.add_argument(
        "--answers", default="", help="digests of what the gates job handed on, key:sha256,..."
    )
    parser.add_argument("--ceiling", default="", help="what models may cost, in millionths")
    parser.add_argument("--environment", default="", help="the one that the job runs in")
    parser.add_argument(
        "--repository", type=Path, default=Path(), metavar="DIR", help="default: the current one"
    )
    parser.add_argument(
        "--handover",
        type=Path,
        default=Path("build/stratwright"),
        metavar="DIR",
        help="where jobs leave files for the next; default: build/stratwright",
    )


def run(args: argparse.Namespace) -> int:
    """Run a stage; the exit code is the worst of all its items."""
    from bot.errors import StratwrightError
    from bot.forge.reasons import Reason, reason_of

    try:
        return run_stage(args)
    except StratwrightError as error:
        say(f"stopped [{reason_of(error)}]")
        raise
    except Exception:
        say(f"stopped [{Reason.BUG}]")
        raise


def run_stage(args: argparse.Namespace) -> int:
    """Open what the stage needs, and run it."""
    if args.stage == "gates":
        return run_gates(args)
    from bot.commands import event_deploy
    from bot.workflow.context import open_context

    if args.stage == "deploy-verify":
        return event_deploy.verify(args, say)
    keys = _model_keys(args.ceiling) if args.stage == "generate" else None
    context = open_context(args.repository, say, may_push=args.stage == "write", keys=keys)
    deploying = {
        "deploy-gate": event_deploy.gate,
        "deploy-sign": event_deploy.sign,
        "deploy-stop": event_deploy.stop,
        "deploy-answer": event_deploy.answer,
    }
    stages = {"plan": plan, "announce": announce, "generate": generate, "write": write}
    try:
        if args.stage in deploying:
            return deploying[args.stage](context, args, say)
        return stages[args.stage](context, args)
    finally:
        say(context.forge.spent())


def _model_keys(ceiling: str) -> "ModelKeys":
    """What the job that asks finds in its environment; without a ceiling it pays nothing."""
    from pydantic import SecretStr

    from bot.errors import InputError
    from bot.workflow.context import ModelKeys
    from bot.workshop import MODEL_KEY, SIGNING_KEY

    if ceiling and not (ceiling.isascii() and ceiling.isdecimal()):
        raise InputError("--ceiling takes millionths of a US dollar")
    secret = {name: os.environ.get(name, "") for name in (MODEL_KEY, SIGNING_KEY)}
    signing = SecretStr(secret[SIGNING_KEY]) if secret[SIGNING_KEY] else None
    return ModelKeys(SecretStr(secret[MODEL_KEY]), signing, int(ceiling or 0))


def plan(context: "Context", args: argparse.Namespace) -> int:
    """Say what there is to do: the jobs of the matrix as outputs."""
    from bot.errors import StratwrightError
    from bot.forge.reasons import Ignored, reason_of
    from bot.report.inert import markdown_text
    from bot.workflow.context import receive
    from bot.workflow.items import make_matrix
    from bot.workflow.writing import ROOM, USUAL, too_many

    try:
        work = receive(context)
        room = None if isinstance(work, Ignored) else context.forge.leave_room(ROOM)
    except StratwrightError as error:
        words, code = markdown_text(f"{error.message}. {error.hint}", 1000), reason_of(error)
        context.runner.summary(f"Stratwright: stopped [{code}]: {words}")
        raise
    if isinstance(work, Ignored):
        say(str(work))
        context.runner.summary(f"Stratwright: {work}.")
    items = () if isinstance(work, Ignored) else work
    for item in items:
        say(f"{item.key}  {item.action}  {item.path or item.at}")
    if room is not None and len(items) * USUAL > room.left:
        words = too_many(len(items), room.left, room.until)
        say(words)
        context.runner.summary(f"Stratwright: {words}")
    matrix = make_matrix(items, has_model=os.environ.get(HAS_MODEL) == "true")
    most = _ceilings(context, items, matrix.build)
    rows = {
        "build": [{**_row(job), "freqtrade": _needs_freqtrade(context, items, job),
                   "ceiling": ceiling}
                  for job, ceiling in zip(matrix.build, most, strict=True)],
        "write": [_row(job) for job in matrix.write],
        "announce": [_row(job) for job in matrix.announce],
    }  # fmt: skip
    for name, jobs in rows.items():
        context.runner.output(name, json.dumps(jobs, separators=(",", ":")))
    return 0


def _ceilings(
    context: "Context", items: "tuple[Item, ...]", build: "tuple[Job, ...]"
) -> tuple[str, ...]:
    """What each job may pay a model, empty where nothing asks; 0 where nobody knows the day."""
    from bot.clock import MACHINE_CLOCK
    from bot.errors import SafetyStop, WorldError
    from bot.forge.reasons import reason_of
    from bot.workflow.costs import ceilings, spent_on

    asking = {item.key for item in items if item.asks}
    counts = [sum(key in asking for key in job.keys) for job in build]
    if not any(counts):
        return tuple("" for _ in build)
    try:
        spent = spent_on(context.repository, MACHINE_CLOCK.now().date().isoformat())
    except (WorldError, SafetyStop) as error:
        words = f"no model is asked [{reason_of(error)}]: {error.message}"
        say(words)
        context.runner.summary(f"Stratwright: {words}")
        return tuple("0" if count else "" for count in counts)
    told = ceilings(context.settings.coder, spent, counts)
    say(told.words)
    context.runner.summary(f"Stratwright, {told.words}")
    return tuple(str(most) if count else "" for most, count in zip(told.each, counts, strict=True))


def _row(job: "Job") -> dict[str, str | bool]:
    """A job as a matrix has it."""
    return {"name": job.keys[0], "keys": ",".join(job.keys), "leg": job.leg}


def _needs_freqtrade(context: "Context", items: "tuple[Item, ...]", job: "Job") -> bool:
    """Whether the job that runs code has to install Freqtrade."""
    from bot.proof.targets import FREQTRADE

    asked = (item.read.loaded for item in items if item.key in job.keys and item.read)
    return context.settings.freqtrade and any(
        FREQTRADE in loaded.strategy.targets for loaded in asked if loaded is not None
    )


def announce(context: "Context", args: argparse.Namespace) -> int:
    """Say in the issue that work has begun."""
    from bot.workflow.context import find_items
    from bot.workflow.writing import announce as begin
    from bot.workflow.writing import check_keys

    for item in find_items(context, check_keys(args.keys)):
        begin(context, item)
    return 0


def generate(context: "Context", args: argparse.Namespace) -> int:
    """Write candidates; given what an earlier round handed on, only where that was refused."""
    from bot.workflow.context import find_items
    from bot.workflow.handover import Digests, read_handed
    from bot.workflow.items import Item
    from bot.workflow.stages import generate as write_candidate
    from bot.workflow.writing import check_keys

    handed: dict[str, str] = {}
    cases, answers = read_handed(args.cases), read_handed(args.answers)

    def one(item: Item) -> None:
        before = Digests(cases.get(item.key, ""), answers.get(item.key, ""))
        if digest := write_candidate(context, item, args.handover, before):
            handed[item.key] = digest

    code = _worst(one, find_items(context, check_keys(args.keys)))
    return _hand_on(context.runner, handed, code)


def write(context: "Context", args: argparse.Namespace) -> int:
    """Judge, propose, refuse, close and answer."""
    from bot.workflow.context import find_items
    from bot.workflow.handover import Digests, read_handed
    from bot.workflow.items import Item
    from bot.workflow.writing import check_keys
    from bot.workflow.writing import write as write_item

    cases, answers = read_handed(args.cases), read_handed(args.answers)

    def one(item: Item) -> int:
        digests = Digests(cases.get(item.key, ""), answers.get(item.key, ""))
        done = write_item(context, item, args.handover, digests)
        say(f"{item.path or item.at}: {done.state}{done.code}")
        if done.result is not None:
            sys.stdout.write(json.dumps(done.result.to_dict()) + "\n")
        return done.exit_code

    items = find_items(context, check_keys(args.keys))
    code = _worst(one, items)
    context.runner.summary(context.forge.spent(len(items)))
    return code


def run_gates(args: argparse.Namespace) -> int:
    """Run candidates in the sandbox; needs no token, no repository and no event."""
    from bot.forge.port import open_runner
    from bot.report.terminal import gate_table
    from bot.workflow.handover import Digests, read_handed
    from bot.workflow.stages import run_gates as run_one
    from bot.workflow.writing import check_keys
    from bot.workshop import open_prover

    cases, answers = read_handed(args.cases), read_handed(args.answers)
    handed: dict[str, str] = {}
    keys = [key for key in check_keys(args.keys) if key in cases]
    if not keys:
        say("nothing to judge: the generate job found nothing to do, or did not deliver")
        return 0
    prover = open_prover("auto", say)

    def one(key: str) -> None:
        digests = Digests(cases[key], answers.get(key, ""))
        examination, digest = run_one(key, digests, args.handover, prover)
        if examination is None:
            say(f"{key}: nothing to judge, no answer of a model could be used")
            return
        handed[key] = digest
        for line in gate_table(examination.verdicts).splitlines():
            say(line)

    return _hand_on(open_runner(), handed, _worst(one, keys))


def _hand_on(runner: "Runner", handed: dict[str, str], code: int) -> int:
    """Tell GitHub the digests of what this job leaves for the next.

    A failed job hands nothing on; so one that has something to hand on ends well, and the write
    job, which finds no digest for the others, tells about them.
    """
    from bot.workflow.handover import handed_text

    runner.output("handed", handed_text(handed))
    return 0 if handed else code


def _worst(act: Callable[[Thing], int | None], things: Iterable[Thing]) -> int:
    """Do all of them, whatever becomes of one; the worst exit code counts."""
    from bot.commands.failure import show_error
    from bot.errors import StratwrightError
    from bot.forge.reasons import reason_of

    codes = [0]
    for thing in things:
        try:
            codes.append(act(thing) or 0)
        except StratwrightError as error:
            say(f"stopped [{reason_of(error)}]")
            codes.append(show_error(error, as_json=False))
    return max(codes)


def say(line: str) -> None:
    """Show a line in the runner's log, as nothing but text."""
    from bot.forge.github.actions import say_in_log

    sys.stderr.write(f"{say_in_log(line)}\n")
    sys.stderr.flush()
