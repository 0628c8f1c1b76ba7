"""Problems are read by strangers: one line, nothing hidden, the likely word."""

from bot.contract.document.problems import (
    ContractError,
    Problem,
    field_name,
    nearest,
    printable,
    quoted,
)


def test_a_problem_names_place_field_message_and_advice() -> None:
    problem = Problem(
        "contracts/x.yaml",
        12,
        9,
        "indicators.rsi.timeperid",
        'unknown argument "timeperid"',
        allowed="timeperiod",
        nearest="timeperiod",
    )
    assert str(problem) == (
        'contracts/x.yaml:12:9 indicators.rsi.timeperid: unknown argument "timeperid"; '
        'allowed: timeperiod; did you mean "timeperiod"?'
    )
    assert problem.to_dict()["line"] == 12


def test_paths_of_keys_read_as_people_write_them() -> None:
    assert field_name(("market", "symbols", 1)) == "market.symbols[1]"
    assert field_name(("risk", "roi", 60)) == "risk.roi.60"
    assert field_name(()) == ""


def test_what_could_steer_a_terminal_is_made_visible() -> None:
    assert printable("a\x1b[31m\u202e") == "a<U+001B>[31m<U+202E>"
    assert "\n" not in str(Problem("a\nb", 1, 1, "", quoted("x\ny")))


def test_the_nearest_word_ignores_case_and_gives_up_on_others() -> None:
    assert nearest("Adaptor", ["adapter", "freqtrade"]) == "adapter"
    assert nearest("zzz", ["adapter"]) == ""
    assert nearest(5, ["adapter"]) == ""


def test_a_flood_of_problems_is_counted_not_printed() -> None:
    error = ContractError(Problem("x", line, 1, "", "no") for line in range(1, 101))
    assert len(error.message.splitlines()) == 52
    assert error.message.endswith("... and 50 more\n100 problems in the contract")
    assert error.exit_code == 2
