"""No content makes the checker raise; what it says is precise."""

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from bot.gates.static.static_check import OFFENCE_LIMIT, check_bytes
from bot.gates.static.vocabulary import FILE_CLASSES, FileClass
from tests.chance import examples

BENIGN = sorted((Path(__file__).parents[3] / "security" / "benign").glob("*.py.txt"))
SOURCES = [path.read_bytes() for path in BENIGN]
STEADY = examples(150, suppress_health_check=[HealthCheck.too_slow])
PIECES = [
    b"self",
    b".",
    b"(",
    b")",
    b"__class__",
    b"import os\n",
    b"\n",
    b"    ",
    b"lambda x: ",
    b"[",
    b"]",
]
PIECES += [
    b"match x:\n    case object(a=b): pass\n",
    b"global x\n",
    b"nonlocal x\n",
    b"del self\n",
    b"*",
    b"@",
]
PIECES += [
    b"class A(A): pass\n",
    b"{",
    b"}",
    b"'",
    b'"""',
    b"\\",
    b"\xff",
    b"\xe2\x80\xae",
    b"async ",
    b"await ",
]


@STEADY
@given(content=st.binary(max_size=400), file_class=st.sampled_from(FILE_CLASSES))
def test_random_bytes_never_raise(content: bytes, file_class: FileClass) -> None:
    for offence in check_bytes(content, file_class):
        assert offence.why
        assert offence.instead


@STEADY
@given(text=st.text(max_size=300), file_class=st.sampled_from(FILE_CLASSES))
def test_random_text_never_raises(text: str, file_class: FileClass) -> None:
    assert isinstance(check_bytes(text.encode("utf-8", "surrogatepass"), file_class), tuple)


@STEADY
@given(
    source=st.sampled_from(SOURCES),
    cuts=st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 12), st.sampled_from(PIECES)),
        min_size=1,
        max_size=6,
    ),
    file_class=st.sampled_from(FILE_CLASSES),
)
def test_mutated_sources_never_crash_the_checker(
    source: bytes, cuts: list[tuple[float, int, bytes]], file_class: FileClass
) -> None:
    for place, length, piece in cuts:
        at = int(place * len(source))
        source = source[:at] + piece + source[at + length :]
    assert all(offence.name != "checker" for offence in check_bytes(source, file_class))


def test_every_offence_is_reported_with_its_place() -> None:
    source = b"import os\nimport pandas as pd\n\nx = pd.DataFrame().to_csv('a')\neval('1')\n"
    found = check_bytes(source, "strategy")
    assert [(item.line, item.column, item.name) for item in found] == [
        (1, 1, "os"),
        (4, 20, "to_csv"),
        (5, 1, "eval"),
    ]


def test_many_offences_are_capped() -> None:
    source = b"eval('1')\n" * (OFFENCE_LIMIT + 20)
    assert len(check_bytes(source, "strategy")) == OFFENCE_LIMIT


@pytest.mark.parametrize(
    ("line", "file_class", "passes"),
    [
        (b"import pytest", "test", True),
        (b"import pytest", "strategy", False),
        (b"from pathlib import Path", "module", True),
        (b"from pathlib import Path", "strategy", False),
        (b"from freqtrade.strategy import IStrategy", "freqtrade", True),
        (b"from freqtrade.strategy import IStrategy", "strategy", False),
        (b"from adapters.strategy_cli import broker_settings", "strategy", False),
        (b"import numpy.random as chance", "strategy", True),
        (b"import numpy.random", "strategy", False),
        (b"from numpy import random", "strategy", True),
        (b"from __future__ import annotations", "strategy", True),
    ],
)
def test_modules_belong_to_classes_of_files(
    line: bytes, file_class: FileClass, passes: bool
) -> None:
    assert (check_bytes(line + b"\n", file_class) == ()) is passes


@pytest.mark.parametrize(
    "expression",
    [
        'df["open"]',
        "df.open",
        "df.groupby('a')['b'].transform('max')",
        "df.resample('1D').agg({'a': 'first', 'b': ['min', 'max']})",
        "df.apply(np.mean)",
        "df.pivot_table(index='a', values='b', aggfunc='sum')",
        "df.to_string()",
        "'{:.2f}'.format(1.0)",
        "f'{df.close.iloc[-1]:.2f}'",
        "type(df).__name__",
        "np.random.default_rng(7).normal(size=3)",
        "pd.offsets.MonthEnd(1)",
        "df.to_numpy().view('f8')",
        "isinstance(df, (np.ndarray, pd.Series))",
    ],
)
def test_ordinary_expressions_pass(expression: str) -> None:
    source = f"import numpy as np\nimport pandas as pd\n\n\ndef run(df):\n    return {expression}\n"
    assert check_bytes(source.encode(), "strategy") == ()


@pytest.mark.parametrize("class_name", FILE_CLASSES)
def test_an_empty_file_has_nothing_to_refuse(class_name: FileClass) -> None:
    assert check_bytes(b"", class_name) == ()


LARGE = {
    "own methods": b"class A:\n    def to_csv(self):\n        pass\n    def g(self):\n"
    + b"        self.to_csv()\n" * 15000,
    "own functions": b"class A:\n    def m(self):\n        pass\n    def g(self, x):\n"
    + b"        x.apply(self.m)\n" * 12000,
    "one name": b"x = type(1)\n" * 15000,
    "attributes": b"\n".join(b"f'a%d_{1}'" % i for i in range(12000))
    + b"\nx = 1\n"
    + b"\n".join(b"x.zz%d" % i for i in range(8000)),
    "modules": b"import numpy as np\n" + b"\n".join(b"np.xx%d" % i for i in range(25000)),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_file_is_answered_soon(name: str) -> None:
    start = time.process_time()
    check_bytes(LARGE[name], "strategy")
    assert time.process_time() - start < 15


def test_patch_object_may_only_be_called() -> None:
    head = b"def test_a(mocker, thing):\n    "
    assert check_bytes(head + b'mocker.patch.object(thing, "name", 1)\n', "test") == ()
    [found] = check_bytes(head + b'list(map(mocker.patch.object, "name"))\n', "test")
    assert "found by a text" in found.why
