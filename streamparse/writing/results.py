"""What a tool's result shows, and how it is written where a provider takes text alone.

A result is a JSON value.  A list of content blocks counts as what they show (`content`).

How a failed result is written where a provider has no field for that, so that it can be told from any other:

| | an error | a value that could be taken for one |
|---|---|---|
| an object (Gemini, Cohere) | `{"error": text}` | `{"output": value}` |
| a text (OpenAI, Ollama) | the JSON of `{"error": text}` | its text between `{"output":` and `}` |

Only a text that is exactly as it is written here for an error is read as one; any other stays as it is, JSON or not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from streamparse.json.json_safety import compact, try_decode
from streamparse.loss import Loss
from streamparse.tools import ToolResult
from streamparse.writing.content import VisiblePart, join_text, read_block, replace_on_lines, write_block
from streamparse.writing.json_access import get_str, write_value
from streamparse.writing.parts import Document, Image, Item, Part, Text


def show_result(result: ToolResult) -> list[VisiblePart]:
    """Return the parts that a successful result shows."""
    value = result.result
    if isinstance(value, list) and value:
        parts = [read_block(block) if isinstance(block, Mapping) else Item("", block) for block in value]
        visible = [part for part in parts if isinstance(part, VisiblePart)]
        if len(visible) == len(parts):
            return visible
    return [Text(write_value(value))]


def has_text_after_media(parts: Iterable[object]) -> bool:
    """Whether a text comes after an image or a document: that place is lost where these are not in the text."""
    texts = [isinstance(part, Text) for part in parts]
    return False in texts and True in texts[texts.index(False) :]


def write_result_text(result: ToolResult) -> str:
    """Write a result as one text, where a provider takes nothing else; an error can be read as one again."""
    if result.error is not None:
        return encode_error(result.error)
    return encode_text(join_text(show_result(result)))


def make_result(id: str, name: str, parts: Iterable[Part], failed: bool = False) -> ToolResult:
    """Return the result that shows these parts, where the provider says whether the tool failed.

    Text stays text, and a block that is not visible elsewhere becomes text.
    """
    replaced = replace_on_lines([*parts], lambda part: _describe_item(part) if isinstance(part, Item) else None)
    visible = [part for part in replaced if isinstance(part, VisiblePart)]
    if failed:
        return ToolResult(id, name, error=join_text(visible))
    has_media = any(not isinstance(part, Text) for part in visible)
    return ToolResult(id, name, [write_block(part) for part in visible] if has_media else join_text(visible))


def list_text_losses(parts: Iterable[Part], place: str, failed: bool = False) -> Iterator[Loss]:
    """List the parts of a result that `make_result` makes text."""
    for part in parts:
        if isinstance(part, Item):
            yield Loss(place, "", part.kind, "written as text: a result shows no such thing elsewhere")
        elif failed and isinstance(part, (Image, Document)):
            yield Loss(place, "", type(part).__name__.lower(), "written as text: an error is one")


def read_text_result(id: str, name: str, parts: Iterable[Part]) -> ToolResult:
    """Return the result that shows these parts, where only a text can say that the tool failed."""
    result = make_result(id, name, parts)
    return ToolResult(id, name, *decode_text(result.result)) if isinstance(result.result, str) else result


def _describe_item(item: Item) -> str:
    """Return the text in place of a block that only its provider knows: its JSON, or the media type of bytes."""
    kind = get_str(item.data, "source", "media_type") if get_str(item.data, "source", "type") == "base64" else ""
    kind = kind or (get_str(item.data, "format") if get_str(item.data, "source", "bytes") else "")
    return f"[{item.kind}: {kind}]" if kind else write_value(item.data)


_SHIELD: Final = '{"output":'


def wrap_result(value: Any, error: str | None) -> dict[str, Any]:
    """Write a result as an object: an object as it is, anything else, and what could be misread, under `output`."""
    if error is not None:
        return {"error": error}
    plain = isinstance(value, dict) and not value.keys() & {"output", "error"}
    return value if plain else {"output": value}


def unwrap_result(value: Any) -> tuple[Any, str | None]:
    """Return the result and the error in an object; the inverse of `wrap_result`."""
    if isinstance(value, dict) and value.keys() == {"error"} and isinstance(value["error"], str):
        return None, value["error"]
    if isinstance(value, dict) and value.keys() == {"output"}:
        return value["output"], None
    return value, None


def encode_error(error: str) -> str:
    """Write an error as a text."""
    return compact({"error": error})


def encode_text(text: str) -> str:
    """Write the text of a successful result: as it is, unless it would be taken for an error."""
    return f"{_SHIELD}{text}}}" if _find_error(text) is not None else text


def decode_text(text: str) -> tuple[str | None, str | None]:
    """Return the result and the error in a text; the inverse of `encode_text` and `encode_error`."""
    error = _find_error(text)
    if error is None:
        return text, None
    return (text[len(_SHIELD) : -1], None) if text.startswith(_SHIELD) else (None, error)


def _find_error(text: str) -> str | None:
    """Return the error in a text, within however many shields."""
    shields = 0
    while text.startswith(_SHIELD, shields * len(_SHIELD)):
        shields += 1
    within = text[shields * len(_SHIELD) : len(text) - shields]
    return _parse_error(within) if text.endswith("}" * shields) else None


def _parse_error(text: str) -> str | None:
    if not (text.startswith('{"error":"') and text.endswith('"}')):
        return None
    error = (try_decode(json.loads, text) or {}).get("error")
    return error if isinstance(error, str) and encode_error(error) == text else None
