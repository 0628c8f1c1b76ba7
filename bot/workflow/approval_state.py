"""Shows under a pull request where its approval stands, what would trade where, and what did."""

from bot.approval.chain import BRANCH, Approval, Chain, read_chain
from bot.approval.reasons import ApprovalRefused
from bot.approval.record import Record
from bot.errors import MANUAL
from bot.forge.port import Thread
from bot.git.identity import TaskName
from bot.git.repository import Repository
from bot.proof.version_change import compare_commits
from bot.report.inert import markdown_code, markdown_text
from bot.report.wording import change_words
from bot.settings import DEPLOY_WORKFLOW
from bot.workflow.context import Context
from bot.workflow.deploy_words import comment_text

MARKER = "approval"


def show_state(context: Context, task: TaskName, commit: str, number: int) -> None:
    """Say that a proposal is not approved yet, and how it can be, where that is set up.

    Nothing is said over an approval: what became of it is told by the run that signed it.
    """
    base = context.repository.base().commit
    if context.repository.objects.entry(base, DEPLOY_WORKFLOW) is None:
        return
    try:
        chain = read_chain(context.repository.side_branch(BRANCH), None)
    except ApprovalRefused as error:
        words = f"The branch `{BRANCH}` cannot be believed: {markdown_text(str(error))}"
        context.forge.threads.say(Thread(number), words, MARKER, context.runner.run)
        return
    if any(record.commit == commit for record in _records(chain, str(task))):
        return
    how = f"`/stratwright approve {commit}` by somebody with write permission who neither wrote "
    how += f"nor asked for it; [there are other ways]({MANUAL}/approval.md)."
    parts = (how, _targets(context), last_live(context.repository, chain, task, commit))
    text = comment_text(f"Not approved yet: {task}", *parts)
    context.forge.threads.say(Thread(number), text, MARKER, context.runner.run)


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


def _targets(context: Context) -> str:
    """Say what would trade where, for each environment that the settings know."""
    lines = ["| environment | host | account | capital | brokers |", "|---|---|---|---|---|"]
    for name in ("paper", "live"):
        target = context.settings.deploy.target(name)
        if target is not None:
            money = f"{target.capital} {target.currency}"
            cells = (name, target.host, target.account, money, ", ".join(target.brokers))
            lines.append(f"| {' | '.join(markdown_code(cell, 100) for cell in cells)} |")
    return "\n".join(lines) if len(lines) > 2 else "stratwright.yml names no `deploy:` target yet."
