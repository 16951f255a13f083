"""A frame that is not what the wire's messages are: as much of it as can be read is, and the stream goes on."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from cuts import assert_same_in_every_cut, text_of

import streamparse as sp
from streamparse.assembler import Assembler
from streamparse.frames import Frame
from streamparse.reading.message_wire import MessageWire
from streamparse.tools import Toolset

STOPPED = json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})


def _chunk(**delta: Any) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": delta}]})


def _read(*messages: str, rest: str = "", limits: sp.Limits = sp.Limits()) -> tuple[str, list[sp.Error]]:  # noqa: B008
    """The text and the errors of a chat, in every cut."""
    body = "".join(f"data: {message}\n\n" for message in messages) + rest
    events = assert_same_in_every_cut(lambda: sp.StreamParser("openai-chat", limits=limits), body.encode())
    return text_of(events), [event for event in events if isinstance(event, sp.Error)]


def test_a_few_fields_of_a_wrong_type_cost_themselves_and_many_the_frame() -> None:
    odd = ["reasoning_content", "reasoning", "refusal", "annotations", "executed_tools", "thinking_blocks", "images"]
    for names, text in ((odd, "So. Yes."), ([*odd, "content_list", "tool_use_id"], "Yes.")):
        said, errors = _read(_chunk(content="So. ", **{name: {} for name in names}), _chunk(content="Yes."), STOPPED)
        assert said == text
        assert {error.code for error in errors} == {"unexpected_shape"}
        assert len(errors) == len(names)


def test_a_field_of_a_wrong_type_in_one_element_of_a_list_costs_that_field() -> None:
    choices = [{"index": 0, "delta": {"content": "So. ", "refusal": {}}}, {"index": 1, "delta": {"content": "No."}}]
    for listed in (choices, choices[::-1]):
        said, errors = _read(json.dumps({"choices": listed}), _chunk(content="Yes."), STOPPED)
        assert (said, [error.code for error in errors]) == ("So. Yes.", ["unexpected_shape"])


def test_a_frame_with_many_brackets_that_is_not_deep_is_read() -> None:
    wide = _chunk(content="Yes.", annotations={"all": [{}] * 20})
    said, errors = _read(wide, STOPPED, limits=sp.Limits(max_depth=10))
    assert (said, [error.code for error in errors]) == ("Yes.", ["unexpected_shape"])


def test_a_frame_that_only_a_repair_would_make_json_is_an_error() -> None:
    said, errors = _read('{"choices": [],}', _chunk(content="Yes."), STOPPED)
    assert (said, [(error.code, error.offset) for error in errors]) == ("Yes.", [("json_syntax", 6)])


def test_a_long_page_between_the_events_is_an_error_that_shows_its_beginning() -> None:
    page = "<html>\n" + "<p>down</p>\n" * 250
    said, errors = _read(_chunk(content="Yes."), rest=page)
    assert (said, [error.code for error in errors]) == ("Yes.", ["provider_error"])
    assert errors[0].message.startswith("<html><p>down</p>")
    assert len(errors[0].message) < 3000


class _Place(msgspec.Struct):
    name: str


class _Message(msgspec.Struct):
    text: str
    places: dict[str, _Place] = {}


class _OwnWire(MessageWire[_Message]):
    """A wire whose messages must have a text, and name their places."""

    shape = _Message

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        return "text" in message

    def take(self, message: _Message) -> None:
        self._text(message.text)


def test_a_frame_without_what_a_wire_requires_is_one_error_and_the_stream_goes_on() -> None:
    assembler = Assembler(Toolset.of(()), sp.Limits())
    wire = _OwnWire(assembler, Toolset.of(()), sp.Limits())
    for message in ({"text": "So. "}, {}, {"text": "lost", "places": {"a": {"name": 1}}}, {"text": "Yes."}):
        wire.frame(Frame(json.dumps(message).encode()))
    events = assembler.record.take()
    assert text_of(events) == "So. Yes."
    assert [event.code for event in events if isinstance(event, sp.Error)] == ["unexpected_shape"] * 2
