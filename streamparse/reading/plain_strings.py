"""Messages that hold one string and nothing else: where they have it, as a wire declares it, and whether one is such.

While such messages follow, one that is the same except for the string is not decoded: its string goes to the verb.
So what a wire declares must hold for each message of the same bytes, once one of them was taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec


class PlainString(NamedTuple):
    """Where the messages of a wire may hold a string, and the verb for it."""

    path: tuple[str, ...]
    """The names of fields from the message to the string; a list on the way has one element."""
    find_verb: Callable[[Any, Any], Callable[[str], None] | None]
    """Returns the verb that `take` calls with the string, given the wire and a message that `take` has taken.

    None if `take` may do something else with the next string.
    """
    beside: tuple[str, ...] = ()
    """Fields of the objects on the path that may have any value; all others must be empty."""
    again: tuple[str, ...] = ()
    """The path to where the message holds the same string once more."""


class Plain(NamedTuple):
    """The one string of a message, and the verb that takes it."""

    tell: Callable[[str], None]
    string: str
    is_twice: bool
    """Whether the message holds the string at two places."""


def find_plain_string(wire: Any, message: msgspec.Struct) -> Plain | None:
    """Return the one string of a message that was taken, if it is where the wire declares one; else None."""
    for place in wire.plain_strings:
        string = _read_string(message, place.path)
        if not string or (place.again and _read_string(message, place.again) != string):
            continue
        allowed = {*place.path, *place.again, *place.beside}
        if _is_alone(message, place.path, allowed) and _is_alone(message, place.again, allowed):
            tell = place.find_verb(wire, message)
            return None if tell is None else Plain(tell, string, bool(place.again))
    return None


def _read_string(message: Any, path: tuple[str, ...]) -> str:
    """Return the string at a path; nothing if there is none."""
    value = message
    for name in path:
        value = getattr(value, name, None)
        if value.__class__ is list:
            value = value[0] if len(value) == 1 else None
    return value if isinstance(value, str) else ""


def _is_alone(message: Any, path: tuple[str, ...], allowed: set[str]) -> bool:
    """Whether all other fields of the objects on a path are empty."""
    value = message
    for name in path:
        for other in value.__struct_fields__:
            if other not in allowed and getattr(value, other) not in (None, "", []):
                return False
        value = getattr(value, name)
        if value.__class__ is list:
            value = value[0]
    return True
