"""The blocks of a content: texts, images and documents, in the shapes in which messages and results hold them.

MCP's shape is written, because it names everything in the fewest words:

| API | an image |
|---|---|
| MCP | `{"type": "image", "data", "mimeType"}` |
| Anthropic | `{"type": "image", "source": {"type": "base64", "media_type", "data"}}` |
| OpenAI | `{"type": "image_url", "image_url": {"url"}}`, `{"type": "input_image", "image_url"}` |

| API | a document |
|---|---|
| Anthropic | `{"type": "document", "source": {"type": "base64" \\| "text" \\| "url", ...}, "title"}` |
| OpenAI chat | `{"type": "file", "file": {"file_data": "data:...", "filename"}}` |
| OpenAI Responses | `{"type": "input_file", "file_data" or "file_url", "filename"}` |
| MCP | `{"type": "resource", "resource": {"uri", "mimeType", "blob" or "text"}}` |

Bedrock's and Gemini's are read in their own modules.  One that a provider keeps under an id is no document elsewhere,
and neither is a file of a kind that is not in `DOCUMENT_ENDINGS`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from streamparse.writing.json_access import drop_empty, get_at, get_str, write_value
from streamparse.writing.parts import Document, Image, Item, Part, Text

PDF: Final = "application/pdf"
PLAIN_TEXT: Final = "text/plain"
_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
DOCUMENT_ENDINGS: Final = {
    PDF: "pdf",
    PLAIN_TEXT: "txt",
    "text/markdown": "md",
    "text/html": "html",
    "text/csv": "csv",
    "application/msword": "doc",
    f"{_OFFICE}.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    f"{_OFFICE}.spreadsheetml.sheet": "xlsx",
}
"""The media types of documents, and the usual endings of their names."""

_MEDIA_TYPES: Final = {ending: kind for kind, ending in DOCUMENT_ENDINGS.items()}
_UNNAMED: Final = "document"
_AFTER_PATH: Final = re.compile(r"[?#]")
_TEXT_KINDS: Final = ("text", "input_text", "output_text")

VisiblePart: TypeAlias = Text | Image | Document


# -- documents ---------------------------------------------------------------------------------------------------------


def find_document_type(ending: str) -> str:
    """Return the media type of a format, or of a name that ends so; "" for unknown ones."""
    return _MEDIA_TYPES.get(ending.rpartition(".")[2].lower(), "")


def get_filename(document: Document) -> str:
    """Return the name of a document as a file's name."""
    return document.name or f"{_UNNAMED}.{DOCUMENT_ENDINGS.get(document.media_type, 'pdf')}"


def _read_filename(name: str) -> str:
    """Return the name that a file was given; "" for one that `get_filename` has made."""
    stem, _, ending = name.rpartition(".")
    return "" if stem == _UNNAMED and ending in _MEDIA_TYPES else name


def make_text_document(text: str, media_type: str = PLAIN_TEXT) -> Document:
    """Return a text as a document."""
    return Document(base64.b64encode(text.encode("utf-8", "surrogatepass")).decode(), media_type or PLAIN_TEXT)


def decode_text_document(document: Document) -> str | None:
    """Return the text of a document of text; None for any other."""
    if not document.data or not document.media_type.startswith("text/"):
        return None
    try:
        return base64.b64decode(document.data, validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def is_cited(document: Mapping[str, Any]) -> bool:
    """Whether the answer is to cite a document."""
    return get_at(document, "citations", "enabled") is True


def _read_document(kind: str, block: Mapping[str, Any]) -> Document | None:
    match kind:
        case "document":
            return _read_source(block)
        case "file":
            return _read_file(get_str(block, "file", "filename"), get_str(block, "file", "file_data"))
        case "input_file":
            return _read_file(get_str(block, "filename"), get_str(block, "file_data") or get_str(block, "file_url"))
        case "resource":
            return _read_resource(block)
    return None


def _read_source(block: Mapping[str, Any]) -> Document | None:
    kind, data, media_type, url = (get_str(block, "source", key) for key in ("type", "data", "media_type", "url"))
    if kind == "base64" and data:
        found = Document(data, media_type or PDF)
    elif kind == "text" and data:
        found = make_text_document(data, media_type)
    elif kind == "url" and url:
        found = Document(media_type=PDF, url=url)
    else:
        return None
    return replace(found, name=get_str(block, "title"), context=get_str(block, "context"), cited=is_cited(block))


def _read_file(name: str, data: str) -> Document | None:
    """Read a file: in a `data:` URL, in base64, or at a URL; one without a type is a PDF."""
    head, comma, body = data.partition(";base64,")
    by_name = find_document_type(name) if "." in name else PDF
    if data.startswith(("http://", "https://")):
        path = _AFTER_PATH.split(data, maxsplit=1)[0]
        found = Document(media_type=find_document_type(path) or by_name or PDF, url=data)
    elif data.startswith("data:"):
        found = Document(body, head.removeprefix("data:").partition(";")[0] or by_name) if comma else Document()
    else:
        found = Document(data, by_name)
    is_known = found.media_type in DOCUMENT_ENDINGS and (found.data or found.url)
    return replace(found, name=_read_filename(name)) if is_known else None


def _read_resource(block: Mapping[str, Any]) -> Document | None:
    kind, text = get_str(block, "resource", "mimeType"), get_str(block, "resource", "text")
    name = get_str(block, "resource", "uri")
    if text and not kind.startswith("image/"):
        found = make_text_document(text, kind if kind.startswith("text/") else PLAIN_TEXT)
        return Document(found.data, found.media_type, name=name)
    blob = get_str(block, "resource", "blob")
    return Document(blob, kind, name=name) if blob and kind in DOCUMENT_ENDINGS else None


# -- blocks ------------------------------------------------------------------------------------------------------------


def read_blocks(content: Any) -> list[Part]:
    """Read the parts of a message's content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return [Text(content)] if content else []
    blocks = content if isinstance(content, (list, tuple)) else ()
    return [
        read_block(block) if isinstance(block, Mapping) else Text(write_value(block))
        for block in blocks
        if block is not None
    ]


def read_block(block: Mapping[str, Any]) -> Part:
    """Read one block of a content: text, an image, a document, or something that only its provider knows."""
    kind = get_str(block, "type")
    if kind in _TEXT_KINDS and isinstance(block.get("text"), str):
        return Text(block["text"])
    if kind == "refusal" and isinstance(block.get("refusal"), str):
        return Text(block["refusal"])
    return _read_image(kind, block) or _read_document(kind, block) or Item(kind, dict(block))


def _read_image(kind: str, block: Mapping[str, Any]) -> Image | None:
    address = get_str(block, "image_url") or get_str(block, "image_url", "url")
    if kind in ("image_url", "input_image") and address:
        detail = get_str(block, "detail") or get_str(block, "image_url", "detail")
        return Image.at(address, "" if detail == "auto" else detail)
    if kind != "image":
        return None
    if get_str(block, "data"):
        return Image(block["data"], get_str(block, "mimeType"))
    if get_str(block, "source", "data"):
        return Image(get_str(block, "source", "data"), get_str(block, "source", "media_type"))
    url = get_str(block, "source", "url")
    return Image(url=url) if url else None


def write_block(part: VisiblePart) -> dict[str, Any]:
    """Write a part as the block that `read_block` reads."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Document):
        return _write_document(part)
    if part.url:
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    return {"type": "image", "data": part.data, "mimeType": part.media_type}


def _write_document(document: Document) -> dict[str, Any]:
    """Write a document in Anthropic's shape, which has a place for all of it."""
    text = decode_text_document(document) if document.media_type == PLAIN_TEXT else None
    if document.url:
        source = {"type": "url", "url": document.url}
    elif text is not None:
        source = {"type": "text", "media_type": PLAIN_TEXT, "data": text}
    else:
        source = {"type": "base64", "media_type": document.media_type, "data": document.data}
    cited = {"enabled": True} if document.cited else None
    about = drop_empty(title=document.name, context=document.context, citations=cited)
    return {"type": "document", "source": source, **about}


# -- text in the place of images and documents -------------------------------------------------------------------------


def describe_image(image: Image) -> str:
    """Return the text in the place of an image that a provider does not take."""
    return f"[image: {image.url or image.media_type}]"


def describe_document(document: Document) -> str:
    """Return the text in the place of a document that a provider does not take: its own, or what it is."""
    text = decode_text_document(document)
    return text if text is not None else f"[document: {document.name or document.url or document.media_type}]"


def join_text(parts: Iterable[VisiblePart]) -> str:
    """Join texts, images and documents to one text."""
    texts = replace_on_lines([*parts], lambda part: describe_document(part) if isinstance(part, Document) else None)
    return "".join(part.text if isinstance(part, Text) else describe_image(part) for part in texts)


def replace_on_lines(parts: Sequence[Any], describe: Callable[[Any], str | None]) -> list[Any]:
    """Replace each part that `describe` returns a text for by that text, on lines of its own between other texts."""
    replaced: list[Any] = []
    texts = [describe(part) for part in parts]
    for place, (part, text) in enumerate(zip(parts, texts, strict=True)):
        if text is None:
            replaced.append(part)
            continue
        is_after_text = place > 0 and isinstance(parts[place - 1], Text)
        is_before_text = place + 1 < len(parts) and (isinstance(parts[place + 1], Text) or texts[place + 1] is not None)
        replaced.append(Text(("\n" if is_after_text else "") + text + ("\n" if is_before_text else "")))
    return replaced
