"""Lawful lists of events, and what of them must survive being emitted and read again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from cuts import events_of, merged
from hypothesis import strategies as st

import streamparse as sp
from streamparse.emitting.outcome import find_ending
from streamparse.finish_reasons import find_full_reason
from streamparse.providers.emitters import EMITTERS

__all__ = ["Told", "answers", "emitted", "read_again", "told", "until_failure"]

NAMES = ("get_weather", "search", "now", "ünï")


class Told(NamedTuple):
    """What a client learns, whatever its wire."""

    flow: list[tuple[str, str]]
    """Text and thought in their order."""
    started: list[str]
    calls: list[tuple[str, str, dict[str, Any]]]
    broken: set[str]
    meaning: str


def until_failure(events: Iterable[sp.Event]) -> list[sp.Event]:
    """The events up to the first error of the stream, which ends what a client is told."""
    kept: list[sp.Event] = []
    for event in events:
        kept.append(event)
        if isinstance(event, sp.Error) and event.scope == "stream":
            return kept
    return kept


def emitted(wire: str, events: Iterable[sp.Event]) -> bytes:
    """The stream that the events become."""
    emitter = EMITTERS[wire](model="m", id="i", created=0)
    return b"".join([emitter.emit(event) for event in events])


def read_again(wire: str, body: bytes) -> list[sp.Event]:
    """The events of a stream in which no text is looked into."""
    return events_of(sp.StreamParser(wire, dialects=()), [body])


def told(events: Iterable[sp.Event], *, starts: bool = True, refusals: bool = True) -> Told:
    """Sum up a list of events; without `starts` calls are whole, without `refusals` they are text.

    With them, Anthropic's explanation of a refusal without words is one.
    """
    explanation, details = "", None
    flow: list[sp.Event] = []
    calls: dict[int, sp.ToolCallComplete] = {}
    ids: dict[int, str] = {}
    broken: set[str] = set()
    failed, refused, revoked, meaning = False, False, False, "error"
    for event in events:
        match event:
            case sp.RefusalDelta(text=text):
                refused = True
                flow.append(event if refusals else sp.TextDelta(text))
            case sp.TextDelta() | sp.ReasoningDelta():
                flow.append(event)
            case sp.ToolCallStart(index=index, id=id):
                ids[index] = f"{id}_{index}" if id in ids.values() else id
            case sp.ToolCallComplete(index=index):
                calls[index] = event
            case sp.ProviderItem(kind="stop_details", data={"explanation": str(words)}):
                explanation = words
            case sp.ProviderItem(kind="incomplete_details"):
                details = event.data
            case sp.ToolCallRevoked():
                revoked = True
            case sp.Error(scope="call", code="duplicate_call", index=int(index)):
                del ids[index]
            case sp.Error(scope="call", index=int(index)):
                broken.add(ids[index])
            case sp.Error(scope="stream"):
                failed = True
            case sp.Done(finish_reason=reason, ok=ok):
                standing = bool(calls) and not revoked
                word = find_full_reason(reason, details)
                meaning = find_ending(word, ok=ok, called=standing, broken=bool(broken), refused=refused)
    if failed:
        meaning = "error"
    if meaning == "content_filter" and refusals and not refused and explanation:
        flow.append(sp.RefusalDelta(explanation))
    whole = [(ids[index], call.name, call.arguments) for index, call in calls.items()]
    shown = [(type(event).__name__, getattr(event, "text", "")) for event in merged(flow)]
    started = sorted(ids.values()) if starts else []  # calls that overlap may leave in another order
    return Told(shown, started, sorted(whole, key=lambda call: call[0]), broken if starts else set(), meaning)


# -- lawful lists of events ---------------------------------------------------------------------------------

_texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) | st.sampled_from(
    ["data: [DONE]", "\n\n", "event: error", "\u2028", "\x00", "<tool_call>", "🎉", '"}\\']
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=6,
)
_arguments = st.dictionaries(_texts, _values, max_size=3)
_items = st.sampled_from(
    [
        sp.ProviderItem("annotations", [{"url": "x"}]),
        sp.ProviderItem("stop_details", {"a": 1}),
        sp.ProviderItem("stop_details", {"type": "refusal", "category": None, "explanation": "No."}),
        sp.ProviderItem("web_search_call", {"type": "web_search_call"}),
    ]
)


@st.composite
def _call(draw: st.DrawFn, index: int) -> list[sp.Event]:
    """One call's life: complete as it came, read after a repair, or broken."""
    arguments = draw(_arguments)
    id, name = f"call_{index}", draw(st.sampled_from(NAMES))
    raw = json.dumps(arguments, ensure_ascii=draw(st.booleans()))
    fate = draw(st.integers(0, 4))
    if fate == 3:
        raw = draw(st.sampled_from([raw[:-1] + ",}", json.dumps(raw), raw + "}", repr(arguments), raw[:-1]]))
    cuts = sorted(draw(st.lists(st.integers(0, len(raw)), max_size=4)))
    pieces = [raw[start:end] for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    end: sp.Event
    if fate == 4:
        kept = draw(st.integers(0, len(pieces)))
        pieces = pieces[:kept]
        code = draw(st.sampled_from(["truncated_call", "invalid_arguments", "malformed_call"]))
        end = sp.Error("call", code, "broken", index)
    else:
        source = "repaired" if fate == 3 else draw(st.sampled_from(["native", "inband"]))
        end = sp.ToolCallComplete(index, id, name, arguments, source, raw)
    deltas: list[sp.Event] = [sp.ToolCallDelta(index, piece) for piece in pieces if piece]
    return [sp.ToolCallStart(index, id, name), *deltas, end]


@st.composite
def answers(draw: st.DrawFn) -> list[sp.Event]:
    """The events of one answer, its calls and texts interleaved."""
    calls = [draw(_call(index)) for index in range(draw(st.integers(0, 3)))]
    events: list[sp.Event] = []
    begun = 0
    while begun < len(calls) or any(calls[:begun]):
        what = draw(st.integers(0, 7))
        if what < 3:
            events.append(draw(_others))
        elif what == 3 and begun < len(calls):
            events.append(calls[begun].pop(0))
            begun += 1
        elif open_calls := [call for call in calls[:begun] if call]:
            events.append(draw(st.sampled_from(open_calls)).pop(0))
    events += draw(st.lists(_others, max_size=3))
    if spelled := [call for call in _complete(events) if call.source != "repaired"]:
        events += draw(st.just([]) | _double(draw(st.sampled_from(spelled)), len(calls)))
    *errors, done = draw(_ends)
    return [*events, *errors, *_taken_back([*events, *errors], done), _judged(events, done)]


@st.composite
def _double(draw: st.DrawFn, call: sp.ToolCallComplete, index: int) -> list[sp.Event]:
    """The same call again, in another spelling, which is found out at its end."""
    spaces = draw(st.sampled_from([(", ", ": "), (",", ":"), (" ,\n", " :\t")]))
    raw = json.dumps(call.arguments, ensure_ascii=draw(st.booleans()), separators=spaces)
    cut = draw(st.integers(0, len(raw)))
    deltas: list[sp.Event] = [sp.ToolCallDelta(index, piece) for piece in (raw[:cut], raw[cut:]) if piece]
    error = sp.Error("call", "duplicate_call", "twice", index)
    return [sp.ToolCallStart(index, f"call_{index}", call.name), *deltas, error]


def _complete(events: list[sp.Event]) -> list[sp.ToolCallComplete]:
    return [event for event in events if isinstance(event, sp.ToolCallComplete)]


def _refused(events: list[sp.Event]) -> bool:
    return any(isinstance(event, sp.RefusalDelta) for event in events)


def _taken_back(events: list[sp.Event], done: sp.Done) -> list[sp.Event]:
    """No call of a turn that was refused or failed stands."""
    truncated = any(isinstance(event, sp.Error) and event.code == "stream_truncated" for event in events)
    if (done.ok or truncated) and not _refused(events):
        return []
    return [sp.ToolCallRevoked(call.index, call.id, "refusal") for call in _complete(events)]


def _judged(events: list[sp.Event], done: sp.Done) -> sp.Done:
    return sp.Done(done.finish_reason, done.usage, done.ok and not (_refused(events) and _complete(events)))


_others = st.one_of(
    _texts.map(sp.TextDelta),
    _texts.map(sp.TextDelta),
    _texts.map(sp.ReasoningDelta),
    _texts.map(sp.ReasoningDelta),
    _texts.map(sp.RefusalDelta),
    _items,
    st.just(sp.Error("frame", "json_syntax", "not JSON")),
)
_usages = st.none() | st.just({"prompt_tokens": 3, "completion_tokens": 5}) | st.just({"eval_count": 2})
_ends = st.one_of(
    st.builds(
        lambda reason, usage: [sp.Done(reason, usage, reason not in ("content_filter", "refusal", "error"))],
        st.sampled_from(
            ["stop", "tool_calls", "length", "end_turn", "tool_use", "max_tokens", "content_filter", "refusal", "error"]
        ),
        _usages,
    ),
    st.just([sp.Done(None, None, True)]),
    st.just([sp.Error("stream", "stream_truncated", "cut"), sp.Done(None, None, False)]),
    st.just([sp.Error("stream", "provider_error", "overloaded: too much"), sp.Done("stop", None, False)]),
)
