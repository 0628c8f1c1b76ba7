"""Turns records and refusals into the words of a comment, a page of a run and a terminal."""

from collections.abc import Iterable
from datetime import UTC, datetime

from bot.approval.reasons import Refusal
from bot.approval.record import Record
from bot.report.inert import markdown_code, markdown_text


def record_rows(record: Record) -> dict[str, str]:
    """Say in words what a record allows."""
    limits = record.limits
    start, end = (
        datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M UTC")
        for moment in (record.start_by, record.run_until)
    )
    return {
        "tag": record.tag,
        "commit": record.commit,
        "mode": f"{record.mode} in {record.environment} on {record.host}",
        "account": f"{record.account}, {limits.capital} {limits.currency}, "
        f"at most {limits.max_order} an order",
        "trades": f"{', '.join(limits.symbols)} at {', '.join(limits.brokers)}",
        "until": f"starts by {start}, runs until {end}",
        "approvers": ", ".join(record.approvers),
        "author": f"{record.author}, asked for by {record.requester}",
        "token": record.token,
        **({"replaces": record.replaces} if record.replaces else {}),
        **({"reason": record.reason} if record.reason else {}),
    }


def record_table(record: Record) -> str:
    """Write a record as a table of Markdown."""
    rows = record_rows(record).items()
    lines = [f"| {name} | {markdown_code(value, 300)} |" for name, value in rows]
    return "\n".join(["| | |", "|---|---|", *lines])


def refusal_list(refusals: Iterable[Refusal]) -> str:
    """Write every reason with its code and what to do, as a list of Markdown."""
    lines = [
        f"- `{each.code}` {markdown_text(each.detail, 200)}: {markdown_text(each.advice)}"
        for each in refusals
    ]
    return "\n".join(lines).replace("` :", "`:")


def comment_text(title: str, *parts: str, run_url: str = "") -> str:
    """Write the comment that says where an approval stands."""
    log = f"[Log of the run]({run_url})" if run_url else ""
    return "\n\n".join(part for part in (f"### {title}", *parts, log) if part) + "\n"
