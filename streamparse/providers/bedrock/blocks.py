"""Blocks of a message, in Bedrock's words: text, pictures, documents, thought and its signature.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html

A document must have a name, in few kinds of letters; one that has none is named after what it holds.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from streamparse.writing.content import DOCUMENT_ENDINGS, VisiblePart, find_document_type, is_cited, make_text_document
from streamparse.writing.json_access import drop_empty, get_objects, get_str
from streamparse.writing.parts import Document, Image, Item, Part, Text, Thought

__all__ = ["has_failed", "name_of", "read", "reasoning", "shown_by", "write"]

Block: TypeAlias = dict[str, Any]

_REFUSED: Final = re.compile(r"[^a-zA-Z0-9()\[\]-]+")
_LONGEST: Final = 200


def reasoning(text: Block) -> Block:
    """A thought, with its signature if it has one."""
    return {"reasoningContent": {"reasoningText": text}}


def write(part: VisiblePart) -> Block:
    """A text, a picture or a document."""
    if isinstance(part, Text):
        return {"text": part.text}
    if isinstance(part, Document):
        return {"document": _document(part)}
    return {"image": {"format": part.media_type.removeprefix("image/"), "source": {"bytes": part.data}}}


def has_failed(block: Mapping[str, Any]) -> bool:
    """Whether a block is the result of a tool that failed."""
    return get_str(block, "toolResult", "status") == "error"


def shown_by(block: Mapping[str, Any]) -> list[Part]:
    """What a result shows; nothing if the block is none."""
    result = block.get("toolResult")
    blocks = get_objects(result.get("content")) if isinstance(result, Mapping) else []
    return [part for each in blocks for part in read(each)]


def _document(document: Document) -> Block:
    cited = {"citations": {"enabled": True}} if document.cited else {}
    fields = {
        "format": DOCUMENT_ENDINGS[document.media_type],
        "name": name_of(document),
        "source": {"bytes": document.data},
    }
    return {**fields, **drop_empty(context=document.context), **cited}


def name_of(document: Document) -> str:
    """A name in the letters that are taken, which each document must have, and none twice."""
    kept = " ".join(_REFUSED.sub(" ", document.name).split())[:_LONGEST]
    return kept or f"document-{sha256(document.data.encode()).hexdigest()[:8]}"


def _read_document(block: Mapping[str, Any]) -> Document | None:
    """A document of a known format whose bytes or text are there."""
    document = block.get("document")
    kind, text = find_document_type(get_str(document, "format") or "txt"), get_str(document, "source", "text")
    data = make_text_document(text).data if text else _bytes(block, "document")
    if not isinstance(document, Mapping) or not data or not kind:
        return None
    found = Document(data, kind, context=get_str(document, "context"), cited=is_cited(document))
    name = get_str(document, "name")
    return found if name == name_of(found) else replace(found, name=name)


def _bytes(block: Mapping[str, Any], kind: str) -> str:
    """The bytes of a picture or document in base64; boto3 takes them as they are."""
    source = block[kind].get("source") if isinstance(block.get(kind), Mapping) else None
    data = source.get("bytes") if isinstance(source, Mapping) else None
    return b64encode(data).decode() if isinstance(data, bytes) else get_str(source, "bytes")


def read(block: Mapping[str, Any]) -> list[Part]:
    """Text, a picture, a document, thought with its signature, or something that only Bedrock knows."""
    if isinstance(block.get("text"), str):
        return [Text(block["text"])]
    if data := _bytes(block, "image"):
        return [Image(data, "image/" + get_str(block, "image", "format"))]
    if (document := _read_document(block)) is not None:
        return [document]
    if "reasoningContent" in block:
        thought = block["reasoningContent"]
        text, signature = get_str(thought, "reasoningText", "text"), get_str(thought, "reasoningText", "signature")
        redacted = get_str(thought, "redactedContent")
        return [
            *([Thought(text)] if text else []),
            *([Item("signature", signature)] if signature else []),
            *([Item("redactedContent", redacted)] if redacted else []),
        ]
    return [Item(str(kind), value) for kind, value in block.items()]
