"""What is refused, what is ignored and what is queued; signatures by an oracle of their own."""

import gzip
import hashlib
import json
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.forge.reasons import Ignored, Reason
from bot.server.deliveries import (
    MOST_BYTES,
    Delivery,
    Envelope,
    http_status,
    is_full_name,
    is_signed,
    read_delivery,
    read_headers,
    sign,
)
from tests.bot.server.service import SECRET
from tests.bot.workflow.hub import HOUSE, NAME, comment, form, issue, push

EXAMPLES = json.loads(
    gzip.decompress((HOUSE / "tests/fixtures/webhook_examples.json.gz").read_bytes())
)
GOOD = {
    "content-type": "application/json",
    "x-github-event": "push",
    "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    "x-hub-signature-256": "sha256=" + "0" * 64,
}


def hmac_by_hand(secret: bytes, body: bytes) -> str:
    """RFC 2104, written out."""
    key = (hashlib.sha256(secret).digest() if len(secret) > 64 else secret).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + body).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).hexdigest()


def reason_of(headers: dict[str, str]) -> Reason:
    found = read_headers(headers)
    assert isinstance(found, Ignored)
    return found.reason


def read(event: str, payload: Any) -> Delivery | Ignored:
    return read_delivery(Envelope("72d3162e", event, ""), json.dumps(payload).encode())


def test_the_signature_is_that_of_github_s_own_example() -> None:
    # From GitHub's documentation, "Validating webhook deliveries".
    wanted = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert sign(b"Hello, World!", b"It's a Secret to Everybody") == wanted


def test_openssl_signs_the_same() -> None:
    done = subprocess.run(
        ["openssl", "dgst", "-sha256", "-hmac", SECRET, "-r"],
        input=b'{"zen": "x"}',
        capture_output=True,
        check=True,
    )
    digest = done.stdout.split()[0].decode()
    assert is_signed(b'{"zen": "x"}', f"sha256={digest}", [SECRET.encode()])


@given(st.binary(max_size=300), st.binary(min_size=1, max_size=100))
def test_every_body_is_signed_as_the_standard_says(body: bytes, secret: bytes) -> None:
    assert sign(body, secret) == f"sha256={hmac_by_hand(secret, body)}"
    assert is_signed(body, f"sha256={hmac_by_hand(secret, body)}", [secret])


@given(st.binary(min_size=1, max_size=200), st.data())
def test_one_changed_bit_anywhere_is_refused(body: bytes, data: st.DataObject) -> None:
    secret = SECRET.encode()
    signature = sign(body, secret)
    at = data.draw(st.integers(0, len(body) * 8 - 1))
    changed = bytearray(body)
    changed[at // 8] ^= 1 << at % 8
    assert not is_signed(bytes(changed), signature, [secret])
    digit = data.draw(st.integers(7, len(signature) - 1))
    other = data.draw(st.sampled_from("0123456789abcdef").filter(lambda c: c != signature[digit]))
    assert not is_signed(body, signature[:digit] + other + signature[digit + 1 :], [secret])
    assert not is_signed(body, signature, [secret + b"x"])
    assert not is_signed(body, signature, [])


@given(st.text(max_size=100))
def test_no_other_text_is_a_signature(text: str) -> None:
    assert not is_signed(b"{}", text, [SECRET.encode()])


def test_an_old_and_a_new_secret_are_both_good() -> None:
    for secret in (b"old" * 8, b"new" * 8):
        assert is_signed(b"{}", sign(b"{}", secret), [b"old" * 8, b"new" * 8])


@pytest.mark.parametrize(
    ("header", "value", "reason"),
    [
        ("x-hub-signature-256", "", Reason.UNSIGNED),
        ("x-hub-signature-256", "sha1=" + "0" * 40, Reason.UNSIGNED),
        ("x-hub-signature-256", "sha256=" + "0" * 63, Reason.UNSIGNED),
        ("x-hub-signature-256", "sha256=" + "A" * 64, Reason.UNSIGNED),
        ("x-github-delivery", "", Reason.NO_HEADERS),
        ("x-github-delivery", "a b c d e f", Reason.NO_HEADERS),
        ("x-github-delivery", "x" * 65, Reason.NO_HEADERS),
        ("x-github-event", "", Reason.NO_HEADERS),
        ("x-github-event", "push\x00", Reason.NO_HEADERS),
        ("content-type", "", Reason.NOT_JSON),
        ("content-type", "application/x-www-form-urlencoded", Reason.NOT_JSON),
        ("content-type", "text/json", Reason.NOT_JSON),
        ("content-length", str(MOST_BYTES + 1), Reason.TOO_LARGE),
        ("content-length", "9" * 5000, Reason.TOO_LARGE),
    ],
)
def test_a_request_with_wrong_headers_is_refused(header: str, value: str, reason: Reason) -> None:
    assert reason_of({**GOOD, header: value}) is reason
    assert http_status(reason) >= 400


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
def test_json_is_json(kind: str) -> None:
    assert isinstance(read_headers({**GOOD, "content-type": kind}), Envelope)


@given(st.dictionaries(st.sampled_from(sorted(GOOD)), st.text(max_size=80)))
def test_no_headers_break_the_reader(headers: dict[str, str]) -> None:
    assert isinstance(read_headers({**GOOD, **headers}), Envelope | Ignored)


@given(st.sampled_from(["push", "issues", "issue_comment", "workflow_dispatch"]), st.binary())
def test_no_bytes_break_the_reader(event: str, body: bytes) -> None:
    found = read_delivery(Envelope("72d3162e", event, ""), body)
    assert isinstance(found, Ignored)
    assert (found.reason, http_status(found.reason)) == (Reason.MALFORMED, 400)


def test_every_real_payload_is_queued_or_politely_ignored() -> None:
    queued = 0
    for kind in EXAMPLES:
        for payload in kind["examples"]:
            found = read(kind["name"], payload)
            if isinstance(found, Delivery):
                queued += 1
                assert found.repository == payload["repository"]["full_name"]
            else:
                assert http_status(found.reason) == 200, (kind["name"], found)
    assert queued > 0


def test_orders_are_queued_with_their_installation() -> None:
    found = read("push", {**push("a" * 40, "b" * 40), "installation": {"id": 7}})
    assert isinstance(found, Delivery)
    assert (found.repository, found.installation) == (NAME, 7)
    assert isinstance(read("issue_comment", comment(1, "/stratwright retry")), Delivery)


def test_which_label_counts_is_left_to_the_repository() -> None:
    payload = issue(1, form())
    payload["issue"]["labels"] = [{"name": "their-own"}]
    found = read("issues", payload)
    assert isinstance(found, Delivery)
    assert found.installation == 0


@pytest.mark.parametrize("number", [None, "7", -1, 1.5, True, [], {}])
def test_an_installation_that_is_no_number_is_none(number: object) -> None:
    found = read("push", {**push("a" * 40, "b" * 40), "installation": {"id": number}})
    assert isinstance(found, Delivery)
    assert found.installation == 0


@pytest.mark.parametrize(
    "name", ["", "a", "a/b/c", "../b", "a/..", "./b", "a/.", "a/b\n", "a /b", "/b", "a/", "é/b"]
)
def test_a_name_that_is_no_repository_s_is_refused(name: str) -> None:
    assert not is_full_name(name)


def test_codes_are_documented() -> None:
    text = (HOUSE / "docs/github.md").read_text()
    assert [reason for reason in Reason if f"`{reason.value}`" not in text] == []
    assert all(str(Ignored(reason)) for reason in Reason)
