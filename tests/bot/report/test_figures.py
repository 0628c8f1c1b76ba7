import math

import pytest

from bot.report.figures import NO_VALUE, counted, decimal, moment, percent, price, rate


@pytest.mark.parametrize("nothing", [None, math.nan, math.inf, "12", True, 10**400])
def test_what_is_no_number_is_shown_as_none(nothing: object) -> None:
    assert {decimal(nothing), percent(nothing), rate(nothing), price(nothing)} == {NO_VALUE}


def test_zero_has_no_sign() -> None:
    assert decimal(-0.001) == "0.00"
    assert decimal(-0.0, sign=True) == "0.00"
    assert percent(-0.00001, sign=True) == "0.00%"


def test_numbers_read_well() -> None:
    assert decimal(-1234567.891, sign=True) == "-1,234,567.89"
    assert decimal(12.5, sign=True) == "+12.50"
    assert decimal(1e20) == "1e+20"
    assert (rate(0.001), rate(0.0005), rate(0.02)) == ("0.1%", "0.05%", "2%")
    assert (price(51853.343714), price(12.34567), price(0.000012345)) == (
        "51,853.34",
        "12.3457",
        "1.2345e-05",
    )
    assert (counted(1, "trade"), counted(1234, "trade")) == ("1 trade", "1,234 trades")


def test_moments_are_utc_to_the_minute() -> None:
    assert moment(1_704_067_200_000) == "2024-01-01 00:00"
    assert moment(1_704_067_201_500) == "2024-01-01 00:00:01"
