"""Starts Freqtrade with safe orders; runs in Freqtrade's own environment.

`python -m integration.adapter.safe_freqtrade trade -c config.json ...`, arguments as Freqtrade's.
A configuration with `dry_run: false` starts only on a loopback exchange, or where
`stratwright bridge trade` has found an approval of these bytes.
"""

import hashlib
import json
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bot.errors import InputError, SafetyStop, StratwrightError
from integration.adapter.loopback_only import is_local, keep_to_loopback

APPROVED = "STRATWRIGHT_APPROVED"
# On loopback ccxt is set up by these alone; others bring proxies or change addresses.
_CCXT_KEYS = {"enableRateLimit", "rateLimit", "timeout", "options", "urls"}
# What Freqtrade takes from its configuration rather than from the strategy's file.
_STRATEGY_KEYS = (
    *("timeframe", "minimal_roi", "stoploss", "trailing_stop", "trailing_stop_positive"),
    *("trailing_stop_positive_offset", "trailing_only_offset_is_reached", "use_custom_stoploss"),
    *("use_exit_signal", "exit_profit_only", "exit_profit_offset", "ignore_roi_if_entry_signal"),
    *("position_adjustment_enable", "max_entry_position_adjustment", "order_types"),
    *("order_time_in_force", "process_only_new_candles", "startup_candle_count"),
)
_LOG = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> int:
    """Runs Freqtrade; its bot is checked when it is made, by its own configuration."""
    from freqtrade.freqtradebot import FreqtradeBot  # type: ignore[import-not-found]
    from freqtrade.main import main as freqtrade  # type: ignore[import-not-found]

    if list(arguments[:1]) != ["trade"]:
        sys.stderr.write("only `trade` is started here; use freqtrade for the rest\n")
        return InputError.exit_code
    make, refused = FreqtradeBot.__init__, []

    def checked(bot: Any, config: dict[str, Any]) -> None:
        if not config["dry_run"]:
            try:
                check_live(config, os.environ.get(APPROVED))
            except StratwrightError as error:
                refused.append(error)
                raise SystemExit(error.exit_code) from error
            _make_safe(config)
        make(bot, config)

    FreqtradeBot.__init__ = checked
    try:
        freqtrade(list(arguments))
    except SystemExit as end:
        for error in refused:
            sys.stderr.write(f"{error.message}\n{error.hint}\n")
            return error.exit_code
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def check_live(config: dict[str, Any], approved: str | None) -> None:
    """Refuses to trade where neither a loopback exchange nor an approval is named.

    Args:
        config: as Freqtrade has read it.
        approved: what `stratwright bridge trade` says of the approval, as JSON.

    Raises:
        SafetyStop: with the reason.
    """
    name = config["exchange"]["name"]
    from integration.adapter.safe_orders import EXCHANGES

    if name not in EXCHANGES:
        known = ", ".join(EXCHANGES)
        raise SafetyStop(f"orders of {name} cannot be looked up by our id", f"Safe on: {known}.")
    if is_loopback(config):
        keep_to_loopback()
        return
    hint = "Trade on paper (dry_run: true), or approve a tag: stratwright bridge trade TAG."
    if not approved:
        raise SafetyStop("dry_run is false, and no approval names these bytes", hint)
    try:
        allowed = dict(json.loads(approved))
    except (ValueError, TypeError):
        raise SafetyStop("the approval cannot be read", hint) from None
    for reason in _beyond(config, allowed):
        raise SafetyStop(reason, hint)


def is_loopback(config: dict[str, Any]) -> bool:
    """Says whether every address that ccxt would call is on this machine."""
    names = ("ccxt_config", "ccxt_sync_config", "ccxt_async_config")
    parts = [config["exchange"].get(key) or {} for key in names]
    addresses = [text for part in parts for text in _texts(part.get("urls") or {})]
    if any(set(part) - _CCXT_KEYS for part in parts):
        return False
    given = {name for part in parts[:2] for name in ((part.get("urls") or {}).get("api") or {})}
    private = {"public", "private", "v1", "sapi"}
    if config.get("trading_mode", "spot") != "spot":
        private = {"fapiPublic", "fapiPrivate", "fapiPrivateV2", "fapiPrivateV3"}
    return bool(addresses) and private <= given and all(map(is_local, addresses))


def digest_of_file(path: Path) -> str:
    """Gives `sha256:` and the digest of a file."""
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def _beyond(config: dict[str, Any], allowed: dict[str, Any]) -> Iterator[str]:
    """Finds what the configuration does beyond the approval."""
    folder = Path(config.get("strategy_path") or "")
    file = folder / f"{config['strategy']}.py"
    if [each.name for each in folder.glob("*")] != [file.name]:
        yield f"{folder} holds other files than {file.name}, which Freqtrade would run too"
    elif digest_of_file(file) != allowed["strategy"]:
        yield f"{file.name} is not the file that was approved"
    if changed := [key for key in _STRATEGY_KEYS if key in config]:
        yield f"the configuration changes what was approved: {', '.join(changed)}"
    pairs = set(config["exchange"].get("pair_whitelist") or ())
    if not pairs or not pairs <= set(allowed["symbols"]):
        yield f"only {', '.join(allowed['symbols'])} was approved, not {', '.join(sorted(pairs))}"
    if [each.get("method") for each in config.get("pairlists", [])] != ["StaticPairList"]:
        yield "only a StaticPairList keeps to the approved symbols"
    if config["exchange"]["name"] not in allowed["brokers"]:
        yield f"{config['exchange']['name']} was not approved"
    capital = config.get("available_capital")
    if not capital or capital > float(allowed["capital"]):
        yield f"available_capital has to be set, to {allowed['capital']} at most"


def _make_safe(config: dict[str, Any]) -> None:
    """Puts the safe orders and the start-up check into this process, once."""
    from freqtrade.freqtradebot import FreqtradeBot
    from freqtrade.persistence import Order  # type: ignore[import-not-found]
    from sqlalchemy import select

    from integration.adapter.intents import Intents
    from integration.adapter.safe_orders import SafeOrders, install

    def known(order_id: str) -> bool:
        return Order.session.scalar(select(Order.id).filter(Order.order_id == order_id)) is not None

    if hasattr(FreqtradeBot, "_stratwright"):
        return  # its configuration was reloaded
    FreqtradeBot._stratwright = True
    path = Path(config["user_data_dir"]) / "stratwright_intents.sqlite"
    safe = SafeOrders(Intents(path), known)
    install(safe)
    startup, enter = FreqtradeBot.startup, FreqtradeBot.execute_entry

    def checked_startup(bot: Any) -> None:
        startup(bot)
        adopt(bot, safe)

    def tagged_entry(bot: Any, *args: Any, **named: Any) -> Any:
        with safe.entering(named.get("enter_tag")):
            return enter(bot, *args, **named)

    FreqtradeBot.startup, FreqtradeBot.execute_entry = checked_startup, tagged_entry


def adopt(bot: Any, safe: Any) -> None:
    """Gives a trade to every entry at the exchange that Freqtrade's database does not know.

    Freqtrade itself makes the trade: it asks for the order, and is given the one that is there. An
    exit or a stop that it does not know is given to it when it asks for that again.
    """
    api = bot.exchange._api
    safe.settle(api)
    for intent, order in list(safe.orphans(api)):
        _LOG.warning("order %s of %s is not in the database", order["id"], intent.symbol)
        if not intent.entry:
            continue
        price = order["average"] or order["price"]
        stake = (order["cost"] or order["amount"] * price) or 0.0
        strategy, wallets = bot.strategy, bot.wallets
        strategy.custom_stake_amount = lambda *_, _stake=stake, **__: _stake
        wallets.validate_stake_amount = lambda *_, _stake=stake, **__: _stake
        try:
            bot.execute_entry(
                intent.symbol,
                stake,
                price,
                is_short=intent.side == "sell",
                ordertype=intent.type,
                enter_tag=intent.tag or None,
                mode="replace",
            )
        finally:
            del strategy.custom_stake_amount, wallets.validate_stake_amount


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in _texts(each)]
    return [value] if isinstance(value, str) else ["?"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
