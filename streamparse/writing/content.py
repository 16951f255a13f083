"""The blocks of a content: texts, images and documents, in the shapes in which messages and results hold them.

MCP's shape is what is written, for it names everything in the fewest words:

| who | a picture |
|---|---|
| MCP | `{"type": "image", "data", "mimeType"}` |
| Anthropic | `{"type": "image", "source": {"type": "base64", "media_type", "data"}}` |
| OpenAI | `{"type": "image_url", "image_url": {"url"}}`, `{"type": "input_image", "image_url"}` |

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from streamparse.writing.json_access import drop_empty, get_str, write_value
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
_BEHIND_PATH: Final = re.compile(r"[?#]")


def find_document_type(ending: str) -> str:
    """The media type of a format, or of a name that ends so; "" for those that are not known."""
    return _MEDIA_TYPES.get(ending.rpartition(".")[2].lower(), "")


def get_filename(document: Document) -> str:
    """The name of a document as that of a file."""
    return document.name or f"{_UNNAMED}.{DOCUMENT_ENDINGS.get(document.media_type, 'pdf')}"


def read_filename(name: str) -> str:
    """The name that a file was given; "" for the one that `filename` gives to a document without."""
    return "" if name.rpartition(".")[0] == _UNNAMED and name.rpartition(".")[2] in _MEDIA_TYPES else name


def get_address(document: Document) -> str:
    """The URL, or a `data:` URL of the document itself."""
    return document.url or f"data:{document.media_type};base64,{document.data}"


def make_text_document(text: str, media_type: str = PLAIN_TEXT) -> Document:
    """The document that a text is."""
    return Document(base64.b64encode(text.encode("utf-8", "surrogatepass")).decode(), media_type or PLAIN_TEXT)


def decode_text_document(document: Document) -> str | None:
    """The text of a document of text; None of any other."""
    if not document.data or not document.media_type.startswith("text/"):
        return None
    try:
        return base64.b64decode(document.data, validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def describe_document(document: Document) -> str:
    """What stands for a document where there can be none: its text, or what it is."""
    text = decode_text_document(document)
    return text if text is not None else f"[document: {document.name or document.url or document.media_type}]"


def write_document_block(document: Document) -> dict[str, Any]:
    """A document in Anthropic's words, which say all of it."""
    text = decode_text_document(document) if document.media_type == PLAIN_TEXT else None
    if document.url:
        source = {"type": "url", "url": document.url}
    elif text is not None:
        source = {"type": "text", "media_type": PLAIN_TEXT, "data": text}
    else:
        source = {"type": "base64", "media_type": document.media_type, "data": document.data}
    cited = {"citations": {"enabled": True}} if document.cited else {}
    return {"type": "document", "source": source, **drop_empty(title=document.name, context=document.context), **cited}


def read_document(kind: str, block: Mapping[str, Any]) -> Document | None:
    """The document that a block is; None if it is none."""
    match kind:
        case "document":
            return _of_source(block)
        case "file":
            return _of_file(get_str(block, "file", "filename"), get_str(block, "file", "file_data"))
        case "input_file":
            data, name = get_str(block, "file_data"), get_str(block, "filename")
            return _of_file(name, data or get_str(block, "file_url"))
        case "resource":
            return _of_resource(block)
    return None


def _of_source(block: Mapping[str, Any]) -> Document | None:
    kind, data = get_str(block, "source", "type"), get_str(block, "source", "data")
    if kind == "base64" and data:
        found = Document(data, get_str(block, "source", "media_type") or PDF)
    elif kind == "text" and data:
        found = make_text_document(data, get_str(block, "source", "media_type"))
    elif kind == "url" and (url := get_str(block, "source", "url")):
        found = Document(media_type=PDF, url=url)
    else:
        return None
    return replace(found, name=get_str(block, "title"), context=get_str(block, "context"), cited=is_cited(block))


def is_cited(document: Mapping[str, Any]) -> bool:
    """Whether the answer is to cite a document."""
    citations = document.get("citations")
    return isinstance(citations, Mapping) and citations.get("enabled") is True


def _of_file(name: str, data: str) -> Document | None:
    """The document of a file: in a `data:` URL, in base64, or at a URL; what tells of no type is a PDF."""
    head, comma, body = data.partition(";base64,")
    by_name = find_document_type(name) if "." in name else PDF
    if data.startswith(("http://", "https://")):
        path = _BEHIND_PATH.split(data, maxsplit=1)[0]
        found = Document(media_type=find_document_type(path) or by_name or PDF, url=data)
    elif data.startswith("data:"):
        found = Document(body, head.removeprefix("data:").partition(";")[0] or by_name) if comma else Document()
    else:
        found = Document(data, by_name)
    known = found.media_type in DOCUMENT_ENDINGS and (found.data or found.url)
    return replace(found, name=read_filename(name)) if known else None


def _of_resource(block: Mapping[str, Any]) -> Document | None:
    kind, text = get_str(block, "resource", "mimeType"), get_str(block, "resource", "text")
    name = get_str(block, "resource", "uri")
    if text and not kind.startswith("image/"):
        found = make_text_document(text, kind if kind.startswith("text/") else PLAIN_TEXT)
        return Document(found.data, found.media_type, name=name)
    blob = get_str(block, "resource", "blob")
    return Document(blob, kind, name=name) if blob and kind in DOCUMENT_ENDINGS else None


TEXTS = ("text", "input_text", "output_text")

VisiblePart: TypeAlias = Text | Image | Document


def join_text(parts: Iterable[VisiblePart]) -> str:
    """One text for texts, pictures and documents."""
    told = replace_on_lines([*parts], lambda part: describe_document(part) if isinstance(part, Document) else None)
    return "".join(part.text if isinstance(part, Text) else describe_image(part) for part in told)


def describe_image(image: Image) -> str:
    """What stands for a picture where there can be none."""
    return f"[image: {image.url or image.media_type}]"


def read_blocks(content: Any) -> list[Part]:
    """The parts of a message's content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return [Text(content)] if content else []
    blocks = content if isinstance(content, (list, tuple)) else ()
    said = [block for block in blocks if block is not None]
    return [read_block(block) if isinstance(block, Mapping) else Text(write_value(block)) for block in said]


def read_block(block: Mapping[str, Any]) -> Part:
    """One block of a content: text, a picture, a document, or something that only its provider knows."""
    kind = get_str(block, "type")
    if kind in TEXTS and isinstance(block.get("text"), str):
        return Text(block["text"])
    if kind == "refusal" and isinstance(block.get("refusal"), str):
        return Text(block["refusal"])
    return _image(kind, block) or read_document(kind, block) or Item(kind, dict(block))


def _image(kind: str, block: Mapping[str, Any]) -> Image | None:
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


def replace_on_lines(parts: Sequence[Any], told: Callable[[Any], str | None]) -> list[Any]:
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


def write_block(part: VisiblePart) -> dict[str, Any]:
    """The block that shows a part in a result, in the words that `read_block` reads."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Document):
        return write_document_block(part)
    if part.url:
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    return {"type": "image", "data": part.data, "mimeType": part.media_type}
