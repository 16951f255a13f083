"""The keys by which a definition without a name or a type says that it is one of a provider's own tools.

They are spelled as `streamparse.tools.definitions.normalize_keys` does.
"""

from __future__ import annotations

from typing import Final

SERVER_TOOL_KEYS: Final[dict[str, frozenset[str]]] = {
    # https://ai.google.dev/api/caching#Tool
    "gemini": frozenset(
        ("codeexecution", "computeruse", "enterprisewebsearch", "filesearch", "googlemaps", "googlesearch",
         "googlesearchretrieval", "retrieval", "urlcontext")
    ),
    # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Tool.html
    "bedrock": frozenset(("cachepoint", "systemtool")),
}  # fmt: skip
