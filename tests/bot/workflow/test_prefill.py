"""What a parser can read of free text is in the form's address, and nothing else is."""

from urllib.parse import parse_qs

import pytest

from bot.workflow.prefill import prefilled


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("Please buy low and sell high.", {}),
        ("BTC/USDT on the 4h", {"symbols": "BTC/USDT", "timeframe": "4h"}),
        ("ETH/USDT and BTC/USDT, hourly", {"symbols": "ETH/USDT, BTC/USDT", "timeframe": "1h"}),
        ("15-minute candles, RSI(14) under 30", {
            "timeframe": "15m", "indicators": "rsi_14: {function: RSI, timeperiod: 14}"}),
        ("200 day SMA and MACD", {
            "indicators": "sma_200: {function: SMA, timeperiod: 200}\nmacd: {function: MACD}"}),
        ("7 minutes, foo/bar, a rsi", {}),
        ("[x](https://evil.example/A/B) @all &title=owned", {}),
    ],
)  # fmt: skip
def test_names_of_fixed_forms_are_read(text: str, fields: dict[str, str]) -> None:
    found = parse_qs(prefilled(text).removeprefix("&"))
    assert {name: value[0] for name, value in found.items()} == fields


def test_a_long_text_gives_a_short_address() -> None:
    text = " ".join(f"AA{number}/USDT RSI({number})" for number in range(500))
    assert len(prefilled(text)) < 1_600
    assert "\n" not in prefilled(text)
