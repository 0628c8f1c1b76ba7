"""Starts the exchange: `python -m tests.doubles.exchange --candles FILE --frame 5m`.

Prints its address on the first line. Candles of a file are moved in time so that the one after
`--at` opens now; without a file a random walk or, with --breakout, a breakout that begins now.
"""

import argparse
import asyncio
import csv
import sys
import time
from pathlib import Path

from aiohttp import web

from tests.doubles.exchange.server import Exchange, application
from tests.doubles.exchange.tape import FRAMES, MINUTE, Candle, Tape, breakout, candle, wander


def main() -> None:
    """Reads the arguments and serves until stopped."""
    parser = argparse.ArgumentParser(description="A Binance on loopback.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument(
        "--candles", type=Path, help="csv: timestamp, open, high, low, close, volume"
    )
    parser.add_argument(
        "--at", type=int, default=300, help="how many candles are past at the start"
    )
    parser.add_argument("--frame", choices=FRAMES, default="5m")
    parser.add_argument(
        "--breakout", action="store_true", help="the market's clock stands; drive it"
    )
    parser.add_argument("--fall", action="store_true", help="the breakout fails: prices fall")
    args = parser.parse_args()
    exchange = build(args.frame, args.at, args.candles, breaks=args.breakout, falls=args.fall)
    asyncio.run(serve(exchange, args.port))


def build(
    frame: str, at: int, path: Path | None = None, *, breaks: bool = False, falls: bool = False
) -> Exchange:
    """Makes an exchange whose last complete candle is number `at`, from 0."""
    width = FRAMES[frame] * MINUTE
    now = int(time.time() * 1000) // width * width
    first = now - (at + 1) * width
    if path:
        candles = read(path, first, width)
    elif breaks:
        candles = breakout(first, frame, flat=at, falls=falls)
    else:
        candles = wander(first, at + 2000, frame)
    other = wander(first, len(candles), frame, 2_000.0, 8)
    tapes = {"BTCUSDT": Tape(candles, frame), "ETHUSDT": Tape(other, frame)}
    symbols = {"BTCUSDT": ("BTC", "USDT"), "ETHUSDT": ("ETH", "USDT")}
    return Exchange(tapes, symbols, set_to=now + width * 2 // 5 if breaks else None)


def read(path: Path, first: int, width: int) -> list[Candle]:
    """Reads candles and gives them new times."""
    with path.open(newline="") as file:
        rows = [
            {name.lower(): value for name, value in row.items()} for row in csv.DictReader(file)
        ]
    names = ("open", "high", "low", "close", "volume")
    return [
        candle(first + n * width, *(float(row[x]) for x in names)) for n, row in enumerate(rows)
    ]


async def serve(exchange: Exchange, port: int) -> None:
    """Serves until the program is stopped."""
    runner = web.AppRunner(application(exchange), handler_cancellation=False)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    address = runner.addresses[0]
    sys.stdout.write(f"http://{address[0]}:{address[1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    main()
