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
OWN_PARTS: Final = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse", "inlineData", "fileData")
"""Parts that no other provider has, or that are no text, image or document."""
PART_KEYS: Final = ("text", "thought", "thoughtSignature", "functionCall", "functionResponse", *OWN_PARTS)
"""The keys of the parts of a content that have no `type`.  https://ai.google.dev/api/caching#Part"""
