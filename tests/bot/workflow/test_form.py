from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.contract.load import parse_contract
from bot.errors import InputError
from bot.workflow.contracts import read_contract
from bot.workflow.form import HEADINGS, contract_from_form, read_answers
from tests.bot.workflow.hub import ANSWERS, HOUSE, form
from tests.chance import examples


def text(**changes: str) -> str:
    return contract_from_form(7, form(**changes)).text


def test_the_headings_are_those_of_the_form() -> None:
    template = yaml.safe_load((HOUSE / "bot/workflow/templates/strategy_form.yml").read_text())
    fields = {field["id"]: field["attributes"]["label"] for field in template["body"]}
    assert list(fields.items()) == list(HEADINGS.items())


def test_the_answers_make_the_contract_that_they_say() -> None:
    made = contract_from_form(7, form())
    assert made.path == "contracts/issue_7.yaml"
    contract = parse_contract(made.text.encode(), "yaml", Path(made.path)).strategy
    assert (contract.name, contract.workflow, contract.task) == (
        "OversoldDip",
        "oversold-dip",
        "strategy",
    )
    assert contract.rules.enter_long == "rsi < oversold and close > trend"
    assert contract.risk.take_profit == 0.04


def test_windows_line_ends_change_nothing() -> None:
    assert contract_from_form(7, form().replace("\n", "\r\n")).text == text()


def test_other_keys_go_to_their_places() -> None:
    extra = "```yaml\nrisk:\n    size: {equity: 0.2}\nacceptance:\n  min_trades: 3\n```"
    made = text(Anything_else=extra)
    contract = parse_contract(made.encode(), "yaml", Path("x.yaml")).strategy
    assert (contract.risk.size.equity, contract.acceptance.min_trades) == (0.2, 3)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "“Name”"),
        ("Do what I say.", "“Name”"),
        (form().replace("### Symbols", "### Cymbals"), "“Symbols”"),
        (form() + "\n\n### Name\n\nEvil", "more than once"),
        ("Hello\n\n" + form(), "above the first heading"),
        (form(Indicators="```yaml\nrsi: [\n```"), "“Indicators”, line"),
        (form(Parameters="- 1\n- 2"), "“Parameters”"),
        (form(Enter_long="rsi < 1\nexit_long: never"), "not one line"),
        (form(Anything_else="```yaml\nrules: {enter_long: always}\n```"), "its own place"),
        (form(Anything_else="```yaml\nname: Other\n```"), "its own place"),
    ],
)
def test_what_is_not_the_form_is_refused_with_words(body: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        contract_from_form(7, body)


def test_what_a_page_does_not_show_is_not_read() -> None:
    hidden = "rsi < oversold and close > trend <!-- or always -->"
    assert text(Enter_long=hidden) == text()
    assert "always" not in text(Exit_long="rsi > 70 or crossed_below(close, trend) <!-- always")


def test_invisible_characters_are_refused_by_the_contract_itself() -> None:
    made = text(Enter_long="rsi < oversold\u202e and close > trend")
    assert read_contract("contracts/issue_7.yaml", made.encode(), Path("/nowhere")).problems


@pytest.mark.parametrize("coder", ["agent", "cli"])
def test_code_by_a_model_is_refused_in_a_form_too(coder: str) -> None:
    made = text(Anything_else=f"```yaml\ncoder: {coder}\n```")
    found = read_contract("contracts/issue_7.yaml", made.encode(), Path("/nowhere")).problems
    assert [str(one) for one in found if "only `stratwright run` on your machine" in str(one)]


@examples(150)
@given(st.sampled_from(sorted(ANSWERS)), st.text(max_size=60))
def test_an_answer_never_reaches_another_field(heading: str, answer: str) -> None:
    body = form(**{heading.replace(" ", "_"): answer})
    try:
        made = contract_from_form(7, body).text
    except InputError:
        return
    read = read_contract("contracts/issue_7.yaml", made.encode("utf-8", "replace"), Path("/n"))
    if read.loaded is None:
        return
    contract = read.loaded.strategy
    if heading != "Name":
        assert contract.name == "OversoldDip"
    if heading != "Stop loss":
        assert contract.risk.stop_loss == 0.02
    if heading != "Enter long":
        assert contract.rules.enter_long == "rsi < oversold and close > trend"


def test_answers_are_cut_at_their_headings_alone() -> None:
    answers = read_answers(form(Description="### Not a heading of ours"))
    assert answers["description"] == "### Not a heading of ours"


@pytest.mark.parametrize(
    "other",
    [
        "risk: {size: {equity: 0.1}, max_positions: 2}",
        "risk:\n  size: {equity: 0.1}\n  max_positions: 2",
        "risk : { max_positions: 2, size: {equity: 0.1}, }",
    ],
)
def test_risk_may_stand_on_one_line(other: str) -> None:
    made = text(Anything_else=f"```yaml\n{other}\nseed: 3\n```")
    read = read_contract("contracts/issue_7.yaml", made.encode(), Path("/n"))
    assert read.problems == ()
    assert read.loaded is not None
    contract = read.loaded.strategy
    assert (contract.risk.stop_loss, contract.risk.max_positions, contract.seed) == (0.02, 2, 3)


def test_risk_that_cannot_be_taken_apart_is_refused_with_words() -> None:
    with pytest.raises(InputError, match="one line"):
        text(Anything_else="```yaml\nrisk: {'size': {equity: 0.1}}\n```")
