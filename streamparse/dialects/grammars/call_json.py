"""Which decoded JSON values are calls."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from streamparse.dialects.engine.reader import Reader, Step
from streamparse.json import JSONError, Reading, read
from streamparse.patterns import lazy_partial

NAME_KEYS = ("name", "tool", "tool_name", "function_name")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
_ANY_NAME = (*NAME_KEYS, "toolName", "recipient_name", "action", "function")
# With the words of agent frameworks and of older prompts: for whole values, whose tool can be looked up.
_ANY_ARGUMENTS = (*ARGUMENT_KEYS, "tool_input", "toolInput", "action_input", "kwargs")
# What else is in a call object.
NEUTRAL_KEYS = frozenset({"type", "function", "id"})
# How the schema of a tool begins, which has the same key.
_DEFINITION = lazy_partial(
    r'[ \t\r\n]{0,64}\{\s{0,64}["\']type["\']\s{0,8}:\s{0,8}["\']object["\']\s{0,8},\s{0,64}["\']properties["\']'
)
# The keys of envelopes, and what is under them.
_ENVELOPES = {
    **dict.fromkeys(("tool_calls", "toolCalls", "tool_uses", "calls"), list),
    **dict.fromkeys(("function_call", "functionCall", "tool_call", "toolCall", "tool_use", "toolUse", "tool"), dict),
}


class ExtractedCall(NamedTuple):
    """A call as a decoded value says it."""

    name: str
    arguments: dict[str, Any]
    id: str | None = None
    repairs: tuple[str, ...] = ()
    """What had to be mended in arguments that are written as a string, by name."""


def extract_calls(
    value: Any, names: tuple[str, ...] = _ANY_NAME, arguments: tuple[str, ...] = _ANY_ARGUMENTS
) -> Iterator[ExtractedCall]:
    """Yield the calls that a value is: an object, an array of them, or one of the known envelopes."""
    if isinstance(value, list):
        for element in value:
            yield from extract_calls(element, names, arguments)
    if not isinstance(value, dict):
        return
    for key, kind in _ENVELOPES.items():
        if isinstance(value.get(key), kind):
            yield from extract_calls(value[key], names, arguments)
            return
    function = value.get("function")
    body = function if isinstance(function, dict) else value
    name = next((body[key] for key in names if body.get(key) and isinstance(body[key], str)), None)
    given = next((_read_object(body[key]) for key in arguments if key in body), None)
    if name is not None and given is not None and not _is_definition(body, given.value):
        id = value.get("id")
        yield ExtractedCall(name, given.value, id if isinstance(id, str) and id else None, given.repairs)


def extract_text(value: Any) -> str:
    """Return the text that an envelope of calls also holds; "" if there is no text, or this is no envelope."""
    is_envelope = isinstance(value, dict) and any(isinstance(value.get(key), (list, dict)) for key in _ENVELOPES)
    texts = [value.get(key) for key in ("content", "text")] if is_envelope else []
    return next((text for text in texts if isinstance(text, str)), "")


def _is_definition(body: dict[str, Any], given: dict[str, Any]) -> bool:
    """Whether an object is the definition of a tool: its parameters are a schema."""
    return body.get("parameters") is given and given.get("type") == "object" and "properties" in given


def disproves_call(reader: Reader, key: str, known: Collection[str]) -> Step[bool]:
    """Whether a member shows that its object is no call, though it may name a tool: a record, or a definition."""
    if key == "parameters":
        return (yield from reader.peek_match(_DEFINITION)) is not None
    return key not in known and key not in NEUTRAL_KEYS


def _read_object(value: Any) -> Reading | None:
    """Arguments: an object, or a string that says one."""
    reading = Reading(value)
    if isinstance(value, str):
        try:
            reading = read(value)
        except JSONError:
            return None
    return reading if isinstance(reading.value, dict) else None
