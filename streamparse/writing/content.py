"""What a tool's result shows: text, pictures and documents, in the shapes in which tools return them.

A result is a JSON value.  A list of content blocks counts as what they show; MCP's shape is ours, for it names
everything in the fewest words:

| who | a picture |
|---|---|
| MCP | `{"type": "image", "data", "mimeType"}` |
| Anthropic | `{"type": "image", "source": {"type": "base64", "media_type", "data"}}` |
| OpenAI | `{"type": "image_url", "image_url": {"url"}}`, `{"type": "input_image", "image_url"}` |

Those of documents are in `documents`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from streamparse.loss import Loss
from streamparse.tools import ToolResult
from streamparse.writing.documents import as_block, as_text, read_document
from streamparse.writing.json_access import string, value_text
from streamparse.writing.parts import Document, Image, Item, Part, Text
from streamparse.writing.result_encoding import error_text, heard, output_text

__all__ = [
    "Shown",
    "divided",
    "note",
    "on_lines",
    "read_block",
    "read_blocks",
    "result_heard",
    "result_of",
    "retold",
    "shown",
    "spoken",
    "text_of",
    "write_block",
]

TEXTS = ("text", "input_text", "output_text")

Shown: TypeAlias = Text | Image | Document


def shown(result: ToolResult) -> list[Shown]:
    """What a successful result shows."""
    value = result.result
    if isinstance(value, list) and value:
        parts = [read_block(block) if isinstance(block, Mapping) else Item("", block) for block in value]
        visible = [part for part in parts if isinstance(part, Shown)]
        if len(visible) == len(parts):
            return visible
    return [Text(value_text(value))]


def divided(parts: Iterable[object]) -> bool:
    """Whether a text stands behind a picture or a document: who holds these beside the text loses the place."""
    texts = [isinstance(part, Text) for part in parts]
    return False in texts and True in texts[texts.index(False) :]


def spoken(result: ToolResult) -> str:
    """A result as one text, for who takes nothing else; an error is told as such."""
    if result.error is not None:
        return error_text(result.error)
    return output_text(text_of(shown(result)))


def text_of(parts: Iterable[Shown]) -> str:
    """One text for texts, pictures and documents."""
    told = on_lines([*parts], lambda part: as_text(part) if isinstance(part, Document) else None)
    return "".join(part.text if isinstance(part, Text) else note(part) for part in told)


def note(image: Image) -> str:
    """What stands for a picture where there can be none."""
    return f"[image: {image.url or image.media_type}]"


def read_blocks(content: Any) -> list[Part]:
    """The parts of a message's content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return [Text(content)] if content else []
    blocks = content if isinstance(content, (list, tuple)) else ()
    said = [block for block in blocks if block is not None]
    return [read_block(block) if isinstance(block, Mapping) else Text(value_text(block)) for block in said]


def read_block(block: Mapping[str, Any]) -> Part:
    """One block of a content: text, a picture, a document, or something that only its provider knows."""
    kind = string(block, "type")
    if kind in TEXTS and isinstance(block.get("text"), str):
        return Text(block["text"])
    if kind == "refusal" and isinstance(block.get("refusal"), str):
        return Text(block["refusal"])
    return _image(kind, block) or read_document(kind, block) or Item(kind, dict(block))


def _image(kind: str, block: Mapping[str, Any]) -> Image | None:
    address = string(block, "image_url") or string(block, "image_url", "url")
    if kind in ("image_url", "input_image") and address:
        detail = string(block, "detail") or string(block, "image_url", "detail")
        return Image.at(address, "" if detail == "auto" else detail)
    if kind != "image":
        return None
    if string(block, "data"):
        return Image(block["data"], string(block, "mimeType"))
    if string(block, "source", "data"):
        return Image(string(block, "source", "data"), string(block, "source", "media_type"))
    url = string(block, "source", "url")
    return Image(url=url) if url else None


def result_of(id: str, name: str, parts: Iterable[Part], failed: bool = False) -> ToolResult:
    """The result that shows these parts, where the provider itself says whether the tool failed; text stays text."""
    visible = _visible(list(parts))
    if failed:
        return ToolResult(id, name, error=text_of(visible))
    seen = any(not isinstance(part, Text) for part in visible)
    return ToolResult(id, name, [write_block(part) for part in visible] if seen else text_of(visible))


def retold(parts: Iterable[Part], place: str, failed: bool = False) -> Iterator[Loss]:
    """Tell of the parts of a result that `result_of` makes text."""
    for part in parts:
        if isinstance(part, Item):
            yield Loss(place, "", part.kind, "written as text: a result shows no such thing elsewhere")
        elif failed and isinstance(part, (Image, Document)):
            yield Loss(place, "", type(part).__name__.lower(), "written as text: an error is one")


def result_heard(id: str, name: str, parts: Iterable[Part]) -> ToolResult:
    """The result that shows these parts, where only a text can say that the tool failed; see `outcomes`."""
    result = result_of(id, name, parts)
    return ToolResult(id, name, *heard(result.result)) if isinstance(result.result, str) else result


def _visible(parts: list[Part]) -> list[Shown]:
    """What of a result's parts shows; any other block is text."""
    told = on_lines(parts, lambda part: _told(part) if isinstance(part, Item) else None)
    return [part for part in told if isinstance(part, Shown)]


def on_lines(parts: Sequence[Any], told: Callable[[Any], str | None]) -> list[Any]:
    """The parts, each that is `told` as a text on lines of its own between other texts."""
    words = [told(part) for part in parts]
    texts = [isinstance(part, Text) for part in parts]
    starts = ["\n" if before else "" for before in [False, *texts]]
    ends = [
        "\n" if text or word is not None else ""
        for text, word in zip([*texts[1:], False], [*words[1:], None], strict=False)
    ]
    return [
        part if word is None else Text(f"{start}{word}{end}")
        for part, word, start, end in zip(parts, words, starts, ends, strict=False)
    ]


def _told(item: Item) -> str:
    """What stands for a block that only its provider knows: its JSON, or of bytes what they are."""
    kind = string(item.data, "source", "media_type") if string(item.data, "source", "type") == "base64" else ""
    kind = kind or (string(item.data, "format") if string(item.data, "source", "bytes") else "")
    return f"[{item.kind}: {kind}]" if kind else value_text(item.data)


def write_block(part: Shown) -> dict[str, Any]:
    """The block that shows a part in a result, in the words that `read_block` reads."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Document):
        return as_block(part)
    if part.url:
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    return {"type": "image", "data": part.data, "mimeType": part.media_type}
