from dataclasses import replace
from typing import Any

from bot.contract.indicators import Prose
from bot.contract.model import Contract
from bot.contract.risk import AtrLevel, Size, Trailing
from bot.report.asked import indicator_rows, parameter_rows, risk_words, rule_rows
from tests.bot.report.stories import told


def with_risk(**changes: Any) -> Contract:
    contract = told().contract
    return contract.model_copy(update={"risk": contract.risk.model_copy(update=changes)})


def test_rules_stand_beside_their_words() -> None:
    enter, leave = rule_rows(told())
    assert enter.words == "rsi is below oversold and close is above trend"
    assert enter.expression == "rsi < oversold and close > trend"
    assert (leave.name, leave.title) == ("exit_long", "Sell what was bought when")


def test_prose_stands_beside_the_expression_that_a_model_made_of_it() -> None:
    story = told()
    prose = Prose(prose="buy the dip", expression="rsi < 30")
    rules = story.contract.rules.model_copy(update={"enter_long": prose})
    contract = story.contract.model_copy(update={"rules": rules})
    row = rule_rows(replace(story, contract=contract))[0]
    assert (row.prose, row.expression) == ("buy the dip", "rsi < 30")


def test_indicators_and_parameters_are_listed() -> None:
    assert indicator_rows(told())[0] == (
        "rsi",
        "Relative Strength Index of close; timeperiod rsi_period",
        "RSI(timeperiod=rsi_period)",
    )
    assert indicator_rows(told("channel_breakout"))[0][1:] == (
        "the highest high of breakout_bars bars one bar ago",
        "highest(high, breakout_bars)[1]",
    )
    assert parameter_rows(told())[0] == ("oversold", "35", "15 to 40")


def test_every_form_of_risk_has_its_words() -> None:
    words = risk_words(
        with_risk(
            stop_loss=AtrLevel(atr="oversold"),
            take_profit="oversold",
            trailing_stop=Trailing(distance=0.01, activate_at=0.058, only_after_activation=True),
            roi={0: 0.04, 1: 0.0},
            exit_profit_only=True,
            ignore_roi_if_entry_signal=True,
            size=Size(risk=0.01),
            max_positions=3,
        )
    )
    assert words == [
        "Stop: oversold (35) average true ranges (of 14 candles) against the entry price.",
        "Target: oversold (3500%) beyond the entry price.",
        "Trailing stop: 1% behind the best price so far, once in profit by 5.8%; no trailing until"
        " then. It never loosens.",
        "Profit taken, net of commission: 4% after 0 minutes, 0% after 1 minute; held back while"
        " the entry rule is true.",
        "The exit rule counts only while the trade is in profit after fees.",
        "Size: as much as loses 1% of equity at the stop.",
        "At most 3 positions at once, one for each symbol.",
    ]
    assert "Size: 2.5 units a trade." in risk_words(with_risk(size=Size(units=2.5)))
