"""What may happen to a repository: each flow with the world before it and its event."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.bot.workflow.hub import comment, form, issue, push, repository, user
from tests.e2e.lines import candles_text, contract_text
from tests.fire.bench import Bench

CANDLES = "data/btc.csv"
PATH = "contracts/dip.yaml"
GOOD = contract_text(data=CANDLES)
CHANGED = contract_text(data=CANDLES, oversold=28)
BAD = GOOD.replace("rsi <", "rsj <").replace("stop_loss: 0.02", "stop_loss: 2")
FORM = form(
    Candles=CANDLES,
    Parameters="_No response_",
    Indicators="```yaml\nrsi: {function: RSI, timeperiod: 5}\n```",
    Enter_long="rsi < 30",
    Exit_long="rsi > 60",
    Take_profit="_No response_",
)
BAD_FORM = form(Enter_long="rsj < oversold", Stop_loss="2", Timeframe="7h")

Event = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Flow:
    """An event, and what has to be there before it.

    Attributes:
        prepare: makes the world before the event and gives the event.
        code: how its clean run ends.
        run: the number of the next run; 100 if it is the same run, started once more.
    """

    name: str
    prepare: Callable[[Bench], Event]
    code: int = 0
    run: int = 101


def _candles(bench: Bench) -> None:
    bench.world.commit({CANDLES: candles_text()})


def _pushed(bench: Bench, text: str | None) -> Event:
    before, after = bench.world.commit({PATH: text})
    return "push", push(before, after)


def good_push(bench: Bench) -> Event:
    _candles(bench)
    return _pushed(bench, GOOD)


def changed_push(bench: Bench) -> Event:
    proposed(bench)
    return _pushed(bench, CHANGED)


def bad_push(bench: Bench) -> Event:
    _candles(bench)
    return _pushed(bench, BAD)


def deletion(bench: Bench) -> Event:
    proposed(bench)
    return _pushed(bench, None)


def proposed(bench: Bench) -> None:
    """The contract's pull request, number 1, is open."""
    ran = bench.run(*good_push(bench), run=10)
    assert ran.code == 0, ran.log


def filed(bench: Bench, body: str = FORM) -> Event:
    _candles(bench)
    number = bench.world.hosted.open_issue("Strategy", body, "alice", ["stratwright"]).number
    return "issues", issue(number, body)


def bad_form(bench: Bench) -> Event:
    return filed(bench, BAD_FORM)


def retry(bench: Bench) -> Event:
    """A command under an issue whose first run never came."""
    filed(bench)
    bench.world.hosted.say(1, "/stratwright retry", "alice")
    return "issue_comment", comment(1, "/stratwright retry", issue_body=FORM)


def regenerate(bench: Bench) -> Event:
    """A person closed the pull request, and asks for it again."""
    proposed(bench)
    bench.world.hosted.record.issues[1].state = "closed"
    return "issue_comment", comment(1, "/stratwright regenerate", on_pull=True)


def explain(bench: Bench) -> Event:
    proposed(bench)
    return "issue_comment", comment(1, "/stratwright explain", on_pull=True)


def dispatch(bench: Bench) -> Event:
    good_push(bench)
    return _dispatched("false")


def dispatch_again(bench: Bench) -> Event:
    """The workflow is started by hand, to propose once more what is proposed already."""
    proposed(bench)
    return _dispatched("true")


def _dispatched(regenerate: str) -> Event:
    payload = {
        "ref": "refs/heads/main",
        "inputs": {"contracts": PATH, "regenerate": regenerate},
        "repository": repository(),
        "sender": user(),
    }
    return "workflow_dispatch", payload


FLOWS = (
    Flow("good contract pushed", good_push),
    Flow("changed contract pushed", changed_push),
    Flow("bad contract pushed", bad_push, 2),
    Flow("contract deleted", deletion),
    Flow("form filed", filed),
    Flow("bad form filed", bad_form, 2),
    Flow("retry", retry),
    Flow("regenerate", regenerate),
    Flow("explain", explain),
    Flow("dispatch", dispatch),
    Flow("dispatch to regenerate", dispatch_again, run=100),
)
