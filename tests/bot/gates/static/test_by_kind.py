"""How Python executes or patches through data: every way is tried; honest neighbours pass."""

import itertools
import time

import pytest

from bot.gates.static.static_check import check_bytes
from bot.gates.static.vocabulary import FileClass
from tests.bot.gates.static.snippets import HONEST, REFUSED

HEADER = """\
import logging
import numpy as np
import pandas as pd
from adapters.base_adapter import BaseAdapter
from collections import defaultdict, deque, namedtuple
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum
from functools import partial, wraps
from typing import NamedTuple, TypedDict

logger = logging.getLogger(__name__)


class Cover:
    count = 0
    disabled = False
    place_order = None
    rolling = None
    handlers = None

    def __init__(self, count=0):
        self.count = count

    def score(self, frame):
        self.seen = frame
        return frame


"""


def refused(text: str, file_class: FileClass) -> list[str]:
    found = check_bytes((HEADER + text + "\n").encode(), file_class)
    assert all(item.name != "checker" for item in found), "refused only by a crash"
    assert all(item.why and item.instead for item in found)
    assert all(item.line > HEADER.count("\n") for item in found), found
    return [f"{item.name}: {item.why}" for item in found]


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text.strip().splitlines()[-1][:60])
def test_refused(text: str) -> None:
    found = refused(text, "strategy")
    assert found, "nothing refused"
    assert any(REFUSED[text] in item for item in found), found


@pytest.mark.parametrize("text", HONEST, ids=lambda text: text.strip().splitlines()[-1][:60])
def test_honest(text: str) -> None:
    assert refused(text, HONEST[text]) == []


def test_what_the_clock_says_is_for_other_classes_of_files() -> None:
    text = "from datetime import datetime\n\n\ndef f():\n    return datetime.now()"
    assert refused(text, "strategy") == ["now: it reads the wall clock"]
    assert refused(text, "freqtrade") == []


def test_values_that_go_in_circles_are_answered_soon() -> None:
    names = [f"x{number}" for number in range(3000)]
    backwards = "\n".join(f"{a} = {b}" for a, b in itertools.pairwise(names))
    text = f"def f():\n    {names[-1]} = Cover()\n    " + backwards.replace("\n", "\n    ")
    start = time.process_time()
    assert check_bytes((HEADER + text).encode(), "strategy")
    assert time.process_time() - start < 10
