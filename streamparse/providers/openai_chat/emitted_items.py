"""What an answer of a chat server holds besides text, thought and calls of functions.

| items | where they stand |
|---|---|
| `annotations`, `executed_tools`, `images` | lists of the message |
| `audio` | the message; a stream has it in pieces |
| `custom_tool_call`, a call of a tool that takes text | among the calls |
| `extra_content`, what a provider wants back with a call | beside that |
| `citations`, `search_results` of Perplexity | beside the choices |
"""

from __future__ import annotations

from typing import Any, Final

from streamparse.response import ParsedResponse

__all__ = [
    "AUDIO",
    "CUSTOM",
    "EXTRA",
    "LISTS",
    "SOURCES",
    "custom_call",
    "custom_calls",
    "extra_of",
    "extras",
    "message_items",
    "sources",
]

LISTS: Final = ("annotations", "executed_tools", "images")
AUDIO: Final = "audio"
CUSTOM: Final = "custom_tool_call"
EXTRA: Final = "extra_content"
SOURCES: Final = ("citations", "search_results")
_PIECES: Final = ("data", "transcript")
"""The fields of audio that come in pieces."""


def custom_call(data: Any) -> dict[str, Any] | None:
    """Return a call of a tool that takes text as chat servers write it; that of Responses says the same."""
    if not isinstance(data, dict):
        return None
    custom = data.get("custom") or {"name": data.get("name"), "input": data.get("input")}
    id = data.get("id") if "custom" in data else data.get("call_id")
    return {"id": str(id or "call_custom"), "type": "custom", "custom": custom}


def custom_calls(response: ParsedResponse) -> list[dict[str, Any]]:
    """Return all such calls of a whole answer."""
    calls = (custom_call(item["data"]) for item in response.items if item["kind"] == CUSTOM)
    return [call for call in calls if call is not None]


def message_items(response: ParsedResponse) -> dict[str, Any]:
    """Return the fields of the message of a whole answer that hold items."""
    fields: dict[str, Any] = {}
    for item in response.items:
        kind, data = item["kind"], item["data"]
        if kind in LISTS:
            fields[kind] = [*fields.get(kind, ()), *(data if isinstance(data, list) else [data])]
        elif kind == AUDIO and isinstance(data, dict):
            fields[kind] = _joined(fields.get(kind, {}), data)
    return fields


def sources(response: ParsedResponse) -> dict[str, Any]:
    """Return the fields beside the choices of a whole answer."""
    return {item["kind"]: item["data"] for item in response.items if item["kind"] in SOURCES}


def extras(response: ParsedResponse) -> dict[int | None, dict[str, Any]]:
    """Return what providers want back with calls, by the indexes of these."""
    found = [(item.get("index"), extra_of(item["kind"], item["data"])) for item in response.items]
    return {index: {EXTRA: extra} for index, extra in found if extra is not None}


def extra_of(kind: str, data: Any) -> Any:
    """Return what a call's provider wants back with it, as Google's own server for chats writes it beside the call."""
    if kind == "thought_signature":
        return {"google": {"thought_signature": data}}
    return data if kind == EXTRA else None


def _joined(audio: dict[str, Any], piece: dict[str, Any]) -> dict[str, Any]:
    said = {name: str(audio.get(name, "")) + str(piece[name]) for name in _PIECES if piece.get(name)}
    return {**audio, **piece, **said}
