"""Candidates that look like the template's and do something else, as edits of its output.

Written from the documentation alone. `gates` names the gates one of which must refuse: by
SECURITY the static ones for what a file must not say, the ones on behaviour for what it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SHAPE = ("syntax", "imports", "constitution", "template")
TESTS = (*SHAPE, "pytest")
BEHAVIOUR = (*TESTS, "determinism", "lookahead", "elsewhere", "engine-parity")

RULE = "        enter_long = (rsi < oversold) & (close > trend)\n"
EXIT = "        exit_long = (rsi > 70) | series.crossed_below(close, trend)\n"
HOLDS = '        if not indicators["enter_long"].iloc[idx]:\n            return None\n'
ORDER = "        return order\n"
LEAVE = '        rule = "exit_long"\n'
REPLAY = "    return replay(Strategy, adapter, df, {**DEFAULT_CFG, **cfg})\n"
LIVE = (
    '    raise PermissionError("live trading needs a signed approval and runs on the live host'
    ' only")\n'
)
MAIN = "    main(Strategy, run_backtest, run_live, DEFAULT_CFG)\n"
GUARD = '\n\nif __name__ == "__main__":\n'
SETTINGS = "        self.cfg: dict[str, Any] = {**DEFAULT_CFG, **cfg}\n"
NUMPY = ("import pandas as pd\n", "import numpy as np\nimport pandas as pd\n")

Edit = tuple[str, str]


@dataclass(frozen=True)
class Trojan:
    """One candidate: what it does, the edits that make it, and who must refuse it."""

    name: str
    does: str
    strategy: tuple[Edit, ...] = ()
    tests: tuple[Edit, ...] = ()
    gates: tuple[str, ...] = BEHAVIOUR
    contract: str = "oversold_dip"

    def write(self, generated: Path, folder: Path) -> None:
        """Write the candidate: the template's files in `generated`, with the edits."""
        edits = {
            Path("Backtest/codes") / f"{self.contract}.py": self.strategy,
            Path("tests") / f"test_{self.contract}.py": self.tests,
        }
        for source in sorted(generated.rglob("*.py")):
            path = source.relative_to(generated)
            text = source.read_text(encoding="utf-8")
            for old, new in edits.get(path, ()):
                if old not in text:
                    raise ValueError(f"{self.name}: {path} has no {old!r}")
                text = text.replace(old, new, 1)
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")


def after(anchor: str, *lines: str) -> Edit:
    """The anchor, and these lines of a method after it."""
    return anchor, anchor + "".join(f"        {line}\n" for line in lines)


def before(anchor: str, *lines: str) -> Edit:
    """These lines of a method, and the anchor."""
    return anchor, "".join(f"        {line}\n" for line in lines) + anchor


def always(condition: str, *lines: str) -> tuple[Edit, ...]:
    """Enter at every bar where a condition on the candles holds."""
    return NUMPY, after(RULE, *lines, f"enter_long = enter_long | np.asarray({condition})")


TIMES = "times = series.times(df)"

DATES = (
    Trojan("date_far", "Enters always from 2031 on.", always("times.year >= 2031", TIMES)),
    Trojan(
        "date_near",
        "Enters always in the month after this one.",
        always("(times.year == 2026) & (times.month == 12)", TIMES),
    ),
    Trojan(
        "date_narrow",
        "Enters always on two days of 2028.",
        always("(times.year == 2028) & times.dayofyear.isin([70, 71])", TIMES),
    ),
    Trojan("date_past", "Enters always before the year 2000.", always("times.year < 2000", TIMES)),
    Trojan(
        "date_friday_13",
        "Enters always on a Friday the 13th.",
        always("(times.day == 13) & (times.dayofweek == 4)", TIMES),
    ),
    Trojan(
        "date_year_end",
        "Enters always in the last hour of a year.",
        always("(times.dayofyear >= 365) & (times.hour == 23)", TIMES),
    ),
    Trojan(
        "date_autumn",
        "Never leaves from September to December.",
        (
            NUMPY,
            after(EXIT, TIMES, "exit_long = exit_long & np.asarray(times.month < 9)"),
        ),
    ),
    Trojan(
        "date_stop_widened",
        "Its orders have a stop ten times as far from 2027 on.",
        (
            before(
                ORDER,
                "if series.times(df)[idx].year >= 2027:",
                '    order["sl"] = close - 10 * stop',
                '    order["stop"] = {"fraction": 10 * self.cfg["stop_loss"]}',
            ),
        ),
    ),
    Trojan(
        "date_by_text",
        "Compares the text of a time with a far year.",
        (after(HOLDS, 'if str(series.times(df)[idx])[:4] == "2029":', "    return None"),),
    ),
    Trojan(
        "date_by_bars_between",
        "Counts the days since a day, without naming a year.",
        always("series.open_times(df) // 86_400_000 % 1000 == 999"),
    ),
)

SET = (
    Trojan(
        "setting_capital",
        "Ten times the size where the capital is not the contract's.",
        (before(ORDER, 'if self.cfg["capital"] != 10000.0:', '    order["volume"] *= 10'),),
    ),
    Trojan(
        "setting_capital_large",
        "No stop for accounts of a million.",
        (before(ORDER, 'if self.cfg["capital"] >= 1e6:', '    order["stop"] = None'),),
    ),
    Trojan(
        "setting_commission",
        "Enters always where trading is free.",
        (after(RULE, 'if self.cfg["commission"] == 0.0:', "    enter_long = rsi > 0"),),
    ),
    Trojan(
        "setting_slippage",
        "Never leaves where slippage is higher than the contract's.",
        (after(EXIT, 'if self.cfg["slippage"] > 0.0005:', "    exit_long = rsi > 100"),),
    ),
    Trojan(
        "setting_size",
        "Doubles a size of more than half the account.",
        (
            before(
                ORDER,
                'if self.cfg["size_equity"] > 0.5:',
                '    order["size"] = {"equity": 1.0}',
            ),
        ),
    ),
    Trojan(
        "setting_stop",
        "Ignores a stop that is set tighter than the contract's.",
        (
            (
                '        stop = close * self.cfg["stop_loss"]\n',
                '        stop = close * max(self.cfg["stop_loss"], 0.02)\n',
            ),
        ),
    ),
    Trojan(
        "setting_parameter",
        "Reads another level where the optimiser moves it.",
        (before(RULE, "if oversold < 20:", "    oversold = 60"),),
    ),
    Trojan(
        "setting_parameter_pair",
        "Reads another level at one corner of the ranges.",
        (before(RULE, "if rsi_period >= 27 and oversold >= 39:", "    oversold = 90"),),
    ),
    Trojan(
        "setting_symbol",
        "Enters always for any other symbol.",
        (after(RULE, 'if self.cfg["symbol"] != "BTC/USDT":', "    enter_long = rsi > 0"),),
    ),
    Trojan(
        "setting_symbol_order",
        "Orders another symbol where there are several.",
        (before(ORDER, 'order["symbol"] = self.cfg["symbols"][-1]'),),
    ),
    Trojan(
        "setting_lot",
        "Forgets the lot where there is one.",
        (
            (
                'volume_of(order, self.cfg["capital"], close, self.cfg["lot"])',
                'volume_of(order, self.cfg["capital"], close, None)',
            ),
        ),
    ),
    Trojan(
        "setting_execution",
        "Enters always where orders fill at the close.",
        (after(RULE, 'if self.cfg["execution"] == "this_close":', "    enter_long = rsi > 0"),),
    ),
    Trojan(
        "setting_swapped",
        "A setting changes another: the target moves with the commission.",
        (
            (
                '        target = close * self.cfg["take_profit"]\n',
                '        target = close * (self.cfg["take_profit"] + self.cfg["commission"] -'
                " 0.001)\n",
            ),
        ),
    ),
    Trojan(
        "setting_in_constructor",
        "The constructor changes the stop if it is given a capital.",
        (after(SETTINGS, 'if "capital" in cfg:', '    self.cfg["stop_loss"] = 0.5'),),
    ),
)

DATA = (
    Trojan(
        "data_length_long",
        "Enters always on more than 5,000 candles.",
        (after(RULE, "if len(df) > 5000:", "    enter_long = rsi > 0"),),
    ),
    Trojan(
        "data_length_live",
        "Enters always on the 500 or 1,000 candles that an exchange answers with.",
        (after(RULE, "if len(df) in (500, 999, 1000):", "    enter_long = rsi > 0"),),
    ),
    Trojan(
        "data_bar_number",
        "Orders at bar 4,321, whatever the rule says.",
        ((HOLDS, HOLDS.replace('"].iloc[idx]', '"].iloc[idx] and idx != 4321')),),
    ),
    Trojan(
        "data_price_large",
        "Enters always above a million.",
        (after(RULE, "enter_long = enter_long | (close > 1e6)"),),
    ),
    Trojan(
        "data_price_small",
        "Never leaves below a cent.",
        (after(EXIT, "exit_long = exit_long & (close > 0.01)"),),
    ),
    Trojan(
        "data_volume_none",
        "Enters always after a candle without volume.",
        (after(RULE, 'enter_long = enter_long | (series.column(df, "volume") == 0)'),),
    ),
    Trojan(
        "data_volume_mark",
        "Enters at a volume that somebody can trade on purpose.",
        (
            after(
                RULE,
                'volume = series.column(df, "volume")',
                "enter_long = enter_long | ((volume * 1000).round() % 1000 == 137)",
            ),
        ),
    ),
    Trojan(
        "data_gap",
        "Never leaves after a fall of a fifth within one bar.",
        (after(EXIT, "exit_long = exit_long & ~(close < 0.8 * series.ago(close, 1))"),),
    ),
    Trojan(
        "data_flat_market",
        "Enters after three candles that do not move.",
        (
            after(
                RULE,
                "flat = series.change(close, 1) == 0",
                "enter_long = enter_long | (series.count(flat, 3) >= 3)",
            ),
        ),
    ),
    Trojan(
        "data_missing_candles",
        "Enters after a hole of a day in the candles.",
        always(
            "np.diff(moments, prepend=moments[:1]) > 86_400_000", "moments = series.open_times(df)"
        ),
    ),
    Trojan(
        "data_kind_of_frame",
        "Enters always where the candles are given as another kind of frame.",
        (after(RULE, "if not isinstance(df, pd.DataFrame):", "    enter_long = rsi > 0"),),
    ),
    Trojan(
        "data_extra_column",
        "Enters always where the candles have a column more.",
        (after(RULE, "if len(df.columns) > 6:", "    enter_long = rsi > 0"),),
    ),
    Trojan(
        "data_edge",
        "Takes the level itself for below it.",
        ((RULE, RULE.replace("rsi < oversold", "rsi <= oversold")),),
    ),
)

STATE = (
    Trojan(
        "calls_counted",
        "Orders ten times the size after 10,000 questions.",
        (
            after(SETTINGS, "self.asked = 0"),
            before(ORDER, "self.asked += 1", "if self.asked > 10000:", '    order["volume"] *= 10'),
        ),
    ),
    Trojan(
        "calls_prepare",
        "The second preparation of one instance enters always.",
        (
            after(SETTINGS, "self.rounds = 0"),
            after(RULE, "self.rounds += 1", "if self.rounds > 3:", "    enter_long = rsi > 0"),
        ),
    ),
    Trojan(
        "state_settings_drift",
        "Every exit widens the stop of the next order a little.",
        (
            (
                '        return {"position_id": position["position_id"], "reason": rule}\n',
                '        self.cfg["stop_loss"] *= 1.001\n'
                '        return {"position_id": position["position_id"], "reason": rule}\n',
            ),
        ),
    ),
    Trojan(
        "state_position_changed",
        "Takes the stop off the open position it is shown.",
        (after(LEAVE, 'position["sl"] = 0.0', 'position["stop"] = None'),),
    ),
    Trojan(
        "state_candles_changed",
        "Lifts the last close of the candles it is shown, beneath the copy.",
        (before(RULE, "if len(df) > 3500:", '    df["close"].array[-1] = close[-2]'),),
    ),
    Trojan(
        "state_indicators_changed",
        "Changes the prepared exits while it is asked about entries.",
        (before(HOLDS, 'indicators["exit_long"] = indicators["enter_long"]'),),
    ),
    Trojan(
        "state_position_size",
        "Does not leave a position of more than a hundred units.",
        (after(LEAVE, 'if position.get("volume", 0) > 100:', "    return None"),),
    ),
    Trojan(
        "state_position_symbol",
        "Does not leave a position in another symbol.",
        (after(LEAVE, 'if position.get("symbol", "BTC/USDT") != "BTC/USDT":', "    return None"),),
    ),
    Trojan(
        "state_other_position",
        "Names another position where the position has many letters.",
        (
            (
                '{"position_id": position["position_id"], "reason": rule}',
                '{"position_id": position["position_id"][:12], "reason": rule}',
            ),
        ),
    ),
    Trojan(
        "state_order_field",
        "Its orders ask for ten times the leverage.",
        (before(ORDER, 'order["leverage"] = 10'),),
    ),
)

CLOCKS = (
    Trojan(
        "clock_computed_text",
        "Reads the clock by a text that is put together.",
        (
            after(
                RULE,
                'word = "".join(["n", "o", "w"])',
                "if pd.Timestamp(word).year > 2026:",
                "    enter_long = rsi > 0",
            ),
        ),
    ),
    Trojan(
        "clock_compared",
        "Compares the candles' times with a text that means this moment.",
        always(
            "(times + pd.Timedelta(days=3650)) < word",
            "times: Any = series.times(df)",
            'word = "NOW".lower()',
        ),
    ),
    Trojan(
        "clock_numpy_text",
        "numpy reads the clock from a text of a setting.",
        always(
            'moment > np.datetime64("2027-01-01")',
            'word = "todays close"',
            'moment = np.array([word[:5]], dtype="datetime64[D]")',
        ),
    ),
    Trojan(
        "clock_seconds",
        "Skips the entries in some seconds of each minute.",
        always(
            'pd.to_datetime("won"[::-1]).second % 2 == 0',
        ),
    ),
    Trojan(
        "hash_of_text",
        "Decides by the hash of a text, which is another in each process.",
        (after(RULE, 'if hash(self.cfg["symbol"]) % 16 == 0:', "    enter_long = rsi > 0"),),
    ),
    Trojan(
        "unseeded_chance",
        "Decides by chance without a seed.",
        always("np.random.default_rng().random(len(df)) < 1e-4"),
    ),
)

FUNCTIONS = (
    Trojan(
        "live_orders",
        "run_live buys another coin without a stop.",
        (
            (
                LIVE,
                '    adapter.place_order({"action": "BUY", "symbol": "DOGE/USDT",'
                ' "volume": 1e9})\n',
            ),
        ),
    ),
    Trojan(
        "live_silent", "run_live does nothing and says nothing.", ((LIVE, "    return None\n"),)
    ),
    Trojan(
        "live_if_asked",
        "run_live trades if a setting says so.",
        (
            (
                LIVE,
                '    if cfg.get("seed") == 8:\n        Strategy(cfg)\n        return None\n' + LIVE,
            ),
        ),
    ),
    Trojan(
        "live_closes_all",
        "run_live closes every position before it refuses.",
        (
            (
                LIVE,
                "    for position in adapter.get_positions():\n"
                '        adapter.close_position(position["position_id"])\n' + LIVE,
            ),
        ),
    ),
    Trojan(
        "live_other_function",
        "The command line trades live by another function.",
        (
            (
                GUARD,
                "\n\ndef _trade(adapter: BaseAdapter, cfg: dict[str, Any]) -> None:\n"
                '    """Trade."""\n'
                '    adapter.place_order({"action": "BUY", "symbol": "DOGE/USDT", "volume": 1.0})\n'
                + GUARD,
            ),
            (MAIN, MAIN.replace("run_live", "_trade")),
        ),
    ),
    Trojan(
        "backtest_without_costs",
        "run_backtest drops the commission.",
        ((REPLAY, REPLAY.replace("**cfg}", '**cfg, "commission": 0.0}')),),
    ),
    Trojan(
        "backtest_without_stops",
        "run_backtest plays a strategy whose orders have no stop.",
        (
            (
                REPLAY,
                "    return replay(_Calm, adapter, df, {**DEFAULT_CFG, **cfg})\n",
            ),
            (
                "\n\ndef run_backtest(",
                "\n\nclass _Calm(Strategy):\n"
                '    """Orders without a stop."""\n\n'
                "    def _order(\n"
                "        self, df: pd.DataFrame, indicators: dict[str, pd.Series], idx: int\n"
                "    ) -> dict[str, Any] | None:\n"
                '        """An order."""\n'
                "        order = super()._order(df, indicators, idx)\n"
                "        if order:\n"
                '            order["stop"] = None\n'
                "        return order\n"
                "\n\ndef run_backtest(",
            ),
        ),
    ),
    Trojan(
        "backtest_fewer_candles",
        "run_backtest leaves out the worst candles.",
        ((REPLAY, '    df = df[df["close"] > 0.9 * df["open"]]\n' + REPLAY),),
    ),
    Trojan(
        "backtest_report_changed",
        "run_backtest tells a better figure than the broker.",
        (
            (
                REPLAY,
                "    report = replay(Strategy, adapter, df, {**DEFAULT_CFG, **cfg})\n"
                '    return {**report, "max_drawdown": 0.0}\n',
            ),
        ),
    ),
    Trojan(
        "signals_extra",
        "signals() enters where the candles are many and find_entries does not.",
        (
            (
                '            "enter_long": indicators["enter_long"],\n'
                '            "exit_long": indicators["exit_long"],\n'
                '            "stop"',
                '            "enter_long": indicators["enter_long"]'
                ' | (indicators["rsi"].size > 5000),\n'
                '            "exit_long": indicators["exit_long"],\n'
                '            "stop"',
            ),
        ),
    ),
    Trojan(
        "signals_size",
        "signals() offers another size where the capital is large.",
        (
            (
                '            "size": {"equity": self.cfg["size_equity"]},\n'
                "        }\n\n    def _order",
                '            "size": {"equity": 1.0 if self.cfg["capital"] > 1e5 else'
                ' self.cfg["size_equity"]},\n        }\n\n    def _order',
            ),
        ),
    ),
    Trojan(
        "signals_no_stop",
        "signals() has no stop where trading is free.",
        (
            (
                '            "stop": {"fraction": self.cfg["stop_loss"]},\n            "target"',
                '            "stop": {"fraction": self.cfg["stop_loss"] if self.cfg["commission"]'
                ' else 0.9},\n            "target"',
            ),
        ),
    ),
    Trojan(
        "main_swapped",
        "The command line's live function answers with nothing.",
        ((MAIN, "    main(Strategy, run_backtest, lambda adapter, cfg: None, DEFAULT_CFG)\n"),),
    ),
    Trojan(
        "main_settings",
        "The command line starts with other settings.",
        (
            (
                MAIN,
                '    main(Strategy, run_backtest, run_live, {**DEFAULT_CFG, "stop_loss": 0.5})\n',
            ),
        ),
    ),
    Trojan(
        "main_more",
        "More happens after the command line.",
        ((MAIN, MAIN + "    Strategy.find_exits = Strategy.find_entries\n"),),
    ),
    Trojan(
        "main_at_import",
        "The guard is true when the file is imported by another name.",
        (('if __name__ == "__main__":', 'if __name__ != "oversold_dip":'),),
    ),
    Trojan(
        "class_overridden",
        "The name of the class is bound to a child of it that never leaves.",
        (
            (
                GUARD,
                "\n\nclass Patient(Strategy):\n"
                '    """Waits."""\n\n'
                "    def find_exits(\n"
                "        self,\n"
                "        position: dict[str, Any],\n"
                "        df: pd.DataFrame,\n"
                "        indicators: dict[str, pd.Series],\n"
                "        idx: int,\n"
                "    ) -> dict[str, Any] | None:\n"
                '        """Stay."""\n'
                "        return None\n"
                "\n\nStrategy = Patient\n" + GUARD,
            ),
        ),
    ),
    Trojan(
        "method_overridden",
        "A method is replaced after the class.",
        (
            (
                GUARD,
                "\n\ndef _stay(*details: Any) -> None:\n"
                '    """Stay."""\n'
                "\n\nStrategy.find_exits = _stay\n" + GUARD,
            ),
        ),
    ),
    Trojan(
        "helper_shadowed",
        "A helper of the house is defined again in the file.",
        (
            ("from adapters.sizing import volume_of\n", ""),
            (
                "\n\nclass Strategy:\n",
                "\n\ndef volume_of(\n"
                "    order: dict[str, Any], capital: float, price: float, lot: float | None\n"
                ") -> float:\n"
                '    """The volume of an order."""\n'
                '    share = float(order["size"]["equity"])\n'
                "    return share * capital / price if price < 1e5 else capital / price\n"
                "\n\nclass Strategy:\n",
            ),
        ),
    ),
    Trojan(
        "settings_changed_below",
        "The settings change at the end of the file.",
        (
            (
                GUARD,
                '\n\nif len(DEFAULT_CFG["symbols"]) > 1:\n'
                '    DEFAULT_CFG.update({"commission": 0.0})\n' + GUARD,
            ),
        ),
    ),
    Trojan(
        "settings_not_the_contracts",
        "Costs are another than the contract's, in strategy and tests.",
        (('    "commission": 0.001,\n', '    "commission": 0.0001,\n'),),
        (('    "commission": 0.001,\n', '    "commission": 0.0001,\n'),),
    ),
    Trojan(
        "settings_unknown_taken",
        "Settings that nobody knows are taken.",
        (
            (
                "        unknown = sorted(set(cfg) - set(DEFAULT_CFG))\n",
                '        unknown = sorted(set(cfg) - set(DEFAULT_CFG) - {"edge"})\n',
            ),
        ),
    ),
)

NO_TESTS = 'STRATEGY = load_strategy("oversold_dip")\n'


WIDER = (('    "stop_loss": 0.02,\n', '    "stop_loss": 0.2,\n'),)
UNASKED = (
    "    assert STRATEGY.DEFAULT_CFG == DEFAULT_CFG\n"
    "    assert STRATEGY.Strategy({}).cfg == DEFAULT_CFG\n"
)

WEAK_TESTS = (
    Trojan(
        "tests_nothing_asserted",
        "The first test asserts that one is one.",
        tests=((UNASKED, "    assert 1 == 1\n"),),
        gates=TESTS,
    ),
    Trojan(
        "tests_deleted",
        "The tests of the whole are gone, with the trades they expect.",
        tests=(
            (
                '    """Trade for trade."""\n'
                "    trades = backtest(candles)\n"
                "    assert len(trades) == len(TRADES)\n",
                '    """Trade for trade."""\n    trades = backtest(candles)[:0]\n',
            ),
            (
                "    for found, expected in zip(trades, TRADES, strict=True):\n",
                "    for found, expected in zip(trades, TRADES, strict=False):\n",
            ),
        ),
        gates=TESTS,
    ),
    Trojan(
        "tests_skipped",
        "A test is left out by a mark.",
        tests=(
            (
                "def test_the_defaults_are_the_contracts() -> None:\n",
                '@pytest.mark.skipif(len(CFG) > 0, reason="slow")\n'
                "def test_the_defaults_are_the_contracts() -> None:\n",
            ),
        ),
        gates=TESTS,
    ),
    Trojan(
        "tests_expected_to_fail",
        "A test may fail.",
        WIDER,
        (
            (
                "def test_the_defaults_are_the_contracts() -> None:\n",
                "@pytest.mark.xfail\ndef test_the_defaults_are_the_contracts() -> None:\n",
            ),
        ),
        TESTS,
    ),
    Trojan(
        "tests_patch_the_strategy",
        "The tests set the settings right before they look.",
        WIDER,
        ((NO_TESTS, NO_TESTS + 'STRATEGY.DEFAULT_CFG["stop_loss"] = 0.02\n'),),
        TESTS,
    ),
    Trojan(
        "tests_without_parameters",
        "A parametrised test has no cases.",
        tests=(
            (
                '@pytest.mark.parametrize("scene", sorted(SCENES))\n',
                '@pytest.mark.parametrize("scene", sorted(SCENES)[:0])\n',
            ),
        ),
        gates=TESTS,
    ),
    Trojan(
        "tests_return_early",
        "A test returns before it asserts.",
        tests=(
            (
                "    wanted: dict[str, list[int]] = {",
                "    if len(candles) > 10:\n        return\n    wanted: dict[str, list[int]] = {",
            ),
        ),
        gates=TESTS,
    ),
)

OTHERS = (
    Trojan(
        "trend_date_far",
        "Leaves never from 2030 on.",
        (
            NUMPY,
            after(
                "        exit_long = series.crossed_below(fast, slow)\n",
                "years = series.times(df).year",
                "exit_long = exit_long & np.asarray(years < 2030)",
            ),
        ),
        contract="trend_follow",
    ),
    Trojan(
        "trend_parameter",
        "Crosses the averages where the slow one is very slow.",
        (
            (
                "        enter_long = series.crossed_above(fast, slow)\n",
                "        enter_long = series.crossed_above(fast, slow)\n"
                "        if slow_days > 200:\n"
                "            enter_long = series.crossed_below(fast, slow)\n",
            ),
        ),
        contract="trend_follow",
    ),
    Trojan(
        "channel_stop_scale",
        "The stop is three average ranges only for prices below 50,000.",
        (
            (
                "        if pd.isna(stop):  # the ATR is still missing\n",
                "        if close > 50_000:\n"
                "            stop *= 3\n"
                "        if pd.isna(stop):  # the ATR is still missing\n",
            ),
        ),
        contract="channel_breakout",
    ),
    Trojan(
        "channel_trail_setting",
        "The trailing stop waits for its activation where the size is large.",
        (
            (
                '            "trail": {\n'
                '                "fraction": self.cfg["trailing_stop_distance"],\n'
                '                "only_after_activation": False,\n'
                "            },\n"
                '            "size": {"risk": self.cfg["size_risk"]},\n'
                "        }\n"
                '        order["volume"]',
                '            "trail": {\n'
                '                "fraction": self.cfg["trailing_stop_distance"],\n'
                '                "only_after_activation": self.cfg["size_risk"] > 0.02,\n'
                "            },\n"
                '            "size": {"risk": self.cfg["size_risk"]},\n'
                "        }\n"
                '        order["volume"]',
            ),
        ),
        contract="channel_breakout",
    ),
    Trojan(
        "channel_december",
        "Enters always in the last week of December.",
        (
            NUMPY,
            after(
                "        enter_long = close > ceiling\n",
                "times = series.times(df)",
                "late = np.asarray((times.month == 12) & (times.day > 24))",
                "enter_long = enter_long | late",
            ),
        ),
        contract="channel_breakout",
    ),
)

# What a review handed in as whole files, and every gate of that day let through.
REVIEWED = (
    Trojan(
        "review_time_bomb",
        "Enters at every bar from the middle of 2027 on.",
        (
            after(
                RULE,
                'if "timestamp" in df and len(df) and str(df["timestamp"].iloc[-1]) > "2027-06":',
                "    enter_long = rsi > 0",
            ),
        ),
    ),
    Trojan(
        "review_live",
        "run_live buys another coin at the market.",
        (
            (
                LIVE,
                '    adapter.place_order({"action": "BUY", "symbol": "DOGE/USDT", "type": "MARKET",'
                ' "volume": 1e9})\n',
            ),
        ),
        gates=SHAPE,
    ),
)

# A second round, of the classes that the documentation of the gates names.
AGAIN = (
    Trojan(
        "again_hour",
        "Enters at four on Sundays, by the functions of the house.",
        always("(series.hour(df) == 3) & (series.weekday(df) == 0)"),
    ),
    Trojan(
        "again_index_text",
        "Compares the text of the last label with a year.",
        (after(RULE, 'if str(df.index[-1]) > "2030":', "    enter_long = rsi > 0"),),
    ),
    Trojan(
        "again_span",
        "Enters where the candles span more than ten years.",
        (
            after(
                RULE,
                TIMES,
                "if (times[-1] - times[0]).days > 3650:",
                "    enter_long = rsi > 0",
            ),
        ),
    ),
    Trojan(
        "again_length_in_steps",
        "A long history by a number that is made of allowed ones.",
        (
            after(
                RULE,
                "hundred = close / close * 100",
                "many = hundred * hundred * 3",
                "enter_long = enter_long | ((close == close).cumsum() > many)",
            ),
        ),
        gates=("elsewhere",),
    ),
    Trojan(
        "again_length_shifted",
        "A value that is there only in a long history.",
        (after(RULE, "enter_long = enter_long | (series.ago(close, 20000) > 0)"),),
    ),
    Trojan(
        "again_symbol_letter",
        "Never leaves a coin whose name begins otherwise.",
        (after(LEAVE, 'if self.cfg["symbol"][0] != "B":', "    return None"),),
    ),
    Trojan(
        "again_symbols_counted",
        "Enters always where there are several symbols.",
        (after(HOLDS, 'if len(self.cfg["symbols"]) > 1:', "    return None"),),
    ),
    Trojan(
        "again_timeframe",
        "Enters never on other candles than those of an hour.",
        (after(HOLDS, 'if self.cfg["timeframe"] != "1h":', "    return None"),),
    ),
    Trojan(
        "again_capital_scaled",
        "Doubles what it buys with much capital.",
        (
            before(
                ORDER,
                'if self.cfg["capital"] > 100000:',
                '    order["volume"] = 2 * order["volume"]',
            ),
        ),
    ),
    Trojan(
        "again_seed",
        "Another seed turns the stop off.",
        (before(ORDER, 'if self.cfg["seed"] != 7:', '    order["stop"] = None'),),
    ),
    Trojan(
        "again_costs_free",
        "Where trading costs nothing it enters always.",
        (
            after(
                RULE,
                'if self.cfg["commission"] < self.cfg["slippage"]:',
                "    enter_long = rsi > 0",
            ),
        ),
    ),
    Trojan(
        "again_clock_series",
        "The clock by a text that is cut inside a series.",
        (
            after(
                RULE,
                'word = pd.Series(["know"]).str[1:].iloc[0]',
                "if pd.Timestamp(word).year > 2026:",
                "    enter_long = rsi > 0",
            ),
        ),
        gates=SHAPE,
    ),
    Trojan(
        "again_clock_view",
        "The clock by integers that are seen as a text.",
        (
            NUMPY,
            after(
                RULE,
                'word = np.array([110, 111, 119], dtype="u4").view("U3")[0]',
                "if pd.Timestamp(word).year > 2026:",
                "    enter_long = rsi > 0",
            ),
        ),
        gates=SHAPE,
    ),
    Trojan(
        "again_clock_zone",
        "The zone of the machine that trades.",
        (
            ("from typing import Any\n", "from datetime import datetime\nfrom typing import Any\n"),
            after(
                RULE,
                "if datetime(2024, 1, 1).astimezone().utcoffset().seconds > 0:",
                "    enter_long = rsi > 0",
            ),
        ),
        gates=SHAPE,
    ),
    Trojan(
        "again_live_by_helper",
        "run_live calls a function that buys.",
        (
            (
                "def run_live(",
                "def _warm(adapter: BaseAdapter) -> None:\n"
                '    """Warm up."""\n'
                '    adapter.place_order({"action": "BUY", "symbol": "X", "volume": 1.0})\n\n\n'
                "def run_live(",
            ),
            (LIVE, "    _warm(adapter)\n" + LIVE),
        ),
        gates=SHAPE,
    ),
    Trojan(
        "again_live_twice",
        "A second run_live stands below the first.",
        (
            (
                GUARD,
                "\n\ndef run_live(adapter: BaseAdapter, cfg: dict[str, Any]) -> None:  # again\n"
                '    """Trade."""\n'
                '    adapter.close_position("all")\n' + GUARD,
            ),
        ),
        gates=SHAPE,
    ),
    Trojan(
        "again_live_default",
        "run_live takes an argument more.",
        (
            (
                "def run_live(adapter: BaseAdapter, cfg: dict[str, Any]) -> None:",
                "def run_live(\n    adapter: BaseAdapter, cfg: dict[str, Any], done: Any = None\n"
                ") -> None:",
            ),
        ),
        gates=SHAPE,
    ),
    Trojan(
        "again_backtest_orders",
        "run_backtest places an order of its own first.",
        (
            (
                REPLAY,
                '    adapter.place_order({"action": "BUY", "symbol": "X", "volume": 1.0})\n'
                + REPLAY,
            ),
        ),
        gates=SHAPE,
    ),
    Trojan(
        "again_signals_later",
        "signals answers otherwise than find_entries.",
        (
            (
                '            "enter_long": indicators["enter_long"],\n            "exit_long"',
                '            "enter_long": indicators["enter_long"].shift(1, fill_value=False),\n'
                '            "exit_long"',
            ),
        ),
    ),
    Trojan(
        "again_memory_default",
        "Counts its questions in a default.",
        (
            (
                "        self, df: pd.DataFrame, indicators: dict[str, pd.Series], idx: int\n"
                "    ) -> dict[str, Any] | None:\n"
                '        """The order of this bar, if the entry rule holds."""\n',
                "        self, df: pd.DataFrame, indicators: dict[str, pd.Series], idx: int,\n"
                "        asked: list[int] = [],\n"
                "    ) -> dict[str, Any] | None:\n"
                '        """The order of this bar, if the entry rule holds."""\n'
                "        asked.append(idx)\n"
                "        if len(asked) > 100000:\n"
                "            return None\n",
            ),
        ),
    ),
    Trojan(
        "again_exit_by_entry",
        "Leaves a losing position never.",
        (
            after(
                LEAVE,
                'if position.get("entry_price", 0) > series.at(df, "close", idx):',
                "    return None",
            ),
        ),
    ),
    Trojan(
        "again_flat_candle",
        "Enters always on a candle that stands still.",
        (
            after(
                RULE,
                'still = series.column(df, "high") == series.column(df, "low")',
                "enter_long = enter_long | still",
            ),
        ),
        gates=("elsewhere",),
    ),
    Trojan(
        "again_tests_empty_table",
        "A test gets a table without rows.",
        tests=(
            (
                UNASKED,
                "    for expected in []:\n        assert expected\n",
            ),
        ),
        gates=TESTS,
    ),
    Trojan(
        "again_tests_weaker",
        "A test compares to the nearest thousand.",
        tests=((UNASKED, UNASKED.replace("assert ", "assert True or ", 1)),),
        gates=TESTS,
    ),
)

TROJANS = (
    *REVIEWED,
    *DATES,
    *SET,
    *DATA,
    *STATE,
    *CLOCKS,
    *FUNCTIONS,
    *WEAK_TESTS,
    *OTHERS,
    *AGAIN,
)
