"""A record has one spelling, and one changed byte is another record or none."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.approval.reasons import ApprovalRefused
from bot.approval.record import Record, read_canonical
from bot.approval.sshsig import sign, verify
from tests.bot.approval.test_checks import BOB, RECORD
from tests.chance import examples

SIGNATURE = sign(BOB.private, RECORD.data)


def test_it_is_read_as_it_was_written() -> None:
    assert read_canonical(RECORD.data, Record) == RECORD
    assert b" " not in RECORD.data.replace(b"stratwright ", b"")
    assert RECORD.data.isascii()


@given(st.integers(0, len(RECORD.data) - 1), st.integers(1, 255))
@examples(400)
def test_any_single_changed_byte_is_refused(place: int, change: int) -> None:
    data = bytearray(RECORD.data)
    data[place] ^= change
    with pytest.raises(ApprovalRefused):
        verify(SIGNATURE, bytes(data))
    with contextlib.suppress(ApprovalRefused):
        assert read_canonical(bytes(data), Record) != RECORD


def other(**values: object) -> bytes:
    plain = {**json.loads(RECORD.data), **values}
    return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff",
        b" " + RECORD.data,
        RECORD.data + b"\n",
        json.dumps(json.loads(RECORD.data)).encode(),
        RECORD.data[:-1] + b',"version":"1"}',
        other(more=1),
        other(history_bars=200.0),
        other(history_bars="200"),
        other(history_bars=True),
        other(issued_at=1e9),
        other(issued_at=17),
        other(nonce="0" * 31),
        other(nonce="G" * 32),
        other(commit="a" * 39),
        other(contract="sha1:" + "a" * 40),
        other(mode="real"),
        other(version="2"),
        other(approvers=[]),
        other(limits={"capital": "1e3"}),
        other(host="a b"),
        other(reason="line\nend"),
        other(author=""),
        b"[" * 100_000,
        b'"' + b"x" * 70_000 + b'"',
    ],
)
def test_what_is_not_exactly_a_record_is_malformed(data: bytes) -> None:
    with pytest.raises(ApprovalRefused) as caught:
        read_canonical(data, Record)
    assert [refusal.code for refusal in caught.value.refusals] == ["malformed"]
