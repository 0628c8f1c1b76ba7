"""`stratwright data`: candles from an exchange, what candles there are, and what is odd in them."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import InputError

if TYPE_CHECKING:
    from bot.data.candle_files import CandleFile
    from bot.data.exchange.download import Stretch
    from bot.data.quality import Quality

_WHAT = {
    "download": "candles of an exchange, by ccxt, into files of the repository",
    "list": "candle files below a folder: symbol, timeframe, range, rows",
    "check": "gaps, duplicates, order, spikes, volume, time zone of candle files",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    actions = parser.add_subparsers(metavar="ACTION", required=True, dest="action")
    made = {name: actions.add_parser(name, help=w, description=w) for name, w in _WHAT.items()}
    add = made["download"].add_argument
    add("symbols", nargs="+", metavar="SYMBOL", help="as the exchange writes it: BTC/USDT")
    add("--exchange", default="binance", help="by its ccxt id; default: binance")
    add("--timeframe", default="1h", help="default: 1h")
    add("--since", required=True, metavar="DAY", help="the first day, in UTC: 2024-01-01")
    add("--until", metavar="DAY", help="up to this day, not with it; default: now")
    add(
        "--out",
        default="data/{symbol}-{timeframe}.csv",
        metavar="FILE",
        help="a .csv, .feather or .parquet file; default: data/{symbol}-{timeframe}.csv; the word "
        "freqtrade writes where Freqtrade looks, user_data/data/EXCHANGE/...feather",
    )
    add("--futures", action="store_true", help="of the futures market")
    made["list"].add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="default: this one"
    )
    add = made["check"].add_argument
    add("files", nargs="+", type=Path, metavar="FILE", help="csv, feather, parquet, Freqtrade json")
    add("--timeframe", default="", help="default: as most candles are apart")
    add("--picture", type=Path, metavar="FILE.svg", help="draw one file's price and what was found")
    for action in made.values():
        action.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Do one of the actions."""
    return {"download": _download, "list": _list, "check": _check}[args.action](args)


def _download(args: argparse.Namespace) -> int:
    """Download each symbol, once, and write its file; a file that is there is not replaced."""
    from Backtest.times import timeframe_ms
    from bot.data.candle_files import read_candle_file, write_candle_file
    from bot.data.exchange.candle_cache import fetched
    from bot.progress import Counter, Progress

    for symbol, place in _places(args).items():
        stretch, counted, progress = _stretch(args, symbol), Counter(), Progress()
        candles = (stretch.end - stretch.start) // timeframe_ms(args.timeframe)
        progress.stage(f"{symbol} from {args.exchange}", candles, counted.read)
        with progress:
            source = fetched(
                *(args.exchange, stretch, progress.say), futures=args.futures, count=counted.set
            )
        write_candle_file(place.parent, place.name, source)
        _tell_file(read_candle_file(place), as_json=args.json)
    return 0


def _places(args: argparse.Namespace) -> dict[str, Path]:
    """Where each symbol's file goes.

    Raises:
        InputError: one of them is there, or all have one name.
    """
    from bot.contract.symbols import file_symbol
    from bot.data.candle_files import KINDS

    pattern = args.out
    if pattern == "freqtrade":
        name = "futures/{symbol}-{timeframe}-futures" if args.futures else "{symbol}-{timeframe}"
        pattern = f"user_data/data/{args.exchange}/{name}.feather"
    pattern = pattern.replace("{timeframe}", args.timeframe)
    places = {}
    for symbol in args.symbols:
        places[symbol] = Path(pattern.replace("{symbol}", file_symbol(symbol)))
    if len(set(places.values())) < len(places):
        raise InputError("several symbols need {symbol} in --out", "data/{symbol}-{timeframe}.csv")
    for place in places.values():
        if place.suffix.lower() not in KINDS:
            raise InputError(f"{place} can't be written", f"Its kind is one of {', '.join(KINDS)}.")
        if place.exists():
            raise InputError(f"{place} is there already", "Remove it, or give another --out.")
    return places


def _stretch(args: argparse.Namespace, symbol: str) -> "Stretch":
    """The candles that were asked for and are finished."""
    from Backtest.sim_errors import BacktestError
    from Backtest.times import LAST_MS, timeframe_ms, to_ms
    from bot.clock import MACHINE_CLOCK
    from bot.data.exchange.download import Stretch, whole

    try:
        timeframe_ms(args.timeframe)
        first = to_ms(args.since)
        last = LAST_MS if args.until is None else to_ms(args.until)
    except BacktestError as error:
        raise InputError(error.message, error.hint) from None
    now_ms = int(MACHINE_CLOCK.now().timestamp() * 1000)
    return whole(Stretch(symbol, args.timeframe, first, last), now_ms)


def _tell_file(found: "CandleFile", *, as_json: bool) -> None:
    """Say what was written, and how a contract names it."""
    from bot.data.candle_files import contract_line, span_words

    if as_json:
        sys.stdout.write(json.dumps(_plain(found)) + "\n")
        return
    told = f"{found.path}: {found.rows:,} candles, {span_words(found)}"
    sys.stdout.write(f"{told}\n  in a contract   {contract_line(found)}\n")


def _plain(found: "CandleFile") -> dict[str, object]:
    from Backtest.times import iso

    plain = {**vars(found), "path": str(found.path)}
    return plain | {name: iso(plain[name]) for name in ("first", "last") if found.rows}


def _list(args: argparse.Namespace) -> int:
    from bot.data.candle_files import find_candle_files, span_words
    from bot.report.terminal import table

    if not args.folder.is_dir():
        raise InputError(f"{args.folder} is not a folder", "Give the folder of your candles.")
    found = find_candle_files(args.folder)
    if args.json:
        sys.stdout.write(json.dumps([_plain(each) for each in found]) + "\n")
        return 0
    if not found:
        sys.stdout.write(
            f"no candle file below {args.folder.resolve()}\n"
            "stratwright data download BTC/USDT --since 2024-01-01 brings some\n"
        )
        return 0
    rows = [
        (
            each.symbol or "-",
            each.timeframe or "-",
            f"{each.rows:,}",
            f"{span_words(each) if not each.fault else each.fault}\n{each.path}",
        )
        for each in found
    ]
    sys.stdout.write(table(("symbol", "time", "rows", "range and file"), rows))
    return 0


def _check(args: argparse.Namespace) -> int:
    """Check each file; 1 if a run would stop at one of them."""
    from Backtest.sim_errors import BacktestError
    from bot.commands.screen import show
    from bot.data.quality import check_file
    from bot.report.terminal import table

    if args.picture is not None and len(args.files) > 1:
        raise InputError("a picture is of one file", "Give --picture with one FILE.")
    usable = True
    for path in args.files:
        try:
            quality = check_file(path, args.timeframe)
        except BacktestError as error:
            named = "" if str(path) in error.message else f"{path}: "
            raise InputError(named + error.message, error.hint) from None
        usable &= quality.is_usable
        if args.picture is not None:
            _draw(quality, path, args.picture)
        if args.json:
            sys.stdout.write(json.dumps(_quality_json(path, quality)) + "\n")
            continue
        rows = [(each.name, each.level, each.words) for each in quality.findings]
        show(f"{path}: {len(quality.candles):,} candles of {quality.timeframe}\n")
        show(table(("check", "result", "what"), rows) + _verdict(quality))
    if args.picture is not None and not args.json:
        sys.stdout.write(f"open {args.picture}\n")
    return 0 if usable else 1


def _verdict(quality: "Quality") -> str:
    wrong = [each.name for each in quality.findings if each.level == "WRONG"]
    if wrong:
        return f"A run stops at these candles: {', '.join(wrong)}.\n"
    look = [each.name for each in quality.findings if each.level == "look"]
    more = f"; look at {', '.join(look)}" if look else ""
    return f"A run takes these candles{more}.\n"


def _quality_json(path: Path, quality: "Quality") -> dict[str, object]:
    from Backtest.times import iso

    findings = [
        {"name": f.name, "level": f.level, "words": f.words, "where": [iso(m) for m in f.moments]}
        for f in quality.findings
    ]
    told = {"file": str(path), "rows": len(quality.candles), "timeframe": quality.timeframe}
    return {**told, "usable": quality.is_usable, "findings": findings}


def _draw(quality: "Quality", path: Path, picture: Path) -> None:
    from bot.data.quality_picture import quality_svg
    from bot.files import write_files

    title = f"{path.name}: {len(quality.candles):,} candles of {quality.timeframe}"
    write_files(picture.parent, {picture.name: quality_svg(quality, title)})
