"""Pull requests of the bot as earlier runs left them, without running the gates for each."""

import json

from bot import __version__
from bot.contract.digest import contract_digest
from bot.contract.load import load_contract
from bot.data.market_data import read_market_data
from bot.forge.github.api import GitHubApi
from bot.forge.github.pulls import GitHubForge
from bot.forge.port import Draft, PullRequest
from bot.git.identity import TaskName, correlation_id
from bot.proof.targets import Targets
from tests.bot.workflow.hub import HOUSE, NAME, World, git

DIP = (HOUSE / "contracts/oversold_dip.yaml").read_text()
DIP = DIP.replace("targets: [adapter, freqtrade]", "targets: [adapter]")


def contract(workflow: str) -> str:
    """A contract of a task of its own."""
    return DIP.replace("workflow: oversold-dip", f"workflow: {workflow}")


def forge_of(world: World) -> GitHubForge:
    """The forge as the job that writes has it."""
    return GitHubForge(GitHubApi(NAME, world.token(), world.hub.url, pace=0.0))


def name_of(world: World, path: str) -> str:
    """The correlation id that a run for a contract of the checkout computes."""
    contract = load_contract(world.clone / path).strategy
    data = read_market_data(contract, world.clone)
    generator = Targets().generator(__version__)
    return correlation_id(NAME, path, contract_digest(contract), data.digest, generator)


def proposed(world: World, path: str, workflow: str, number: int = 1) -> PullRequest:
    """An open pull request of a contract, with its branch at the remote."""
    task = TaskName(workflow, "strategy")
    base = git(world.bare, "rev-parse", "main")
    git(world.clone, "checkout", "-q", "--detach", base)
    place = world.clone / f"Backtest/codes/{workflow}.py"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"# {number}\n")
    git(world.clone, "add", "--all")
    git(world.clone, "commit", "-q", "-m", "candidate")
    head = git(world.clone, "rev-parse", "HEAD")
    git(world.clone, "push", "-q", "--force", str(world.bare), f"HEAD:refs/heads/{task.branch}")
    git(world.clone, "checkout", "-q", world.main)
    name = f"corr_{number:012x}"
    block = {
        "version": 1,
        "accepted": True,
        "branch": task.branch,
        "tag": task.tag(name),
        "contract": path,
        "data_digest": "sha256:" + "1" * 64,
        "trailers": {
            "Correlation-Id": name,
            "Prompt-Hash": "p",
            "Contract-Digest": "c",
            "Coder": "template",
            "Model": "",
        },
    }
    text = json.dumps(block, sort_keys=True, separators=(",", ":"))
    body = f"Evidence.\n\n<!-- stratwright:evidence\n{text}\n-->"
    draft = Draft(task.branch, "main", base, head, task.tag(name), name, workflow, body)
    return forge_of(world).submit(draft)
