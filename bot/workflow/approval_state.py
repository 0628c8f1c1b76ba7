"""Shows under a pull request where its approval stands, what would trade where, and what did."""

from bot.approval.chain import BRANCH, Approval, Chain, read_chain
from bot.approval.reasons import ApprovalRefused
from bot.approval.record import Record
from bot.errors import MANUAL
from bot.forge.port import Thread
from bot.git.identity import TaskName
from bot.git.repository import Repository
from bot.pipeline import Result
from bot.proof.version_change import compare_commits
from bot.report.inert import markdown_code, markdown_text
from bot.report.wording import change_words
from bot.settings import DEPLOY_WORKFLOW, Settings
from bot.workflow.context import Context
from bot.workflow.deploy_words import comment_text

MARKER = "approval"


def show_state(context: Context, task: TaskName, result: Result, number: int) -> None:
    """Say that a proposal is not approved yet, and how it can be, where anybody is to approve.

    Nothing is said over an approval: what became of it is told by the run that signed it.
    """
    repository, settings, commit = context.repository, context.settings, result.commit
    by_comment = repository.objects.entry(repository.base().commit, DEPLOY_WORKFLOW) is not None
    asked = (settings.approval, settings.deploy) != (Settings().approval, Settings().deploy)
    if not by_comment and not asked:
        return
    try:
        chain = read_chain(repository.side_branch(BRANCH), None)
    except ApprovalRefused as error:
        words = f"The branch `{BRANCH}` cannot be believed: {markdown_text(str(error))}"
        context.forge.threads.say(Thread(number), words, MARKER, context.runner.run)
        return
    if any(record.commit == commit for record in _records(chain, str(task))):
        return
    command = (
        f"/stratwright approve {commit}" if by_comment else f"stratwright approve {result.tag}"
    )
    how = f"`{command}` by somebody with write permission who neither wrote nor asked for it; "
    how += (
        f"[there are other ways]({MANUAL}/approval.md), and `stratwright status` says what holds."
    )
    parts = (how, _targets(settings), last_live(repository, chain, task, commit))
    text = comment_text(f"Not approved yet: {task}", *parts)
    context.forge.threads.say(Thread(number), text, MARKER, context.runner.run)


def describe_state(
    repository: Repository, settings: Settings, task: TaskName, tag: str, commit: str
) -> str:
    """Say the same of a pull request of this machine, as the chain is here."""
    try:
        chain = read_chain(repository.side_branch(BRANCH), None, alone=True)
    except ApprovalRefused as error:
        return f"The branch `{BRANCH}` cannot be believed: {markdown_text(str(error))}"
    given = [record for record in _records(chain, str(task)) if record.commit == commit]
    lines = [
        f"Approved for {record.mode} on {record.host} by {', '.join(record.approvers)}: "
        f"`{record.token}`; `stratwright status` says whether it holds."
        for record in given
    ]
    nobody = f"Not approved yet: `stratwright approve {tag}`."
    live = last_live(repository, chain, task, commit)
    return "\n\n".join([*(lines or [nobody]), _targets(settings), live])


def last_live(repository: Repository, chain: Chain, task: TaskName, commit: str) -> str:
    """Name what was approved for live last, and tell how a commit trades otherwise."""
    given = [r for r in _records(chain, str(task)) if r.environment == "live"]
    if not given:
        return "Last approved for live: nothing of this task yet."
    last = given[-1]
    said = f"Last approved for live: {markdown_code(last.tag)} ({last.token})"
    if last.commit == commit:
        return f"{said}, these very bytes."
    found = compare_commits(repository, f"artifacts/{task}", last.commit, commit)
    told = change_words(found.trades) if found else "it cannot be replayed here."
    return f"{said}. On the candles of the new one: {markdown_text(told)}"


def _records(chain: Chain, scope: str) -> list[Record]:
    """Give a task's records, oldest first; who signed them, the host judges."""
    entries = (entry for entry in chain.entries if isinstance(entry, Approval))
    return [entry.record for entry in entries if entry.record.scope == scope]


def _targets(settings: Settings) -> str:
    """Say what would trade where, for each environment that the settings know."""
    lines = ["| environment | host | account | capital | brokers |", "|---|---|---|---|---|"]
    for name in ("paper", "live"):
        target = settings.deploy.target(name)
        if target is not None:
            money = f"{target.capital} {target.currency}"
            cells = (name, target.host, target.account, money, ", ".join(target.brokers))
            lines.append(f"| {' | '.join(markdown_code(cell, 100) for cell in cells)} |")
    return "\n".join(lines) if len(lines) > 2 else "stratwright.yml names no `deploy:` target yet."
