"""A Freqtrade file reads of the host's settings what trading needs, and no keys."""
# ruff: noqa: E501

import pytest

from bot.gates.static.static_check import check_bytes

HEAD = """\
import copy
import logging
from freqtrade.strategy import IStrategy
logger = logging.getLogger(__name__)


class S(IStrategy):
    timeframe = "5m"

"""
KEYS = (
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.config["exchange"]["secret"]\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.config.get("exchange", {}).get("key")\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.config["telegram"]["token"]\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.config["api_server"]["jwt_secret_key"]\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.config["db_url"]\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        c = self.config\n        x = c["exchange"]["secret"]\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.config["exchange"]\n        return dataframe\n',
    "    def populate_indicators(self, dataframe, metadata):\n        x = copy.deepcopy(self.config)\n        return dataframe\n",
    "    def populate_indicators(self, dataframe, metadata):\n        x = dict(self.config)\n        return dataframe\n",
    "    def populate_indicators(self, dataframe, metadata):\n        x = {**self.config}\n        return dataframe\n",
    "    def populate_indicators(self, dataframe, metadata):\n        print(self.config)\n        return dataframe\n",
    '    def populate_indicators(self, dataframe, metadata):\n        logger.info("%s", self.config)\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        self.dp.send_msg(f"{self.config}")\n        return dataframe\n',
    "    def populate_indicators(self, dataframe, metadata):\n        for k, v in self.config.items():\n            pass\n        return dataframe\n",
    "    def populate_indicators(self, dataframe, metadata):\n        for k in self.config:\n            pass\n        return dataframe\n",
    '    def populate_indicators(self, dataframe, metadata):\n        k = "exchange"\n        x = self.config[k]\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = getattr(self, "config")["exchange"]\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        self.config["stake_amount"] = 1e9\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        self.config["exchange"]["pair_whitelist"] = []\n        return dataframe\n',
    "    def populate_indicators(self, dataframe, metadata):\n        self.config.update(stake_amount=1)\n        return dataframe\n",
    "    def populate_indicators(self, dataframe, metadata):\n        return f(self.config)\n",
    "    def populate_indicators(self, dataframe, metadata):\n        return self.config\n",
    "    def populate_indicators(self, dataframe, metadata):\n        match self:\n            case S(config=c):\n                return c\n",
    '    def __init__(self, config):\n        super().__init__(config)\n        self.k = config["exchange"]["key"]\n',
    "    def __init__(self, config):\n        super().__init__(config)\n        self.k = config\n",
    '    def __init__(self, *args):\n        super().__init__(*args)\n        self.k = args[0]["exchange"]["key"]\n',
    '    def __init__(self, **kw):\n        super().__init__(**kw)\n        self.k = kw["config"]["exchange"]["key"]\n',
    '    def __init__(self, config):\n        super().__init__(config)\n        def g():\n            return config["exchange"]["key"]\n        self.k = g()\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.freqai.config["exchange"]["secret"]\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        for s in [self]:\n            x = s.config["exchange"]["secret"]\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        me = self\n        x = me.config["exchange"]["secret"]\n        return dataframe\n',
    "    def populate_indicators(self, dataframe, metadata):\n        x = (lambda s: s.config)(self)\n        return dataframe\n",
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.config.pop("exchange")\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.config.setdefault("exchange", {})\n        return dataframe\n',
    "    def populate_indicators(self, dataframe, metadata):\n        x = list(self.config.values())\n        return dataframe\n",
    "    def populate_indicators(self, dataframe, metadata):\n        x = str(self.config)\n        return dataframe\n",
    "    def populate_indicators(self, dataframe, metadata):\n        if (c := self.config):\n            pass\n        return dataframe\n",
    '    def populate_indicators(self, dataframe, metadata):\n        g = self.config.get\n        x = g("exchange")\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = (self.config or {})["exchange"]\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.config["original_config"]["exchange"]["secret"]\n        return dataframe\n',
    "    def populate_indicators(self, dataframe, metadata):\n        return dataframe\n\n\nclass M:\n    def look(self):\n        return self.config['exchange']['secret']\n\n\nclass T(M, S):\n    pass\n",
    "    def populate_indicators(self, dataframe, metadata):\n        return dataframe\n\n\nclass T(S):\n    def look(self):\n        return self.config['exchange']['secret']\n",
    "    def populate_indicators(self, dataframe, metadata):\n        return look(self)\n\n\ndef look(s):\n    return s.config['exchange']['secret']\n",
)
OTHER_WAYS = (
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.dp._config["exchange"]\n        return dataframe\n',
    "    def populate_indicators(self, dataframe, metadata):\n        x = self.wallets._config\n        return dataframe\n",
    "    def populate_indicators(self, dataframe, metadata):\n        x = self.dp._exchange\n        return dataframe\n",
    '    def populate_indicators(self, dataframe, metadata):\n        x = vars(self)["config"]\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.__dict__["config"]\n        return dataframe\n',
)
HONEST = (
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.config["stake_currency"].lower()\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        if self.config["runmode"].value in ("live", "dry_run"):\n            pass\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.config.get("max_open_trades", 3)\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.config["exchange"]["pair_whitelist"]\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = self.config.get("exchange", {}).get("name")\n        return dataframe\n',
    '    def populate_indicators(self, dataframe, metadata):\n        x = "freqai" in self.config\n        return dataframe\n',
    '    def __init__(self, config: dict):\n        super().__init__(config)\n        self.config = config\n        self.tf = config["timeframe"]\n',
    "    def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)\n        self.tf = 1\n",
    "    def populate_indicators(self, dataframe, metadata):\n        return dataframe\n\n\nclass Box:\n    def __init__(self, config):\n        self.config = config\n\n    def look(self):\n        return self.config\n",
    '    def populate_indicators(self, dataframe, metadata):\n        self.dp.send_msg("entering")\n        return dataframe\n',
)


@pytest.mark.parametrize("body", KEYS, ids=range(len(KEYS)))
def test_settings_with_keys_are_neither_read_nor_given_away(body: str) -> None:
    found = check_bytes((HEAD + body).encode(), "freqtrade")
    assert any("the exchange's keys" in item.why for item in found), body


@pytest.mark.parametrize("body", OTHER_WAYS, ids=range(len(OTHER_WAYS)))
def test_other_ways_to_them_are_closed(body: str) -> None:
    assert check_bytes((HEAD + body).encode(), "freqtrade"), body


@pytest.mark.parametrize("body", HONEST, ids=range(len(HONEST)))
def test_what_trading_needs_is_read(body: str) -> None:
    assert check_bytes((HEAD + body).encode(), "freqtrade") == ()
