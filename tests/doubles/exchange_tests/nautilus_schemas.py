"""Decodes answers with NautilusTrader's strict Binance schemas; runs in its own environment.

Reads a JSON list of [schema, many, text] and prints a list: what is wrong with each, or an empty
text. A schema is named as in spot.market.BinanceSpotExchangeInfo.
"""

import importlib
import json
import sys

import msgspec  # type: ignore[import-not-found, unused-ignore]

ROOM = "nautilus_trader.adapters.binance"


def trouble(schema: str, many: bool, text: str) -> str:
    """Says what the schema finds wrong with a text."""
    market, kind, name = schema.split(".")
    found = getattr(importlib.import_module(f"{ROOM}.{market}.schemas.{kind}"), name)
    try:
        msgspec.json.decode(text.encode(), type=list[found] if many else found)
    except msgspec.DecodeError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    json.dump([trouble(*each) for each in json.load(sys.stdin)], sys.stdout)
