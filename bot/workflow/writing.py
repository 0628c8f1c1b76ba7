"""Carries an item out on the forge: pull request, check, status comment, the page of the run."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from bot.clock import MACHINE_CLOCK
from bot.coder.model.prices import dollars
from bot.errors import InputError, RefusedError, StratwrightError, WorldError
from bot.forge.port import CHECK, Annotation, Check, PullRequestForbidden, PullState, Thread
from bot.forge.reasons import STATES, Reason, reason_of
from bot.git.identity import task_of_branch
from bot.git.objects import object_id
from bot.git.proposal import BranchTaken
from bot.pipeline import NOTHING_NEW, Result
from bot.proof.evidence import read_gates
from bot.redaction import redact
from bot.report.draft import draft_text
from bot.report.inert import markdown_text
from bot.report.status import (
    STEPS,
    Status,
    count_of,
    gates_part,
    problems_part,
    status_text,
    text_part,
)
from bot.workflow.approval_state import show_state
from bot.workflow.asking import answered_before, raise_for
from bot.workflow.candles import with_candles
from bot.workflow.context import Context
from bot.workflow.contracts import read_contract, tasks_of
from bot.workflow.costs import BRANCH, Entry, book
from bot.workflow.drafts import adopt_draft, keep
from bot.workflow.form import OPEN_THE_FORM, contract_path
from bot.workflow.handover import Digests, Talk, read_talk
from bot.workflow.items import Action, Item
from bot.workflow.stages import deliver, proof_link
from bot.workflow.withdrawal import put_back, withdraw

ROOM = 40
"""Requests that one contract may take in its last job, with all that is told."""
USUAL = 12
"""Requests that a pushed contract takes in all its jobs where nothing goes wrong."""
_PLACE = re.compile(r"([A-Za-z0-9_./-]+):([0-9]{1,7})", re.ASCII)


@dataclass(frozen=True)
class Written:
    """What became of an item."""

    state: str  # proposed, drafted, unchanged, blocked, refused, closed, answered or superseded
    exit_code: int  # as `run` has it
    status: Status | None = None
    result: Result | None = None
    needs_click: bool = False  # whether a person has to open the pull request by a link

    @property
    def code(self) -> str:
        """The code of the reason, in brackets, where no pull request came of it."""
        if self.needs_click:
            return f" [{Reason.NEEDS_A_CLICK}]"
        return f" [{STATES[self.state]}]" if self.state in STATES else ""


def announce(context: Context, item: Item) -> None:
    """Say that work has begun, to those who asked in an issue or pull request."""
    if item.at and item.action is Action.PROPOSE and not _carried_out(context, item):
        words = "Working on it; this comment follows."
        _tell(context, item, Status(_name(item), 1, words, run_url=context.runner.run_url))


def write(context: Context, item: Item, folder: Path, digests: Digests) -> Written:
    """Do what an item asks for and tell everybody who waits for it.

    Raises:
        StratwrightError: after it was told there too.
    """
    try:
        context.forge.leave_room(ROOM)
        talk = _booked(context, item, folder, digests)
        item = with_candles(item, context.repository)
        if item.asks and (talk is None or talk.error):
            done = _unanswered(context, item, talk)
        elif item.action is Action.DRAFT and talk is not None:
            done = _draft(context, item, talk)
        elif item.action is Action.PROPOSE:
            done = _propose(context, item, folder, digests)
        else:
            done = _ACTIONS[item.action](context, item)
    except StratwrightError as error:
        tell_failure(context, item, error, digests)
        raise
    if done.status is not None:
        status = replace(done.status, headline=f"{done.status.headline}{done.code}")
        context.runner.summary(status_text(status))
        if item.at or status.stopped or done.needs_click or _complained(context, item):
            _tell(context, item, status)
    return done


def _booked(context: Context, item: Item, folder: Path, digests: Digests) -> Talk | None:
    """Take over what a model was told, and book what it cost before anything else is done.

    What is refused by now may have been paid for before.
    """
    if not digests.case or (item.builds and not item.asks):
        return None
    talk, _ = read_talk(folder, item.key, digests.case)
    if talk is not None and talk.cost:
        day = MACHINE_CLOCK.now().date().isoformat()
        run, model = context.runner.run, talk.model[:100]
        entry = Entry(
            day=day, run=run, key=item.key, case=digests.case, model=model, cost=talk.cost
        )
        book(context.repository, entry)
        context.say(f"{_name(item)}: booked {dollars(talk.cost)} US dollars on {BRANCH}")
    return talk


def _unanswered(context: Context, item: Item, talk: Talk | None) -> Written:
    """Say why there is no expression: nobody to ask, asked before, or no answer that holds."""
    if _superseded(context, item):
        return _newer(item)
    pull = answered_before(context, item) if talk is None else None
    if pull is not None:
        words = (
            f"#{pull.number} holds what a model made of this prose; nobody was asked again. "
            "Write `/stratwright regenerate` under it to ask once more."
        )
        return Written("unchanged", 0, Status(_name(item), len(STEPS), words))
    if talk is None:
        return _refuse(context, replace(item, action=Action.REFUSE))
    if talk.exit_code != RefusedError.exit_code:
        raise_for(talk)
    paid = f"{markdown_text(talk.model, 100)} was asked for {dollars(talk.cost)} US dollars"
    words = f"No answer of the model can be used; nothing was pushed. {paid}."
    shown = text_part("What was wrong with every answer", talk.error)
    parts: tuple[str, ...] = (shown, markdown_text(talk.hint))
    if item.action is Action.DRAFT:
        parts = (*parts, f"[Fill in the form]({context.forge.form}{item.prefilled})")
    if not item.at:  # a push: its commit is where people look
        remark = Annotation(item.path, 1, talk.error[:1000], "stratwright")
        _check_contract(context, item, "the prose was not answered", parts[0], (remark,))
    status = Status(_name(item), 1, words, True, parts, context.runner.run_url)
    return Written("blocked", 1, status)


def _draft(context: Context, item: Item, talk: Talk) -> Written:
    """Show a drafted contract, and how to accept it; nothing else is done."""
    draft, answers = adopt_draft(item, talk, context.repository)
    keep(context.repository, answers)
    path = contract_path(item.at, context.settings.contracts)
    read = read_contract(path, draft.text.encode(), context.repository.root)
    read = with_candles(Item(Action.PROPOSE, item.key, read), context.repository).read or read
    words = draft_text(draft, read, talk.model, dollars(answers.transcript.cost))
    context.forge.threads.say(Thread(item.at), words, f"draft:{draft.digest[:16]}")
    done = "Drafted: a person with write permission accepts it, as the draft says."
    status = Status(_name(item), 0, done, run_url=context.runner.run_url, over=True)
    return Written("drafted", 0, status)


def _propose(context: Context, item: Item, folder: Path, digests: Digests) -> Written:
    if _superseded(context, item):
        return _newer(item)
    if item.regenerate and _carried_out(context, item):
        return Written("unchanged", 0)
    link = ""
    try:
        result = deliver(context, item, folder, digests)
    except PullRequestForbidden as error:
        link = error.link
        draft = error.draft
        result = Result(
            "proposed", draft.correlation_id, draft.branch, draft.tag, draft.head, note=error.hint
        )
    if result.status == "blocked":
        failed = [verdict for verdict in result.gates if not verdict.passed]
        if not item.at:
            _check_gates(context, item, result)
        words = f"{len(failed)} of {len(result.gates)} gates said no; nothing was pushed."
        status = Status(_name(item), 2, words, True, (gates_part(result.gates),))
        return Written("blocked", 1, replace(status, run_url=context.runner.run_url), result)
    if result.gates or result.commit:
        _check_proposed(context, item, result)
    if result.pull_request is not None and item.read is not None and item.read.task is not None:
        show_state(context, item.read.task, result, result.pull_request)
    status = _proposed(context, item, result, link)
    return Written(result.status, 0, status, result, needs_click=bool(link))


def _newer(item: Item) -> Written:
    words = "A newer version of the contract is there; its own run tells about it."
    return Written("superseded", 0, Status(_name(item), 1, words))


def _proposed(context: Context, item: Item, result: Result, link: str) -> Status:
    if link:
        context.say(f"{_name(item)}: this needs a click; open the pull request by {link}")
        words = (
            f"The branch `{result.branch}` is pushed. GitHub does not let the bot open pull "
            f"requests in this repository: [open it here]({link}). {markdown_text(result.note)}"
        )
        return Status(_name(item), len(STEPS) - 1, words, run_url=context.runner.run_url)
    number = f"#{result.pull_request}" if result.pull_request is not None else ""
    words = f"Proven and proposed in {number}. A person decides; the bot never merges."
    if result.status == "unchanged":
        words = _standing(context, item, result)
    notes = [part for part in result.note.split("; ") if "--regenerate" not in part]
    note = markdown_text("; ".join(notes)) if result.note else ""
    return Status(_name(item), len(STEPS), words, parts=(note,), run_url=context.runner.run_url)


def _standing(context: Context, item: Item, result: Result) -> str:
    """Where a contract stands that an earlier run delivered; what the bot closed is opened."""
    number = result.pull_request
    state = context.forge.get(number).state if number is not None else PullState.MERGED
    if number is None:
        return "The default branch has it already; nothing to do."
    if state is PullState.MERGED:
        return f"Proposed in #{number} before, and merged; nothing to do."
    if state is PullState.OPEN:
        # What was asked for once more, an earlier run has proposed and could not tell.
        again = item.regenerate and NOTHING_NEW not in result.note
        since = "" if again else " before; nothing has changed since"
        return f"Proven and proposed in #{number}{since}. A person decides; the bot never merges."
    if put_back(context.forge, number):
        return f"The contract is back, so #{number} is open again. A person decides."
    return (
        f"#{number} was closed without being merged, so it is not proposed again by itself. "
        "Write `/stratwright regenerate` under it to propose it once more."
    )


def _refuse(context: Context, item: Item) -> Written:
    """A contract with mistakes: all of them, with their lines, and no branch."""
    if _superseded(context, item):
        return _newer(item)
    parts = []
    if item.problems:
        parts.append(problems_part(item.problems))
    prose = item.words.endswith(OPEN_THE_FORM)
    if item.words:
        parts.append(markdown_text(item.words.removesuffix(OPEN_THE_FORM)))
    if item.at and item.read is not None:
        text = item.read.data.decode("utf-8", "replace")
        parts.append(text_part("The contract that the answers make, with line numbers", text))
    title = f"{count_of(len(item.problems) or 1)} in {item.path or 'the form'}"
    again = " Edit the issue and write `/stratwright retry`." if item.at else " Mend it and push."
    words = f"The contract cannot be used; nothing was written or pushed.{again}"
    if prose:
        words = (
            "This issue is not the form, so nothing was done. "
            f"[Fill in the form]({context.forge.form}{item.prefilled})"
            + (", which has what could be read here." if item.prefilled else ".")
        )
    if not item.at:
        _check_refused(context, item, title, "\n\n".join(parts))
    status = Status(_name(item), 0, words, True, tuple(parts), context.runner.run_url)
    return Written("refused", 2, status)


def _close(context: Context, item: Item) -> Written:
    """The contract is gone, so its open pull request goes too; branch and tags stay."""
    task, base = task_of_branch(item.branch), context.repository.base().commit
    if task in tasks_of(context.repository, base, context.settings.contracts).values():
        words = f"The contract of {task} is there again; its pull request stays as it is."
        return Written("superseded", 0, Status(_name(item), 1, words))
    path = markdown_text(item.path, 200)
    why = f"The contract {path} was deleted from the default branch"
    back = "put the contract back and it opens again"
    if item.words:
        why = f"The contract {path} now asks for {item.words}, which is proposed by itself"
        back = f"{task} comes back when a contract asks for it"
    closed = withdraw(context.forge, item.number, why, back)
    words = f"#{item.number} is closed: its contract is not on the default branch any more."
    status = Status(_name(item), 0, words, run_url=context.runner.run_url, over=True)
    return Written("closed" if closed else "unchanged", 0, status)


def _answer(context: Context, item: Item) -> Written:
    words = _explanation(context, item) if item.words == "explain" else item.words
    # Under the run's number: a failure that an earlier run told there must not stay.
    thread, run = Thread(item.at), context.runner.run
    context.forge.threads.say(thread, words, f"order:{item.comment}", run)
    context.runner.summary(f"Stratwright: answered under #{item.at}.\n\n{words}")
    return Written("answered", 0)


_ACTIONS = {
    Action.REFUSE: _refuse,
    Action.CLOSE: _close,
    Action.ANSWER: _answer,
}


def _explanation(context: Context, item: Item) -> str:
    """What the gates said about a pull request's head, read from its own evidence."""
    pull = context.forge.get(item.at)
    task, head = task_of_branch(pull.draft.branch), pull.draft.head
    if task is None or not context.repository.commit_of(head):
        words = "This pull request is not one of the bot's: there is no evidence on it to explain."
        return f"{words} [{Reason.NOT_OUR_PULL}]"
    raw = context.repository.read(head, f"artifacts/{task}/gates.json")
    if raw is None:
        words = "There is no evidence of the bot on this pull request's head."
        return f"{words} [{Reason.NO_EVIDENCE}]"
    try:
        verdicts = read_gates(raw)
    except ValueError:
        words = "The evidence on this pull request's head is not of the bot's form."
        return f"{words} [{Reason.NO_EVIDENCE}]"
    about = f"What the gates said about `{pull.draft.head[:12]}`:"
    how = f"To check it yourself: `stratwright verify {pull.draft.tag}`" if pull.draft.tag else ""
    return f"{about}\n\n{gates_part(verdicts)}\n\n{how}".rstrip()


def _tell(context: Context, item: Item, status: Status) -> None:
    """Edit the request's status comment; a later run's word stays.

    A command is answered on its own, and the issue's status comment says the same: it is where
    people look, and an earlier failure must not stay the last word there.
    """
    thread, text, threads = _thread(context, item), status_text(status), context.forge.threads
    if item.comment:
        threads.say(thread, text, f"order:{item.comment}", context.runner.run)
    if not item.comment or threads.find(thread, _marker(item)) is not None:
        threads.say(thread, text, _marker(item), context.runner.run)


def _thread(context: Context, item: Item) -> Thread:
    """Where a request is answered: a push has no issue, so its commit is where people look."""
    return Thread(item.at) if item.at else Thread(commit=_commit(context, item))


def _commit(context: Context, item: Item) -> str:
    """The commit that brought a contract; not one that came after."""
    return item.commit or context.repository.base().commit


def _marker(item: Item) -> str:
    return "status" if item.at else f"status:{item.key}"


def _complained(context: Context, item: Item) -> bool:
    """Whether an earlier run stopped at this commit and said so there."""
    return context.forge.threads.find(_thread(context, item), _marker(item)) is not None


def tell_failure(context: Context, item: Item, error: StratwrightError, digests: Digests) -> None:
    """Say what stopped the run, as far as GitHub still listens."""
    words = markdown_text(redact(f"{error.message} {error.hint}".strip()), 1000)
    headline = f"The run stopped before its end [{reason_of(error)}]: {words}"
    done = _steps_before(error, digests)
    status = Status(_name(item), done, headline, True, run_url=context.runner.run_url)
    context.runner.summary(status_text(status))
    try:
        _tell(context, item, status)
    except StratwrightError as second:
        context.say(f"this could not be told on GitHub: {second.message}")


def _steps_before(error: StratwrightError, digests: Digests) -> int:
    """How far a run came that stopped: GitHub and Git are met only after the gates."""
    if not digests.case:
        return 1
    return 3 if digests.answers and isinstance(error, WorldError | BranchTaken) else 2


def _carried_out(context: Context, item: Item) -> bool:
    """Whether a command was obeyed before; GitHub may deliver twice, people may run jobs again."""
    if not item.comment:
        return False
    said = context.forge.threads.find(_thread(context, item), f"order:{item.comment}")
    return said is not None and f"- [x] {STEPS[-1]}" in said.body


def _superseded(context: Context, item: Item) -> bool:
    """Whether the default branch has another file at the contract's path by now, or none."""
    if item.at or item.read is None:
        return False
    base = context.repository.base()
    if _entry(context, item.commit, item.path) != _entry(context, base.commit, item.path):
        return True
    if not item.read.data:
        return False  # a link or a submodule, which a forge may show as something else
    return not context.forge.has_file(base.branch, item.path, item.read.data)


def _entry(context: Context, commit: str, path: str) -> bytes:
    """What a commit has at a path, as Git lists it."""
    return context.repository.git.ask("ls-tree", "-z", "--full-tree", commit, "--", path).out


def _check_proposed(context: Context, item: Item, result: Result) -> None:
    passed = len(result.gates)
    title = f"All {passed} gates passed" if passed else "All gates passed"
    summary = gates_part(result.gates) if result.gates else "The evidence is on the branch."
    link = proof_link(context, item)
    done = Check(CHECK, result.commit, result.tag, True, title, summary, link=link)
    if (
        result.status == "unchanged"
        and result.pull_request
        and not context.forge.checks.stands(done)
    ):
        # The check comes last: without it the earlier run may have died before the labels.
        context.forge.label(result.pull_request, context.settings.pull_requests.labels)
    if result.gates or context.forge.checks.find(result.commit) is None:
        context.say(f"{_name(item)}: {context.forge.checks.report(done)} written")


def _check_gates(context: Context, item: Item, result: Result) -> None:
    failed = [verdict for verdict in result.gates if not verdict.passed]
    title = f"{len(failed)} of {len(result.gates)} gates said no"
    remarks = [Annotation(item.path, 1, f"{v.name}: {v.reason}", "stratwright") for v in failed]
    _check_contract(context, item, title, gates_part(result.gates), tuple(remarks))


def _check_refused(context: Context, item: Item, title: str, summary: str) -> None:
    remarks = [
        Annotation(problem.file, problem.line, _remark(str(problem)), problem.field)
        for problem in item.problems
    ]
    if item.words:
        remarks.append(Annotation(item.path, 1, item.words))
    _check_contract(context, item, title, summary, tuple(remarks))


def _check_contract(
    context: Context, item: Item, title: str, summary: str, remarks: tuple[Annotation, ...]
) -> None:
    """A red mark on the commit that brought the contract."""
    head = _commit(context, item)
    key = f"{item.key}-{object_id('blob', item.read.data if item.read else b'')[:12]}"
    name = f"{CHECK}: {item.path}"[:100]
    check = Check(name, head, key, False, title, summary, remarks, context.runner.run_url)
    context.say(f"{item.path}: {context.forge.checks.report(check)} written")


def _remark(text: str) -> str:
    """A problem without its place, which the annotation has."""
    return text.partition(" ")[2] if _PLACE.match(text) else text


def _name(item: Item) -> str:
    if item.read is not None and item.read.task is not None:
        return str(item.read.task)
    return item.path or (f"the answers in #{item.at}" if item.at else "the request")


def too_many(contracts: int, left: int, until: str) -> str:
    """What to expect where the hour's requests do not last for a whole push."""
    fits = max(0, left - ROOM) // USUAL
    return (
        f"{contracts} contracts take about {contracts * USUAL} requests, and {left} are left until "
        f"{until}: about {fits} of them fit. The jobs of the others stop with "
        f"[{Reason.RATE_LIMIT}] before they begin; after {until}, “Re-run failed jobs” goes on."
    )


def check_keys(text: str) -> list[str]:
    """The keys of a job, as the matrix gives them.

    Raises:
        InputError: they are none.
    """
    keys = text.split(",")
    if not all(re.fullmatch(r"[0-9a-f]{12}", key, re.ASCII) for key in keys):
        raise InputError("--keys takes keys of the plan, separated by commas")
    return keys
