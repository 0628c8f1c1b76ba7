"""Reading YAML and JSON strictly, with the place of every key and value."""

import time

import pytest

from bot.contract.document.source import MAX_BYTES, Form, Source, read_source


def read(text: str, form: Form = "yaml") -> Source:
    return read_source(text.encode(), form)


def flaws(data: bytes, form: Form = "yaml") -> list[tuple[int, int, str]]:
    source = read_source(data, form)
    return [(*source.line_and_column(flaw.index), flaw.message) for flaw in source.flaws]


def place(source: Source, *where: str | int, offset: int | None = None) -> tuple[int, int]:
    return source.line_and_column(source.locate(where, offset=offset))


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ("1_000", "1_000"),
        ("0o17", 15),
        ("0x1F", 31),
        ("017", 17),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("~", None),
        ("TRUE", True),
        ("NaN", "NaN"),
        ("'5'", "5"),
    ],
)
def test_plain_words_follow_the_core_schema_of_yaml_1_2(word: str, value: object) -> None:
    source = read(f"a: {word}\n")
    assert source.root == {"a": value}
    assert type(source.at(("a",))) is type(value)


def test_yaml_and_json_give_the_same_tree() -> None:
    yaml = read('a: {b: [1, 2.5, "x"], c: null}\nd: true\n')
    json = read('{"a": {"b": [1, 2.5, "x"], "c": null}, "d": true}', "json")
    assert yaml.root == json.root == {"a": {"b": [1, 2.5, "x"], "c": None}, "d": True}


def test_places_of_block_flow_and_quoted_values() -> None:
    source = read("a: 1\nmarket:\n  symbols: [BTC/USDT, 'ETH/USDT']\n  other: {x: 1,\n    y: 2}\n")
    assert place(source, "a") == (1, 4)
    assert place(source, "market", "symbols", 0) == (3, 13)
    assert place(source, "market", "symbols", 1) == (3, 23)
    assert place(source, "market", "other", "y") == (5, 8)
    key = source.locate(("market", "other", "y"), on_key=True)
    assert source.line_and_column(key) == (5, 5)


def test_places_in_json() -> None:
    source = read('{\n  "a": {"b":\n    [1, "x"]}\n}', "json")
    assert place(source, "a", "b", 1) == (3, 9)
    assert source.line_and_column(source.locate(("a", "b"), on_key=True)) == (2, 9)
    assert place(source, "a", "b", 1, offset=0) == (3, 10)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("r: rsi < foo\n", (1, 10)),
        ("r: 'rsi < foo'\n", (1, 11)),
        ('r: "rsi < foo"\n', (1, 11)),
        ("r: rsi\n  < foo\n", (2, 5)),
        ("r: |\n  rsi <\n  foo\n", (3, 3)),
        ("r: >-\n    rsi <\n    foo\n", (3, 5)),
        ("r: 'rsi\n   < foo'\n", (2, 6)),
        ("é: 1\r\nr: rsi < foo\r\n", (2, 10)),
    ],
)
def test_a_character_of_a_scalar_is_found_whatever_the_style(
    text: str, expected: tuple[int, int]
) -> None:
    source = read(text)
    value = source.at(("r",))
    assert isinstance(value, str)
    assert place(source, "r", offset=value.index("foo")) == expected


def test_escapes_fall_back_to_the_start_of_the_scalar() -> None:
    source = read('r: "rsi \\x3c foo"\n')
    assert place(source, "r", offset=6) == (1, 4)


def test_a_missing_key_is_placed_at_its_parent() -> None:
    source = read("a: 1\nrisk:\n  size: 2\n")
    assert place(source, "risk", "stop_loss") == (2, 1)


def test_a_duplicate_key_names_both_lines() -> None:
    expected = [(3, 1, 'duplicate key "a"; it was given on line 1')]
    assert flaws(b"a: 1\nb: 2\na: 3\n") == expected
    assert flaws(b'{"a": 1,\n"b": 2,\n"a": 3}', "json") == expected


def test_a_number_and_its_text_are_one_key() -> None:
    assert flaws(b"roi: {0: 1, '0': 2}\n") == [(1, 13, 'duplicate key "0"; it was given on line 1')]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: &x 1\n", "anchors"),
        (b"a: *x\n", "aliases"),
        (b"a: !!python/object/apply:os.system ['id']\n", "tags"),
        (b"a: !!str 1\n", "tags"),
        (b"<<: {a: 1}\n", "merge keys"),
        (b"a: .nan\n", "not a number"),
        (b"a: -.INF\n", "not a number"),
        (b"a: 1e999\n", "too large"),
        (b"a: 123456789012345678901234567890\n", "too large"),
        (b"a: " + b"9" * 5000 + b"\n", "too large"),
        (b"a: 1\n---\nb: 1\n", "second document"),
        (b"%TAG ! tag:x,2000:\n---\na: 1\n", "directives"),
        (b"[1]: 2\n", "a key is a word"),
        (b"true: 2\n", "not text"),
        (b"1.5: 2\n", "not text"),
        (b"null: 2\n", "not text"),
        (b"- a\n", "a mapping of keys"),
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"# only words\n", "says nothing"),
        (b"a: [1\n", "not readable as YAML"),
        (b"a:\n\tb: 1\n", "tabs"),
        (b"a: b: c\n", "quote text"),
        (b'a: "\\UFFFFFFFF"\n', "not readable as YAML"),
        (b"%YAML 1." + b"9" * 5000 + b"\n---\na: 1\n", "not readable as YAML"),
        (b"\xef\xbb\xbfa: 1\n", "byte order mark"),
        ("a: 1".encode("utf-16"), "UTF-16"),
        (b"a: 1\rb: 2\n", "control character"),
        (b"a: \x00\n", "U+0000"),
        (b"a: \x1b[31m\n", "control character"),
        ("a: \u202eevil\n".encode(), "RIGHT-TO-LEFT OVERRIDE"),
        ("a: x\u200by\n".encode(), "ZERO WIDTH SPACE"),
        ("a: \u3164\n".encode(), "invisible"),
        ("a: \u2028\n".encode(), "line separator"),
        ("a: \ue000\n".encode(), "private-use"),
        (b'a: "\\u202e"\n', "RIGHT-TO-LEFT OVERRIDE"),
        (b'"a\\u200b": 1\n', "ZERO WIDTH SPACE"),
        (b'a: "\\ud800"\n', "surrogate"),
    ],
)
def test_yaml_that_is_refused(data: bytes, message: str) -> None:
    assert any(message in text for _, _, text in flaws(data)), flaws(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": NaN}', "not a number"),
        (b'{"a": -Infinity}', "not a number"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": 123456789012345678901234567890}', "too large"),
        (b'{"a": 01}', 'found "01"'),
        (b'{"a": 1.}', 'found "1."'),
        (b'{"a": True}', 'found "True"'),
        (b"{'a': 1}", "a key in double quotes"),
        (b'{"a": 1,}', "a key in double quotes"),
        (b'{"a": 1', "the end of the file"),
        (b'{"a" 1}', 'expected ":"'),
        (b'{"a": "x\ny"}', "control character"),
        (b'{"a": "x', "unterminated string"),
        (b'{"a": 1} {"b": 2}', "one file holds one contract"),
        (b"// a comment\n{}", "expected a value"),
        (b"[]", "a mapping of keys"),
        (b"null", "says nothing"),
        (b'{"a": "\\u202e"}', "RIGHT-TO-LEFT OVERRIDE"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"a\\u0000": 1}', "U+0000"),
    ],
)
def test_json_that_is_refused(data: bytes, message: str) -> None:
    assert any(message in text for _, _, text in flaws(data, "json")), flaws(data, "json")


def test_invalid_utf_8_is_placed() -> None:
    assert flaws("é: 1\nb: ".encode() + b"\xff") == [
        (2, 4, "byte 0xff is not valid UTF-8; save the file as UTF-8")
    ]


def test_several_flaws_are_all_reported() -> None:
    found = flaws(b"a: .nan\nb: &x 1\na: 2\nc: *x\n")
    assert [line for line, _, _ in found] == [1, 2, 3, 4]


@pytest.mark.parametrize("form", ["yaml", "json"])
@pytest.mark.parametrize(
    "data",
    [
        b"[" * MAX_BYTES,
        b"{" * MAX_BYTES,
        b'{"a":' * (MAX_BYTES // 5),
        b"- " * (MAX_BYTES // 2),
        b"? " * (MAX_BYTES // 2),
        b'{"a":[' + b"1," * (MAX_BYTES // 2 - 10) + b"1]}",
        b"a: " + b"x " * (MAX_BYTES // 2 - 4),
        b"a: x\n" + b" x\n" * (MAX_BYTES // 3 - 4),
        b"".join(b"a%d: 1\n" % number for number in range(12_000)),
        b"a: 1\n" * (MAX_BYTES // 5),
        b"%a\n" * (MAX_BYTES // 3),
        b"# aaaaaaaaaaaaaaa\n" * (MAX_BYTES // 18),
        b'"' * MAX_BYTES,
        b" " * MAX_BYTES,
        b"x" * (MAX_BYTES + 1),
        "\u200b".encode() * (MAX_BYTES // 3),
    ],
)
def test_large_and_deep_files_are_answered_soon(data: bytes, form: Form) -> None:
    started = time.process_time()
    read_source(data, form)
    assert time.process_time() - started < 1


def test_a_billion_laughs_is_refused_at_its_anchors() -> None:
    lines = ["a0: &a0 [lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    found = flaws("\n".join(lines).encode())
    assert found[0] == (1, 5, "anchors (&a0) are not allowed")
    assert len(found) == 10 + 9 * 9
