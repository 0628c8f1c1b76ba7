"""Candidates' branches, and what to say about them, on either forge."""

from bot.forge.port import Draft
from bot.git.repository import Repository
from tests.bot.git import worlds
from tests.bot.workflow.hub import World, git

BRANCH = "ai/generated/oversold-dip/strategy"
FILE = "Backtest/codes/oversold_dip.py"
ID = "corr_0123456789ab"
BLOCK = (
    '<!-- stratwright:evidence\n{"accepted":true,"branch":"b","contract":"contracts/a.yaml",'
    '"data_digest":"d","tag":"ai/oversold-dip/strategy/%s","trailers":{"Coder":"template",'
    '"Contract-Digest":"c","Correlation-Id":"%s","Model":"","Prompt-Hash":"p"},"version":1}\n-->'
)


def content_of(word: str) -> bytes:
    """The candidate's file."""
    return f"# {word}\n".encode()


def local_draft(repository: Repository, content: str = "one") -> Draft:
    """A candidate proposed in a repository."""
    proposal = worlds.draft(repository, content)
    proposed = repository.propose(proposal)
    return Draft(
        branch=worlds.TASK.branch,
        base=proposal.base.branch,
        base_commit=proposal.base.commit,
        head=proposed.commit,
        tag=proposed.tag,
        correlation_id=worlds.identify(content),
        title=f"{worlds.TASK}: {content}",
        body="Evidence.",
    )


def github_draft(world: World, content: str = "one", correlation: str = ID) -> Draft:
    """A branch at the remote with one commit on top of main."""
    base = git(world.bare, "rev-parse", "main")
    git(world.clone, "checkout", "-q", "-B", "candidate", base)
    place = world.clone / FILE
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content_of(content))
    git(world.clone, "add", "--all")
    git(world.clone, "commit", "-q", "-m", content)
    git(world.clone, "push", "-q", "--force", str(world.bare), f"HEAD:refs/heads/{BRANCH}")
    head = git(world.clone, "rev-parse", "HEAD")
    git(world.clone, "checkout", "-q", "main")
    body = "![Equity](artifacts/oversold-dip/strategy/equity.svg)\n\n"
    tag = f"ai/oversold-dip/strategy/{correlation}"
    block = BLOCK % (correlation, correlation)
    return Draft(BRANCH, "main", base, head, tag, correlation, f"Dip {content}", body + block)
