"""The catalogue of faults, `fixtures/faults/faults.toml`: each is injected here, or names the test that proves it."""

from __future__ import annotations

import ast
import base64
import gzip
import re
import tomllib
import zlib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, calls_of, events_of, in_pieces, merged, text_of
from fixture_streams import NAMES, make_parser, read_body, read_golden

import streamparse as sp

ROOT = Path(__file__).parents[2]
FAULTS: dict[str, dict[str, Any]] = {
    fault["id"]: fault
    for fault in tomllib.loads((ROOT / "fixtures" / "faults" / "faults.toml").read_text(encoding="utf-8"))["fault"]
}
CASES = [
    pytest.param(case, id=f"{id}-{number}")
    for id, fault in FAULTS.items()
    for number, case in enumerate(fault.get("case", []))
]
BODY = ("wire", "frames", "lines", "body", "hex")
ABOUT = ("errors", "text", "refusal", "calls", "ids", "broken", "revoked", "finish", "ok", "says", "ignored")


# -- the cases: a body, and everything that must come of it ------------------------------------------------------


def _body(case: dict[str, Any]) -> bytes:
    if "hex" in case:
        return bytes.fromhex(case["hex"])
    text = case.get("body") or "".join(f"data: {data}\n\n" for data in case.get("frames", []))
    text = text or "".join(f"{line}\n" for line in case.get("lines", []))
    return re.sub("⟪(.+?)×([0-9]+)⟫", lambda match: match[1] * int(match[2]), text).encode()


def _facts(events: list[sp.Event], parser: sp.StreamParser) -> dict[str, Any]:
    done = events[-1]
    assert isinstance(done, sp.Done)
    errors = [event for event in events if isinstance(event, sp.Error)]
    return {
        "errors": [f"{error.scope} {error.code}" for error in errors],
        "text": text_of(events),
        "refusal": parser.response.refusal,
        "calls": [name for name, _ in calls_of(events)],
        "ids": [event.id for event in events if isinstance(event, sp.ToolCallComplete)],
        "broken": [call.name for call in parser.response.broken_calls],
        "revoked": sum(isinstance(event, sp.ToolCallRevoked) for event in events),
        "finish": done.finish_reason,
        "ok": done.ok,
        "says": errors[0].message if errors else "",
        "ignored": parser.stats.ignored_frames,
    }


@pytest.mark.parametrize("case", CASES)
def test_a_fault_gives_what_the_catalogue_says_in_every_cut(case: dict[str, Any]) -> None:
    assert set(case) <= {*BODY, *ABOUT}
    body = _body(case)
    events = assert_same_in_every_cut(lambda: sp.StreamParser(case["wire"]), body, most=30)
    _assert_lawful(events)
    parser = sp.StreamParser(case["wire"])
    events_of(parser, [body])
    found = _facts(events, parser)
    expected = {"errors": [], "text": "", "refusal": "", "calls": [], "broken": [], "revoked": 0, "finish": None} | case
    assert {about: found[about] for about in found if about in expected} == {
        about: expected[about] for about in found if about in expected
    }


def _assert_lawful(events: list[sp.Event]) -> None:
    """Every start has exactly one end, and `Done` comes once and last."""
    started = [event.index for event in events if isinstance(event, sp.ToolCallStart)]
    ended = [event.index for event in events if isinstance(event, sp.ToolCallComplete)]
    given_up = [event.index for event in events if isinstance(event, sp.Error) and event.scope == "call"]
    assert sorted(started) == sorted([*ended, *given_up])
    assert [event for event in events if isinstance(event, sp.Done)] == events[-1:]


# -- the damage that is done to every good stream ------------------------------------------------------------------

_ENDED = re.compile(
    rb'"(?:finish_reason|stop_reason|completionReason|finishReason|stopReason|done_reason|status)": ?"?[\w\d]'
    rb'|\[DONE\]|"done": ?true'
    rb"|message[_-](?:stop|end)|response\.(?:completed|incomplete|done)|interaction"
)
"""What a server may end its turn with."""
_WRAPPED = re.compile(rb'"bytes": ?"([A-Za-z0-9+/=]+)"')
"""What Bedrock's `invoke` wraps, in base64."""


@cache
def _read_good() -> dict[str, bytes]:
    """The streams that end well and have no error, by name."""
    return {name: read_body(name) for name in NAMES if _is_good(read_golden(name))}


def _is_good(golden: list[dict[str, Any]]) -> bool:
    return bool(golden[-1]["ok"]) and not any(event["type"] == "error" for event in golden)


def _offsets(body: bytes) -> Iterable[int]:
    step = max(1, len(body) // 12)
    return range(len(body) % step, len(body) + 1, step)


def _told(events: list[sp.Event]) -> list[sp.Event]:
    """What was told, apart from where and how the stream ended."""
    return merged(event for event in events if not isinstance(event, (sp.Error, sp.Done)))


def _assert_prefix(name: str, part: bytes, events: list[sp.Event], code: str) -> None:
    """A beginning of a stream tells no other calls than the whole, and never passes for one that ended."""
    whole = events_of(make_parser(name), [_read_good()[name]])
    calls = calls_of(events)
    _assert_lawful(events)
    assert calls == calls_of(whole)[: len(calls)]
    done = events[-1]
    assert isinstance(done, sp.Done)
    if not _ENDED.search(_WRAPPED.sub(lambda match: base64.b64decode(match[1]), part)):
        assert not done.ok
        codes = [event.code for event in events if isinstance(event, sp.Error) and event.scope == "stream"]
        assert code in codes or codes in (["empty_body"], ["not_a_stream"]), codes


def _cut(name: str) -> None:
    for offset in _offsets(_read_good()[name]):
        part = _read_good()[name][:offset]
        _assert_prefix(name, part, events_of(make_parser(name), [part]), "stream_truncated")


def _broken_off(name: str) -> None:
    for offset in _offsets(_read_good()[name]):
        parser = make_parser(name)
        part = _read_good()[name][:offset]
        events = [*parser.feed(part), *parser.abort("transport_error", "the peer is gone")]
        _assert_prefix(name, part, events, "transport_error")
        assert not parser.response.ok
        assert "transport_error" in [error.code for error in parser.response.errors]


def _half_of_gzip(name: str) -> None:
    packed = gzip.compress(_read_good()[name], mtime=0)
    unpacker = zlib.decompressobj(wbits=31)
    part = unpacker.decompress(packed[: len(packed) // 2])
    assert len(part) < len(_read_good()[name])
    _assert_prefix(name, part, events_of(make_parser(name), [part]), "stream_truncated")


def _bad_gzip(name: str) -> None:
    packed = bytearray(gzip.compress(_read_good()[name], mtime=0))
    packed[-6] ^= 1  # in the checksum
    parser = make_parser(name)
    events: list[sp.Event] = []
    try:
        unpacker = zlib.decompressobj(wbits=31)
        for piece in in_pieces(bytes(packed), 64):
            events += parser.feed(unpacker.decompress(piece))
    except zlib.error as error:
        events += parser.abort("transport_error", str(error))
    _assert_lawful(events)
    assert not parser.response.ok
    assert "transport_error" in [error.code for error in parser.response.errors]


def _assert_unchanged(name: str, pieces: Iterable[bytes]) -> None:
    assert _told(events_of(make_parser(name), pieces)) == _told(events_of(make_parser(name), [_read_good()[name]]))


def _slowly(name: str) -> None:
    _assert_unchanged(name, in_pieces(_read_good()[name], 1))


def _at_once(name: str) -> None:
    _assert_unchanged(name, in_pieces(_read_good()[name], 100))


def _between_nothing(name: str) -> None:
    _assert_unchanged(name, [part for byte in in_pieces(_read_good()[name], 1) for part in (b"", byte, b"")])


def _is_events(body: bytes) -> bool:
    return body.lstrip(b"\xef\xbb\xbf\r\n ").startswith((b"data", b"event", b":", b"id", b"retry"))


def _among_comments(name: str) -> None:
    if _is_events(_read_good()[name]) and b"\r" not in _read_good()[name]:
        lines = _read_good()[name].splitlines(keepends=True)
        _assert_unchanged(name, [b"".join(line if line[-1:] != b"\n" else line + b": ping\n" for line in lines)])


def _with_mixed_line_ends(name: str) -> None:
    if _is_events(_read_good()[name]) and b"\r" not in _read_good()[name]:
        ends = (b"\n", b"\r", b"\r\n")  # never a CR before a bare LF: those two are one end
        lines = _read_good()[name].split(b"\n")
        body = b"".join(line + ends[number % 3] for number, line in enumerate(lines[:-1])) + lines[-1]
        _assert_unchanged(name, [body])
        _assert_unchanged(name, in_pieces(body, 1))


DAMAGE: dict[str, Callable[[str], None]] = {
    "cut": _cut,
    "broken off": _broken_off,
    "half of gzip": _half_of_gzip,
    "bad gzip": _bad_gzip,
    "slowly": _slowly,
    "at once": _at_once,
    "between nothing": _between_nothing,
    "among comments": _among_comments,
    "with mixed line ends": _with_mixed_line_ends,
}


@pytest.mark.parametrize("id", [id for id, fault in FAULTS.items() if "everywhere" in fault])
def test_a_fault_anywhere_in_any_good_stream_gives_what_the_catalogue_says(id: str) -> None:
    assert len(_read_good()) > 100
    for name in _read_good():
        DAMAGE[FAULTS[id]["everywhere"]](name)


# -- nothing is passed over ------------------------------------------------------------------------------------------


def test_every_fault_is_injected_or_names_its_proof() -> None:
    assert len(FAULTS) == 76
    assert not [id for id, fault in FAULTS.items() if not {"case", "everywhere", "elsewhere"} & set(fault)]
    assert {fault["everywhere"] for fault in FAULTS.values() if "everywhere" in fault} == set(DAMAGE)


@pytest.mark.parametrize("proof", sorted({proof for fault in FAULTS.values() for proof in fault.get("elsewhere", [])}))
def test_the_proof_that_a_fault_names_is_a_test(proof: str) -> None:
    path, _, name = proof.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
