"""One chunk of a stream, of whatever library, as the message that a server sent.

| chunk | known by | its message |
|---|---|---|
| bytes, text, a mapping | their types | itself |
| a server-sent event | `data` is text, and `event` text or None | the lines that it was |
| `ChunkEvent` of OpenAI's `.stream()` | its class, in `lib.streaming` | its `chunk` |
| other events that a helper of an SDK adds to those of its API | their class, in `lib.streaming` | none |
| `CompletionEvent` | its class, of mistralai | its `data` |
| `AIMessageChunk` | its class, of LangChain, or its `type` | a chunk of chat completions |
| any other record | `records` | its fields |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from streamparse.parser.records import fields_of, has_base, is_answer, is_model

__all__ = ["Message", "is_chunk", "message_of"]

Message: TypeAlias = bytes | memoryview | str | dict[str, Any]
"""What a framer, or a wire, can be given."""

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_LAST: Final = "data: [DONE]\n\n"
_REASONS: Final = ("finish_reason", "stop_reason", "stopReason", "done_reason")


def is_chunk(thing: object) -> bool:
    """Whether `message_of` knows what a thing holds."""
    is_message = isinstance(thing, (bytes, bytearray, memoryview, str, Mapping))
    return is_message or is_answer(thing) or _is_wrapped(thing) or _is_event(thing)


def message_of(chunk: Any) -> Message | None:
    """Return the message that a chunk is; None for an event that an SDK's helper made up.

    Raises TypeError for what is no chunk, and whatever the code of an SDK's object raises.
    """
    match chunk:
        case dict() if chunk.get("type") == "AIMessageChunk" and "tool_call_chunks" in chunk:
            return _of_langchain(chunk)
        case bytes() | str() | memoryview() | dict():
            return chunk
        case bytearray():
            return bytes(chunk)
        case Mapping():
            return message_of(dict(chunk))
    if is_answer(chunk) or _is_wrapped(chunk):
        return _of_record(chunk)
    if _is_event(chunk):
        return _event_stream_text(chunk.event, chunk.data)
    raise TypeError(_refusal(chunk))


def _of_record(chunk: Any) -> Message | None:
    kind = chunk.__class__
    if _is_added(kind):
        return message_of(chunk.chunk) if kind.__name__ == "ChunkEvent" else None
    if _is_wrapped(chunk):
        return message_of(chunk.data)
    # A helper's events hold all the text so far, with each piece of it.
    return message_of(fields_of(chunk, without=("snapshot",) if _is_of_helper(kind) else ()))


def _is_wrapped(chunk: Any) -> bool:
    return _is_of_mistral(chunk.__class__)


@lru_cache(256)
def _is_of_mistral(kind: type) -> bool:
    return has_base(kind, "mistralai", "CompletionEvent")


def _is_event(thing: Any) -> bool:
    """Whether a thing is a server-sent event, as the event source clients have it."""
    data, event = getattr(thing, "data", None), getattr(thing, "event", None)
    return isinstance(data, str) and hasattr(thing, "event") and (event is None or isinstance(event, str))


def _event_stream_text(event: str | None, data: str) -> str:
    """Write a decoded server-sent event as it was on the wire."""
    lines = [f"data: {line}\n" for line in _LINE_END.split(data)]
    if event:
        lines.insert(0, f"event: {_LINE_END.split(event)[0]}\n")
    return "".join(lines) + "\n"


@lru_cache(256)
def _is_of_helper(kind: type) -> bool:
    """Whether a class is one of the events that `.stream()` of OpenAI's and Anthropic's SDKs gives."""
    return any(".lib.streaming." in base.__module__ for base in kind.__mro__)


@lru_cache(256)
def _is_added(kind: type) -> bool:
    """Whether such an event is none of the API: then it tells again what the API's events tell."""
    return _is_of_helper(kind) and not any(".types." in base.__module__ for base in kind.__mro__)


def _refusal(thing: object) -> str:
    name = thing.__class__.__name__
    if is_model(thing):
        return f"a chunk must be bytes, str, a mapping or an SDK's object, and {name} has no field of an answer"
    return f"a chunk must be bytes, str, a mapping or an SDK's object, not {name}"


# -- LangChain ----------------------------------------------------------------------------------------------------


def _of_langchain(chunk: Mapping[str, Any]) -> Message:
    """Write a chunk of LangChain as one of chat completions; the last one, which says nothing else, as their end.

    Its `tool_calls` are guesses at what `tool_call_chunks` will come to.
    """
    extra = chunk.get("additional_kwargs")
    delta: dict[str, Any] = {"content": _text_in(chunk.get("content"))}
    thought = _thought_in(chunk.get("content"))
    if isinstance(extra, Mapping) and isinstance(extra.get("reasoning_content"), str):
        thought += extra["reasoning_content"]
    if thought:
        delta["reasoning_content"] = thought
    if calls := chunk.get("tool_call_chunks"):
        delta["tool_calls"] = [_call(call) for call in calls if isinstance(call, Mapping)]
    reason, usage = _reason(chunk), chunk.get("usage_metadata")
    is_blank = not (delta["content"] or thought or calls or reason or usage)
    if is_blank and chunk.get("chunk_position") == "last":
        return _LAST
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"object": "chat.completion.chunk", "choices": [choice], **({"usage": usage} if usage else {})}


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A piece of a call: its number is the server's, or LangChain's own, which is a text."""
    function = {"name": call.get("name"), "arguments": call.get("args")}
    kept = {"index": call.get("index"), "id": call.get("id")}
    named = {key: value for key, value in kept.items() if isinstance(value, int if key == "index" else str)}
    return {**named, "function": {key: value for key, value in function.items() if value is not None}}


def _reason(chunk: Mapping[str, Any]) -> str | None:
    about = chunk.get("response_metadata")
    reasons = [about.get(key) for key in _REASONS] if isinstance(about, Mapping) else []
    return next((reason for reason in reasons if isinstance(reason, str) and reason), None)


def _parts(content: Any) -> Iterator[Mapping[str, Any]]:
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield {"type": "text", "text": part}
        elif isinstance(part, Mapping):
            yield part


def _text_in(content: Any) -> str:
    texts = [part.get("text") for part in _parts(content) if part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _thought_in(content: Any) -> str:
    """What blocks of providers' own kinds, and those of LangChain, hold of a thought."""
    found: list[Any] = []
    for part in _parts(content):
        if part.get("type") == "thinking":
            found.append(part.get("thinking"))
        elif part.get("type") == "reasoning":
            summary = part.get("summary")
            listed = summary if isinstance(summary, list) else []
            found += [part.get("reasoning"), *(each.get("text") for each in listed if isinstance(each, Mapping))]
    return "".join(thought for thought in found if isinstance(thought, str))
