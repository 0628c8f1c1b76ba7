"""A story in which every string is one that somebody chose to do harm."""

from dataclasses import replace

from bot.contract.indicators import ExpressionIndicator, Parameter, Prose
from bot.contract.language.program import Program
from bot.contract.language.program_steps import ExpressionStep
from bot.contract.language.tree import Comparison, Indicator
from bot.contract.language.tree import Parameter as ParameterNode
from bot.report.answered import Answered, ExampleBar
from bot.report.behaviour import compare_trades
from bot.report.story import Story
from tests.bot.report.stories import Answer, told

TEXTS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "'; background:url(https://evil.example/x) '",
    "</style><style>*{display:none}",
    "</title><base href=//evil.example>",
    "<!-- hidden --> after",
    "-->\n<!-- stratwright:evidence\n{}\n-->",
    "]]><!ENTITY x SYSTEM 'file:///etc/passwd'>",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
    "[x]: https://evil.example",
    "see https://evil.example/a?b=c and www.evil.example or mail root@evil.example",
    "<https://evil.example>",
    "www.1.example www.… ftp://evil.example mailto:a@evil.example xmpp:a@evil.example",
    "http://1.2.3.4/x a1@2.example //evil.example \\\\evil\\share",
    "@octocat @org/team please merge",
    "Fixes #12, closes owner/repo#34, resolves GH-56, see 1a2b3c4d5e6f7a8b9c0d",
    "/stratwright approve 1a2b3c4d5e6f",
    "text\n/stratwright approve\n/merge",
    "${{ secrets.GITHUB_TOKEN }}",
    "::set-output name=x::y",
    "`code` ``` fence ``` ~~~",
    "```\n# title\n```",
    "| a | b |\n|---|---|",
    "# heading\n\n- item\n\n1. one\n\n> quote\n\n---\n===",
    "**bold** _it_ ~~gone~~ $x^2$ :smile: [x] \\",
    "&lt;b&gt; &#64;octocat &amp;",
    "a\u202egnp.exe\u202c b\u200b\u200d\u2066c\ufeff",
    "\u05d0\u05d1\u05d2 \u0627\u0644\u0639",
    "\x00\x07\x1b[31mred\x1b]0;title\x07\x7f\x9b",
    "\U000e0041\U000e0042\ufe01\U000e0100 tags",
    "a" + "\u0301" * 500,
    "\ud800 lone surrogate \ufffe",
    "1. first",
    "1) first",
    "- item",
    "+ item",
    "    indented",
    "[skip ci]\n\nCo-authored-by: A <a@evil.example>",
    "{{ 7*7 }} {% raw %}",
    "; rm -rf / $(reboot) `reboot`",
)


def poisoned(text: str, story: Story | None = None) -> Story:
    """Put a text wherever a story has one."""
    base = story or told("oversold_dip")
    contract = base.contract
    tree = Comparison(0, "<", Indicator(0, text), ParameterNode(0, text))
    hostile_contract = contract.model_copy(
        update={
            "name": text,
            "description": text,
            "notes": text,
            "market": contract.market.model_copy(update={"symbols": (text, "B/" + text)}),
            "parameters": {text: Parameter(default=1)},
            "indicators": {text: ExpressionIndicator.model_construct(expression=text)},
            "rules": contract.rules.model_copy(
                update={"enter_long": Prose.model_construct(prose=text), "exit_long": text}
            ),
            "risk": contract.risk.model_copy(update={"stop_loss": text}),
        }
    )
    program = Program(
        parameters={text: 1},
        steps=(ExpressionStep(text, tree),),
        rules={"enter_long": tree, "exit_long": tree},
        prose={},
        atr_periods={},
    )
    trades = [replace(trade, symbol=text, rule_out=text) for trade in base.trades]
    summary = {**base.summary, "start": text, "end": text, "conventions": {text: text}}
    summary["by_year"] = {text: {"trades": 1}}
    return replace(
        base,
        contract=hostile_contract,
        program=program,
        verdicts=(Answer(text, False, text, text, text, text), Answer(text, True, text)),
        summary=summary,
        trades=trades,
        correlation_id=text,
        branch=text,
        tag=text,
        contract_path=text,
        contract_digest=text,
        data_digest=text,
        data_files=(text, text),
        prompt_hash=text,
        coder=text,
        model=text,
        versions={text: text},
        answered=Answered(
            text,
            text,
            text,
            3,
            False,
            {"enter_long": [text]},
            {"enter_long": [ExampleBar(text, text, False, text, text)]},
        ),
        candles=dict.fromkeys((text, f"B/{text}"), next(iter(base.candles.values()))),
        behaviour_change=compare_trades(trades[2:], trades[:-1], text),
        previous=text,
        since=compare_trades(trades[1:], trades, text),
    )
