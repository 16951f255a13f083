"""Text that no wire has read, in an answer of which nothing was understood.

A field of another name looks like an answer without content (`{"delta": {"contents": "hello"}}`), so does a list of
another name (`choices[].messages[].delta`, an old version of Azure).  The first messages of such an answer are looked
at once more, when it is over.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, get_args

import msgspec

from streamparse.frames import Frame
from streamparse.reading.decode import decode_frame, find_objects

MOST_LOOKED_AT: Final = 16  # bound: messages at the beginning of an answer that are kept and looked at

_PLACES: Final = frozenset((
    "choices", "candidates", "delta", "message", "messages", "content", "contents", "content_block", "parts", "output",
    "outputs", "text",
))  # fmt: skip
"""Under these names servers keep what the model says."""
_LISTS: Final = ("choices", "candidates")
_LABELS: Final = frozenset((
    "id", "type", "role", "name", "model", "object", "status", "phase", "author", "recipient", "channel", "created_at",
    "call_id", "tool_call_id", "stop_sequence",
))  # fmt: skip
_TEXTS: Final = frozenset(("content", "text", "thinking", "reasoning"))
"""What wires read that is in no Struct of theirs."""


def find_unread_text(frames: Iterable[Frame], shape: Any, choice: int) -> Frame | None:
    """Return the first message that holds text in a field which the Struct of its wire does not name; None if none."""
    if shape is None:
        return None
    known = _TEXTS | _list_fields(shape)
    return next((frame for frame in frames if _holds_text(decode_frame(frame), known, choice)), None)


def _holds_text(message: Any, known: frozenset[str], choice: int) -> bool:
    waiting = [(message, False, False)]  # each with whether a name on the way is unknown, and whether text may be there
    while waiting:
        value, is_unknown, may_be_text = waiting.pop()
        if isinstance(value, list):
            waiting += [(each, is_unknown, may_be_text) for each in value]
        elif isinstance(value, str):
            if is_unknown and may_be_text and value.strip():
                return True
        elif isinstance(value, dict):
            for key, inner in value.items():
                if key in _PLACES or (may_be_text and isinstance(inner, str) and not _is_label(key)):
                    read = _leave_out_others(inner, choice) if key in _LISTS else inner
                    waiting.append((read, is_unknown or key not in known, True))
    return False


def _leave_out_others(choices: Any, choice: int) -> list[Any]:
    """Return the choice that is parsed; the others are passed over."""
    return [each for each in find_objects(choices) if each.get("index", choice) in (choice, None)]


def _is_label(key: str) -> bool:
    return key in _LABELS or key.lower().endswith("reason")


def _list_fields(shape: Any) -> frozenset[str]:
    """The names of all fields of a Struct, and of those in it."""
    names: set[str] = set()
    waiting, seen = [shape], set[Any]()
    while waiting:
        kind = waiting.pop()
        if not isinstance(kind, type) or not issubclass(kind, msgspec.Struct):
            waiting += get_args(kind)
        elif kind not in seen:
            seen.add(kind)
            for field in msgspec.structs.fields(kind):
                names.add(field.encode_name)
                waiting.append(field.type)
    return frozenset(names)
