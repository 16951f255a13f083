"""Facts about Gemini's API that several modules need."""

from __future__ import annotations

from typing import Final

SERVER_TOOL_KEYS: Final = frozenset((
    "codeexecution", "computeruse", "enterprisewebsearch", "filesearch", "googlemaps", "googlesearch",
    "googlesearchretrieval", "retrieval", "urlcontext",
))  # fmt: skip
"""What the entries of `tools` are called that the server runs, as `normalize_keys` spells it.

https://ai.google.dev/api/caching#Tool
"""
