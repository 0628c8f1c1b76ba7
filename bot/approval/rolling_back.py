"""Finds the way back from a deployment: which tag was approved before, and what went wrong."""

from dataclasses import dataclass

from bot.approval.checks import Facts, is_signed
from bot.approval.claims import Claim


@dataclass(frozen=True)
class WayBack:
    """What is left, and what was approved before it; None where nothing was."""

    left: Claim
    back_to: Claim | None


def find_way_back(facts: Facts, scope: str) -> WayBack | None:
    """Finds a task's newest signed approval in the host's environment, and what was before.

    Before means before these bytes were approved for the first time: what they were the way back
    from, they never lead to.
    """
    place = (scope, facts.host.file.environment)
    here = [c for c in facts.claims if (c.record.scope, c.record.environment) == place]
    signed = [claim for claim in here if is_signed(claim, facts)]
    if not signed:
        return None
    commits = [claim.record.commit for claim in signed]
    first = commits.index(commits[-1])
    return WayBack(signed[-1], signed[first - 1] if first else None)


def incident_text(way: WayBack, by: str, reason: str, at: str, evidence: str) -> str:
    """Writes the incident report: what failed, when, which bytes, what is known about them."""
    left = way.left.record
    before = way.back_to.record.tag if way.back_to else "none: nothing else was ever approved"
    rows = {
        "what happened": reason,
        "halted": f"{at} by {by}",
        "ran": f"`{left.tag}` at `{left.commit}`",
        "where": f"{left.mode} on {left.host}, account {left.account}",
        "allowed": f"{left.limits.capital} {left.limits.currency}, "
        f"{', '.join(left.limits.symbols)} at {', '.join(left.limits.brokers)}",
        "approved": f"`{left.token}` by {', '.join(left.approvers)}",
        "evidence": f"`artifacts/{left.scope}` of that commit, `{left.evidence}`; {evidence}",
        "before it": f"`{before}`" if way.back_to else before,
    }
    table = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    return f"### Incident: {left.scope} was halted\n\n| | |\n|---|---|\n{table}\n"


def approve_command(claim: Claim) -> str:
    """Writes the command that approves a tag again, with the limits that it had."""
    record, limits = claim.record, claim.record.limits
    words = ["stratwright approve", record.tag, "--older", "--mode", record.mode]
    words += ["--account", record.account, "--capital", limits.capital]
    words += ["--max-order", limits.max_order, "--currency", limits.currency]
    words += [word for broker in limits.brokers for word in ("--broker", broker)]
    words += [word for symbol in limits.symbols for word in ("--symbol", symbol)]
    return " ".join(words)
