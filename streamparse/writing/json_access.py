"""Values between Python and JSON that someone else has made or will read.

**Templates.**  A shape that is both written and read is a template: an object in which `"$name"` is the place of a
value, and `"$name?"` that of one that is left out where it is empty.  `fill_template` writes the values, and
`read_template` finds them again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from streamparse.json import JSONError, read
from streamparse.json.json_safety import compact, try_decode
from streamparse.limits import Limits
from streamparse.response import ToolCall

_LIMITS = Limits()


def write_arguments(call: ToolCall) -> str:
    """Return the text of a call's arguments: the model's own where that is exactly their JSON, else a new one."""
    written = try_decode(json.loads, call.raw)
    # Compared as text: to Python `True == 1 == 1.0`, to JSON not.
    is_same = written is not None and compact(written, sort_keys=True) == compact(call.arguments, sort_keys=True)
    return call.raw if is_same else compact(call.arguments)


def read_call(name: str, arguments: Any, id: str) -> ToolCall:
    """Make a call from the fields of a message: arguments as an object or as its text; anything else counts as `{}`."""
    if isinstance(arguments, Mapping):
        arguments = dict(arguments)
        return ToolCall(name, arguments, id, raw=compact(arguments))
    text = arguments if isinstance(arguments, str) else ""
    return ToolCall(name, _read_object(text) or {}, id, raw=text)


def _read_object(text: str) -> dict[str, Any] | None:
    try:
        value = read(text, "lenient", _LIMITS).value
    except JSONError:
        return None
    return value if isinstance(value, dict) else None


def is_unreadable(call: ToolCall) -> bool:
    """Whether a call has a text of arguments that is not a JSON object."""
    return not call.arguments and call.raw.strip() not in ("", "null") and _read_object(call.raw) is None


def write_value(value: Any) -> str:
    """Write a result as text: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else compact(value)


def get_at(value: Any, *keys: str) -> Any:
    """Return the value under a path of keys; None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def get_str(value: Any, *keys: str) -> str:
    """Return the text under a path of keys; "" for anything else."""
    found = get_at(value, *keys)
    return found if isinstance(found, str) else ""


def get_object(value: Any, *keys: str) -> Mapping[str, Any]:
    """Return the object under a path of keys; an empty one for anything else."""
    found = get_at(value, *keys)
    return found if isinstance(found, Mapping) else {}


def get_objects(values: Any) -> list[Mapping[str, Any]]:
    """Return the objects in what should be a list of them."""
    return [each for each in values if isinstance(each, Mapping)] if isinstance(values, (list, tuple)) else []


def get_strs(values: Any) -> list[str]:
    """Return the texts in what should be a list of them."""
    return [each for each in values if isinstance(each, str)] if isinstance(values, (list, tuple)) else []


def copy_json(value: Any) -> Any:
    """Copy an object or a list, with all objects and lists in it; everything else is shared."""
    copied = value.copy()
    for key, each in copied.items() if type(value) is dict else enumerate(copied):
        if type(each) is dict or type(each) is list:
            copied[key] = copy_json(each)
    return copied


def drop_empty(**fields: Any) -> dict[str, Any]:
    """Return the fields that are neither None nor an empty text or list."""
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


Template: TypeAlias = Mapping[str, Any]

FUNCTION_FIELDS: Final = {"name": "$name?", "description": "$description?", "parameters": "$schema"}
"""The template of a tool, in the words that most APIs have for it."""


def fill_template(template: Template, values: Mapping[str, Any]) -> dict[str, Any]:
    """Write an object of a template's shape."""
    filled: dict[str, Any] = {}
    for key, each in template.items():
        if isinstance(each, dict):
            filled[key] = fill_template(each, values)
        elif not each.startswith("$"):
            filled[key] = each
        elif (value := values[each.strip("$?")]) or not each.endswith("?"):
            filled[key] = value
    return filled


def read_template(template: Template, written: Any) -> dict[str, Any]:
    """Return the values in an object of a template's shape, by their names; a missing one is None."""
    found: dict[str, Any] = {}
    for key, each in template.items():
        value = written.get(key) if isinstance(written, Mapping) else None
        if isinstance(each, dict):
            found |= read_template(each, value)
        elif each.startswith("$"):
            found[each.strip("$?")] = value
    return found
