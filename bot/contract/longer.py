"""Says which longer candles can be made of a contract's own."""

from Backtest.times import timeframe_ms
from bot.contract.symbols import TIMEFRAMES

# Exchanges do not agree where 3d candles begin, and months differ in length.
_NEVER = ("3d", "1M")


def minutes(timeframe: str) -> int:
    """Gives the length of a candle; a month counts 30 days."""
    return timeframe_ms(timeframe) // 60_000


def longer_candles_refusal(wanted: str, own: str) -> str:
    """Says why candles of a length cannot be made of others; empty if they can."""
    if wanted in _NEVER:
        return f"{wanted} candles have no length or no start that all agree on"
    if own in _NEVER or minutes(wanted) % minutes(own):
        return f"{wanted} candles cannot be made of {own} candles"
    if minutes(wanted) <= minutes(own):
        return f"the contract's own candles are {own}: leave `timeframe` out, or take longer ones"
    return ""


def longer(own: str) -> str:
    """Gives the lengths that can be made, in words."""
    found = [wanted for wanted in TIMEFRAMES if not longer_candles_refusal(wanted, own)]
    return " ".join(found) or "no timeframe"
