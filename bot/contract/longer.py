"""Says which longer candles can be made of a contract's own."""

from bot.contract.symbols import TIMEFRAMES

_UNITS = {"m": 1, "h": 60, "d": 1440, "w": 10080}
# Exchanges do not agree where 3d candles begin, and months differ in length.
_NEVER = ("3d", "1M")


def minutes(timeframe: str) -> int:
    """The length of a candle; of all but months, which have none."""
    return int(timeframe[:-1]) * _UNITS[timeframe[-1]]


def longer_candles_refusal(wanted: str, own: str) -> str:
    """Why candles of a length cannot be made of others; empty if they can."""
    if wanted in _NEVER:
        return f"{wanted} candles have no length or no start that all agree on"
    if own in _NEVER or minutes(wanted) % minutes(own):
        return f"{wanted} candles cannot be made of {own} candles"
    if minutes(wanted) <= minutes(own):
        return f"the contract's own candles are {own}: leave `timeframe` out, or take longer ones"
    return ""


def longer(own: str) -> str:
    """The lengths that can be made, in words."""
    found = [wanted for wanted in TIMEFRAMES if not longer_candles_refusal(wanted, own)]
    return " ".join(found) or "no timeframe"
