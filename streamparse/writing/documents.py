"""Documents, in the shapes in which messages and results hold them.

| who | a document |
|---|---|
| Anthropic | `{"type": "document", "source": {"type": "base64" \\| "text" \\| "url", ...}, "title"}` |
| OpenAI chat | `{"type": "file", "file": {"file_data": "data:...", "filename"}}` |
| OpenAI Responses | `{"type": "input_file", "file_data" or "file_url", "filename"}` |
| MCP | `{"type": "resource", "resource": {"uri", "mimeType", "blob" or "text"}}` |

Bedrock's and Gemini's are read in their own modules.  One that a provider keeps under an id is no document elsewhere,
and neither is a file of another kind than `FORMATS`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from streamparse.writing.json_access import present, string
from streamparse.writing.parts import Document

__all__ = [
    "FORMATS",
    "PDF",
    "PLAIN",
    "address",
    "as_block",
    "as_text",
    "filename",
    "is_cited",
    "known_by_name",
    "media_type_of",
    "of_text",
    "read_document",
    "text_within",
]

PDF: Final = "application/pdf"
PLAIN: Final = "text/plain"
_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
FORMATS: Final = {
    PDF: "pdf",
    PLAIN: "txt",
    "text/markdown": "md",
    "text/html": "html",
    "text/csv": "csv",
    "application/msword": "doc",
    f"{_OFFICE}.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    f"{_OFFICE}.spreadsheetml.sheet": "xlsx",
}
"""The media types of documents, and the usual endings of their names."""

_MEDIA_TYPES: Final = {ending: kind for kind, ending in FORMATS.items()}
_UNNAMED: Final = "document"
_BEHIND_PATH: Final = re.compile(r"[?#]")


def media_type_of(ending: str) -> str:
    """The media type of a format, or of a name that ends so; "" for those that are not known."""
    return _MEDIA_TYPES.get(ending.rpartition(".")[2].lower(), "")


def filename(document: Document) -> str:
    """The name of a document as that of a file."""
    return document.name or f"{_UNNAMED}.{FORMATS.get(document.media_type, 'pdf')}"


def known_by_name(name: str) -> str:
    """The name that a file was given; "" for the one that `filename` gives to a document without."""
    return "" if name.rpartition(".")[0] == _UNNAMED and name.rpartition(".")[2] in _MEDIA_TYPES else name


def address(document: Document) -> str:
    """The URL, or a `data:` URL of the document itself."""
    return document.url or f"data:{document.media_type};base64,{document.data}"


def of_text(text: str, media_type: str = PLAIN) -> Document:
    """The document that a text is."""
    return Document(base64.b64encode(text.encode("utf-8", "surrogatepass")).decode(), media_type or PLAIN)


def text_within(document: Document) -> str | None:
    """The text of a document of text; None of any other."""
    if not document.data or not document.media_type.startswith("text/"):
        return None
    try:
        return base64.b64decode(document.data, validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def as_text(document: Document) -> str:
    """What stands for a document where there can be none: its text, or what it is."""
    text = text_within(document)
    return text if text is not None else f"[document: {document.name or document.url or document.media_type}]"


def as_block(document: Document) -> dict[str, Any]:
    """A document in Anthropic's words, which say all of it."""
    text = text_within(document) if document.media_type == PLAIN else None
    if document.url:
        source = {"type": "url", "url": document.url}
    elif text is not None:
        source = {"type": "text", "media_type": PLAIN, "data": text}
    else:
        source = {"type": "base64", "media_type": document.media_type, "data": document.data}
    cited = {"citations": {"enabled": True}} if document.cited else {}
    return {"type": "document", "source": source, **present(title=document.name, context=document.context), **cited}


def read_document(kind: str, block: Mapping[str, Any]) -> Document | None:
    """The document that a block is; None if it is none."""
    match kind:
        case "document":
            return _of_anthropic(block)
        case "file":
            return _of_file(string(block, "file", "filename"), string(block, "file", "file_data"))
        case "input_file":
            data, name = string(block, "file_data"), string(block, "filename")
            return _of_file(name, data or string(block, "file_url"))
        case "resource":
            return _of_mcp(block)
    return None


def _of_anthropic(block: Mapping[str, Any]) -> Document | None:
    kind, data = string(block, "source", "type"), string(block, "source", "data")
    if kind == "base64" and data:
        found = Document(data, string(block, "source", "media_type") or PDF)
    elif kind == "text" and data:
        found = of_text(data, string(block, "source", "media_type"))
    elif kind == "url" and (url := string(block, "source", "url")):
        found = Document(media_type=PDF, url=url)
    else:
        return None
    return replace(found, name=string(block, "title"), context=string(block, "context"), cited=is_cited(block))


def is_cited(document: Mapping[str, Any]) -> bool:
    """Whether the answer is to cite a document."""
    citations = document.get("citations")
    return isinstance(citations, Mapping) and citations.get("enabled") is True


def _of_file(name: str, data: str) -> Document | None:
    """The document of a file: in a `data:` URL, in base64, or at a URL; what tells of no type is a PDF."""
    head, comma, body = data.partition(";base64,")
    by_name = media_type_of(name) if "." in name else PDF
    if data.startswith(("http://", "https://")):
        path = _BEHIND_PATH.split(data, maxsplit=1)[0]
        found = Document(media_type=media_type_of(path) or by_name or PDF, url=data)
    elif data.startswith("data:"):
        found = Document(body, head.removeprefix("data:").partition(";")[0] or by_name) if comma else Document()
    else:
        found = Document(data, by_name)
    known = found.media_type in FORMATS and (found.data or found.url)
    return replace(found, name=known_by_name(name)) if known else None


def _of_mcp(block: Mapping[str, Any]) -> Document | None:
    kind, text = string(block, "resource", "mimeType"), string(block, "resource", "text")
    name = string(block, "resource", "uri")
    if text and not kind.startswith("image/"):
        found = of_text(text, kind if kind.startswith("text/") else PLAIN)
        return Document(found.data, found.media_type, name=name)
    blob = string(block, "resource", "blob")
    return Document(blob, kind, name=name) if blob and kind in FORMATS else None
