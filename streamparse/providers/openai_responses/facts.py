"""What is known of the items of OpenAI Responses that only this API has."""

from __future__ import annotations

from typing import Any, Final

_KINDS: Final = ("reasoning", "compaction", "mcp_list_tools", "mcp_approval_request", "program")
_ENDINGS: Final = ("_call", "_output")


def is_own_item(kind: str, data: Any) -> bool:
    """Whether a provider item is a whole item of Responses, as it came."""
    return (kind in _KINDS or kind.endswith(_ENDINGS)) and isinstance(data, dict) and data.get("type") == kind
