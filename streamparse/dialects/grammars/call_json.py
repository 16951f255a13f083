"""Which decoded JSON values are calls."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from streamparse.dialects.engine.reader import Reader, Step
from streamparse.json import JSONError, read
from streamparse.patterns import gradual

NAME_KEYS = ("name", "tool", "tool_name", "function_name")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
_ANY_NAME = (*NAME_KEYS, "toolName", "recipient_name", "action", "function")
# With the words of agent frameworks and of older prompts: for whole values, whose tool can be looked up.
_ANY_ARGUMENTS = (*ARGUMENT_KEYS, "tool_input", "toolInput", "action_input", "kwargs")
# What else stands in a call object.
AROUND = frozenset({"type", "function", "id"})
# How the schema of a tool begins, which stands behind the same key.
_DEFINITION = gradual(
    r'[ \t\r\n]{0,64}\{\s{0,64}["\']type["\']\s{0,8}:\s{0,8}["\']object["\']\s{0,8},\s{0,64}["\']properties["\']'
)
_LISTS = ("tool_calls", "toolCalls", "tool_uses", "calls")
_SINGLES = ("function_call", "functionCall", "tool_call", "toolCall", "tool_use", "toolUse", "tool")


class Found(NamedTuple):
    """A call as a decoded value says it."""

    name: str
    arguments: dict[str, Any]
    id: str | None = None


def calls_in(
    value: Any, names: tuple[str, ...] = _ANY_NAME, arguments: tuple[str, ...] = _ANY_ARGUMENTS
) -> Iterator[Found]:
    """Yield the calls that a value is: an object, an array of them, or one of the known envelopes."""
    if isinstance(value, list):
        for element in value:
            yield from calls_in(element, names, arguments)
    if not isinstance(value, dict):
        return
    for key in _LISTS:
        if isinstance(value.get(key), list):
            yield from calls_in(value[key], names, arguments)
            return
    for key in _SINGLES:
        if isinstance(value.get(key), dict):
            yield from calls_in(value[key], names, arguments)
            return
    function = value.get("function")
    body = function if isinstance(function, dict) else value
    name = next((body[key] for key in names if body.get(key) and isinstance(body[key], str)), None)
    given = next((_object(body[key]) for key in arguments if key in body), None)
    if name is not None and given is not None and not _defines(body, given):
        id = value.get("id")
        yield Found(name, given, id if isinstance(id, str) and id else None)


def text_beside_calls(value: Any) -> str:
    """Return the text that an envelope of calls holds beside them; "" if it is none, or holds none."""
    is_envelope = isinstance(value, dict) and any(
        isinstance(value.get(key), (list, dict)) for key in (*_LISTS, *_SINGLES)
    )
    texts = [value.get(key) for key in ("content", "text")] if is_envelope else []
    return next((text for text in texts if isinstance(text, str)), "")


def _defines(body: dict[str, Any], given: dict[str, Any]) -> bool:
    """Whether an object is the definition of a tool: its parameters are a schema."""
    return body.get("parameters") is given and given.get("type") == "object" and "properties" in given


def is_foreign(reader: Reader, key: str, known: Collection[str]) -> Step[bool]:
    """Whether a member shows that its object is no call, though it may name a tool: a record, or a definition."""
    if key == "parameters":
        return (yield from reader.look(_DEFINITION)) is not None
    return key not in known and key not in AROUND


def _object(value: Any) -> dict[str, Any] | None:
    """Arguments: an object, or a string that says one."""
    if isinstance(value, str):
        try:
            value = read(value).value
        except JSONError:
            return None
    return value if isinstance(value, dict) else None
