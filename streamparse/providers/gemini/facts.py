"""Facts about Gemini's API that several modules need."""

from __future__ import annotations

import re
from typing import Any, Final, TypeVar

SERVER_TOOL_KEYS: Final = frozenset((
    "codeexecution", "computeruse", "enterprisewebsearch", "filesearch", "googlemaps", "googlesearch",
    "googlesearchretrieval", "retrieval", "urlcontext",
))  # fmt: skip
"""What the entries of `tools` are called that the server runs, as `normalize_keys` spells it.

https://ai.google.dev/api/caching#Tool
"""

USER_DATA: Final = frozenset({"args", "response", "arguments"})
"""What the user's tools were given or gave back: the keys in it are not Gemini's."""

_UNDERSCORE: Final = re.compile(r"(?<=[a-z])_([a-z])")

T = TypeVar("T")


def to_camel_case(name: Any) -> str:
    """Spell a name as the wire does: Google's Python libraries write it with underscores."""
    return _UNDERSCORE.sub(lambda match: match[1].upper(), str(name))


def to_camel_keys(value: T) -> T | dict[str, Any]:
    """Spell the keys of an object as the wire does, one level deep; anything else stays as it is."""
    return {to_camel_case(key): each for key, each in value.items()} if isinstance(value, dict) else value
