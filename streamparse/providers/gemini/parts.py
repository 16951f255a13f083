"""Parts of a content, in Gemini's words: text, thought, images, documents, and what the server itself did.

https://ai.google.dev/api/caching#Part, https://ai.google.dev/gemini-api/docs/thought-signatures

A signature goes back on the very part that it came with, which is the part before it; a part of an empty text may hold
nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from streamparse.providers.gemini.facts import OWN_PARTS, PART_KEYS
from streamparse.providers.gemini.sdk_dump import to_camel_case
from streamparse.writing.content import DOCUMENT_ENDINGS, VisiblePart
from streamparse.writing.json_access import drop_empty, get_object, get_objects, get_str
from streamparse.writing.parts import SIGNATURE, Document, Image, Item, Part, Text, Thought

PartObject: TypeAlias = dict[str, Any]

_BLOBS: Final = ("inlineData", "fileData")
_BLOB_KEYS: Final = ("mimeType", "data", "fileUri")
_CALL_KEYS: Final = {"functionCall": ("id", "name", "args"), "functionResponse": ("id", "name", "response", "parts")}


def write_part(part: VisiblePart) -> PartObject:
    """Write a text, an image or a document as a part."""
    if isinstance(part, Text):
        return {"text": part.text}
    if part.url:
        return {"fileData": {**drop_empty(mimeType=part.media_type), "fileUri": part.url}}
    return {"inlineData": {"mimeType": part.media_type, "data": part.data}}


def read_part(part: Mapping[str, Any]) -> Part | None:
    """Read text, thought, an image, a document, or something that only Gemini knows; None if it says nothing."""
    if isinstance(text := part.get("text"), str):
        if not text and not get_str(part, "thoughtSignature"):
            return None
        return Thought(text) if part.get("thought") is True else Text(text)
    return _read_blob(part) or next((Item(kind, part[kind]) for kind in OWN_PARTS if kind in part), None)


def _read_blob(part: Mapping[str, Any]) -> Image | Document | None:
    """Read an image or a document; a file without a type is taken for an image."""
    place = "inlineData" if "inlineData" in part else "fileData"
    kind, data, url = (get_str(part, place, key) for key in _BLOB_KEYS)
    if kind.startswith("image/") or (url and not kind):
        return Image(data, kind, url)
    if kind in DOCUMENT_ENDINGS and (data or url):
        return Document(data, kind, url, get_str(part, place, "displayName"))
    return None


def get_result_parts(response: Mapping[str, Any]) -> list[PartObject]:
    """Return what a result shows besides its value."""
    return [to_camel_part(part) for part in get_objects(response.get("parts"))]


def list_unread_keys(part: Mapping[str, Any]) -> Iterator[str]:
    """List the keys of a part that are not read, if they say anything."""
    yield from _list_others(part, PART_KEYS)
    for kind, known in _CALL_KEYS.items():
        yield from _list_others(_get_fields(part, kind), known)
    yield from _list_unread_of_blob(part)
    for shown in get_result_parts(_get_fields(part, "functionResponse")):
        yield from _list_unread_of_blob(shown) if isinstance(read_part(shown), VisiblePart) else shown


def _list_unread_of_blob(part: Mapping[str, Any]) -> Iterator[str]:
    found = _read_blob(part)
    known = (*_BLOB_KEYS, "displayName") if isinstance(found, Document) else _BLOB_KEYS
    for kind in _BLOBS if found is not None else ():  # what is neither is kept whole
        yield from _list_others(_get_fields(part, kind), known)


def _list_others(fields: Mapping[str, Any], known: tuple[str, ...]) -> Iterator[str]:
    return (key for key, value in fields.items() if key not in known and value)


def _get_fields(part: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Return the fields of a call, of a result or of a blob; nothing if the part is something else."""
    return to_camel_keys(get_object(part, kind))


def to_camel_part(part: Mapping[str, Any]) -> PartObject:
    """Return a part with the names of the wire: Google's Python libraries write them with underscores."""
    camel = to_camel_keys(part)
    return camel | {kind: to_camel_keys(camel[kind]) for kind in _BLOBS if isinstance(camel.get(kind), Mapping)}


def to_camel_keys(fields: Mapping[str, Any]) -> PartObject:
    """Return an object with the names of the wire, one level deep."""
    return {to_camel_case(str(key)): each for key, each in fields.items()}


def get_signature(item: Item) -> Any:
    """Return what signs a call or a part, in this API's words or in those of chat servers; else nothing."""
    if item.kind == "extra_content":
        return get_str(item.data, "google", SIGNATURE)
    if item.kind == "provider_specific_fields":  # LiteLLM
        return get_str(item.data, SIGNATURE)
    return item.data if item.kind == SIGNATURE else ""


def add_signature(parts: list[PartObject], signature: Any) -> None:
    """Put a signature that came with no call on the part before it, or else on an empty text."""
    last = parts[-1] if parts else {}
    if last.keys().isdisjoint(("text", *OWN_PARTS)) or "thoughtSignature" in last:
        last = {"text": ""}
        parts.append(last)
    last["thoughtSignature"] = signature
