"""Values between Python and the texts of a request, and looks into JSON that someone else has made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from streamparse.jsonread import JSONError, read
from streamparse.limits import Limits
from streamparse.response import ToolCall

__all__ = [
    "argument_text",
    "compact",
    "mappings",
    "present",
    "read_call",
    "read_text",
    "string",
    "strings",
    "unreadable",
    "unwrapped",
    "value_text",
    "wrapped",
]

_LIMITS = Limits()


def compact(value: Any) -> str:
    """JSON without blanks, in any script."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def argument_text(call: ToolCall) -> str:
    """The text of a call's arguments: as the model wrote it where that is exactly their JSON, else written anew."""
    try:
        written = json.loads(call.raw)
    except (ValueError, RecursionError):
        return compact(call.arguments)
    return call.raw if _same(written, call.arguments) else compact(call.arguments)


def _same(one: Any, other: Any) -> bool:
    """Whether two JSON values are one; to Python `True == 1 == 1.0`, to JSON not."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def read_call(name: str, arguments: Any, id: str) -> ToolCall:
    """Make a call of what a message holds: arguments as an object or as its text; what is no object counts as none."""
    if isinstance(arguments, Mapping):
        arguments = dict(arguments)
        return ToolCall(name, arguments, id, raw=compact(arguments))
    text = arguments if isinstance(arguments, str) else ""
    return ToolCall(name, _object(text) or {}, id, raw=text)


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = read(text, "lenient", _LIMITS).value
    except JSONError:
        return None
    return value if isinstance(value, dict) else None


def unreadable(call: ToolCall) -> bool:
    """Whether a call has argument text, but none that says its arguments."""
    return not call.arguments and call.raw.strip() not in ("", "null") and _object(call.raw) is None


def value_text(value: Any) -> str:
    """A result as text: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else compact(value)


def read_text(text: str) -> Any:
    """The inverse of `value_text`: what is exactly our JSON of an object, a list or null is read as that."""
    if text[:1] not in ("{", "[", "n"):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if compact(value) == text else text


def wrapped(value: Any, error: str | None) -> dict[str, Any]:
    """A result as an object: an object as it is, anything else, and what could be misread, under `output`."""
    if error is not None:
        return {"error": error}
    plain = isinstance(value, dict) and not value.keys() & {"output", "error"}
    return value if plain else {"output": value}


def unwrapped(value: Any) -> tuple[Any, str | None]:
    """The result and the error that an object holds; the inverse of `wrapped`."""
    if isinstance(value, dict) and value.keys() == {"error"} and isinstance(value["error"], str):
        return None, value["error"]
    if isinstance(value, dict) and value.keys() == {"output"}:
        return value["output"], None
    return value, None


def string(value: Any, *keys: str) -> str:
    """The text under a path of keys; "" if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else ""


def mappings(values: Any) -> list[Mapping[str, Any]]:
    """The objects of what should be a list of them."""
    return [each for each in values if isinstance(each, Mapping)] if isinstance(values, (list, tuple)) else []


def strings(values: Any) -> list[str]:
    """The texts of what should be a list of them."""
    return [each for each in values if isinstance(each, str)] if isinstance(values, (list, tuple)) else []


def present(**fields: Any) -> dict[str, Any]:
    """The fields that say something: neither None nor an empty text or list."""
    return {name: value for name, value in fields.items() if value not in (None, "", [])}
