"""Every rule of `fixtures/rules/json.json`, for the reader in its three modes, the scanner and the snapshot."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, get_args

import pytest

from streamparse.errors import CODES
from streamparse.json import JSONError, Mode, read, snapshot
from streamparse.json.scan import Scanner

BOOK = json.loads((Path(__file__).parents[2] / "fixtures/rules/json.json").read_text(encoding="utf-8"))
GENERATED = {
    "n-5000-digits": b"[" + b"9" * 5000 + b"]",
    "d-128": b"[" * 128 + b"]" * 128,
    "d-129": b"[" * 129 + b"]" * 129,
    "d-100000-open": b"[" * 100_000,
    "d-obj-open": b'{"":' * 100_000,
}
MODES: tuple[Mode, ...] = get_args(Mode)
FAR_ENOUGH = 1000
"""Characters of a generated text that are cut everywhere; its end or fault lies before."""


def text_of(rule: dict[str, Any]) -> bytes:
    return GENERATED[rule["id"]] if rule["input_b64"] is None else base64.b64decode(rule["input_b64"])


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def expected_value(rule: dict[str, Any], mode: str) -> Any:
    return nested(128) if rule["id"] == "d-128" else rule[mode]["value"]


def rule_id(rule: dict[str, Any]) -> str:
    return str(rule["id"])


RULES = BOOK["rules"]
BRACKETED = [rule for rule in RULES if text_of(rule)[:1] in (b"{", b"[")]


def same(one: Any, other: Any) -> bool:
    """Equality that tells 1 from 1.0 and from True."""
    return repr(one) == repr(other)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rule", RULES, ids=rule_id)
def test_a_text_is_accepted_or_rejected_as_its_rule_says(rule: dict[str, Any], mode: Mode) -> None:
    expected = rule[mode]
    if expected["result"] == "accept":
        reading = read(text_of(rule), mode)
        assert same(reading.value, expected_value(rule, mode))
        assert list(reading.repairs) == expected.get("repairs", [])
        return
    with pytest.raises(JSONError) as caught:
        read(text_of(rule), mode)
    assert caught.value.code == expected["code"]
    assert caught.value.code in CODES
    if expected["offset"] is not None:
        assert caught.value.offset == expected["offset"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rule", RULES, ids=rule_id)
def test_text_and_its_utf8_bytes_read_alike(rule: dict[str, Any], mode: Mode) -> None:
    data = text_of(rule)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            data.decode()
        return
    assert outcome(text, mode) == outcome(data, mode)


def outcome(text: str | bytes, mode: Mode) -> tuple[object, ...]:
    try:
        reading = read(text, mode)
    except JSONError as error:
        return (error.code, error.offset)
    return (repr(reading.value), reading.repairs)


def scanned(pieces: list[str]) -> tuple[int, str | None, int, bool]:
    """Where the scanner stopped (-1: nowhere), counted from the first character, and its state."""
    scanner = Scanner()
    before = 0
    for piece in pieces:
        stop = scanner.scan(piece)
        if stop >= 0:
            return before + stop, scanner.error, scanner.depth, scanner.closed
        before += len(piece)
    return -1, scanner.error, scanner.depth, scanner.closed


@pytest.mark.parametrize("rule", BRACKETED, ids=rule_id)
def test_the_scanner_finds_the_same_end_at_every_cut(rule: dict[str, Any]) -> None:
    text = text_of(rule).decode(errors="replace")[:FAR_ENOUGH]
    whole = scanned([text])
    assert scanned(list(text)) == whole
    for cut in range(len(text) + 1):
        assert scanned([text[:cut], text[cut:]]) == whole


@pytest.mark.parametrize("rule", BRACKETED, ids=rule_id)
def test_what_the_scanner_found_reads_to_the_value_of_an_accepted_rule(rule: dict[str, Any]) -> None:
    text = text_of(rule).decode(errors="replace")
    end, error, depth, closed = scanned([text])
    accepting = [mode for mode in MODES if rule[mode]["result"] == "accept"]
    if accepting:
        assert (error, depth, closed) == (None, 0, True)
        assert same(read(text[:end], accepting[-1]).value, expected_value(rule, accepting[-1]))
    elif rule["heal"]["code"] == "json_truncated":
        assert (end, error, closed) == (-1, None, False)
    elif rule["heal"]["code"] == "json_trailing":
        assert (error, closed) == (None, True)
        assert end < len(text)
    elif rule["heal"]["code"] == "json_depth":
        assert (error, closed, depth) == ("json_depth", False, 128)
    else:
        assert error in {None, "json_syntax"}


@pytest.mark.parametrize("rule", BOOK["partial_rules"], ids=rule_id)
def test_a_snapshot_shows_what_no_further_text_can_change(rule: dict[str, Any]) -> None:
    text = base64.b64decode(rule["input_b64"]).decode()
    assert same(snapshot(text), rule["stable_snapshot"])


STRICT_ONLY_FAULTS = [
    (b'["\\ud800"]', "json_lone_surrogate", ["\ufffd"]),
    (b'{"\\udc00":0}', "json_lone_surrogate", {"\ufffd": 0}),
    (b'["\xc0\xaf"]', "utf8_invalid", ["\ufffd\ufffd"]),
    (b'["\xed\xa0\x80"]', "utf8_invalid", ["\ufffd\ufffd\ufffd"]),
    (b'["\xe4\xb8x"]', "utf8_invalid", ["\ufffdx"]),
    (b'["\xe9"]', "utf8_invalid", ["\ufffd"]),
    (b"\xef\xbb\xbf{}", "json_bom", {}),
]


@pytest.mark.parametrize(("text", "code", "value"), STRICT_ONLY_FAULTS)
def test_what_rfc_8259_leaves_open_is_refused_when_strict_and_repaired_when_lenient(
    text: bytes, code: str, value: object
) -> None:
    with pytest.raises(JSONError) as caught:
        read(text, "strict")
    assert caught.value.code == code
    assert read(text).value == value
    assert len(read(text).repairs) == 1


REFUSED_ALWAYS = [
    (b"[1e9999]", "json_non_finite"),
    (b"[-1e9999]", "json_non_finite"),
    (b"[0.4e006699999999999999999999999999999]", "json_non_finite"),
    (b"[" + b"9" * 400 + b".0]", "json_non_finite"),
    (b"[" * 500 + b"]" * 500, "json_depth"),
    ('["é"]'.encode("utf-16-be"), "json_syntax"),
    (b"[-Infinity", "json_non_finite"),
    (b"[NaNs]", "json_syntax"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("text", "code"), REFUSED_ALWAYS)
def test_what_rfc_8259_leaves_open_is_refused_where_it_has_no_one_reading(text: bytes, code: str, mode: Mode) -> None:
    with pytest.raises(JSONError) as caught:
        read(text, mode)
    assert caught.value.code == (code if mode != "strict" or b"\xe9" not in text else "utf8_invalid")


@pytest.mark.parametrize("character", "X\x0b\x0c\xa0\u2003\u200b")
@pytest.mark.parametrize("text", ['{"a":?1}', '?{"a":1}', '{?"a":1}', '{"a":1?}', '{"a"?:1}'])
def test_no_other_character_is_blank(character: str, text: str) -> None:
    with pytest.raises(JSONError) as caught:
        read(text.replace("?", character))
    assert caught.value.code == "json_syntax"
