"""Parts of a content, in Gemini's words: text, thought, pictures, documents, and what the server itself did.

https://ai.google.dev/api/caching#Part, https://ai.google.dev/gemini-api/docs/thought-signatures

A signature goes back on the very part that it came with, which is the part before it; a part of an empty text may hold
nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from streamparse.writing.content import Shown
from streamparse.writing.documents import FORMATS
from streamparse.writing.json_access import mappings, present, string
from streamparse.writing.parts import SIGNATURE, Document, Image, Item, Part, Text, Thought

Written: TypeAlias = dict[str, Any]

OURS: Final = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse", "inlineData", "fileData")
"""Parts that no other provider has, or that are no text, picture or document."""
SIGNING_MODELS: Final = re.compile(r"(?:models/)?gemini-(?![12]\b)")
"""The models that want signatures back: Gemini from its third version on; some names, as `-latest`, tell no version."""
NO_SIGNATURE: Final = "skip_thought_signature_validator"
"""The signature for calls that another model made; see the questions at the end of Google's page."""
_BLOBS: Final = ("inline_data", "file_data", "inlineData", "fileData")
_OF_A_BLOB: Final = ("mimeType", "data", "fileUri")
_OF_A_PART: Final = ("text", "thought", "thoughtSignature", "functionCall", "functionResponse", *OURS)
_OF_A_CALL: Final = {
    "functionCall": ("id", "name", "args"),
    "functionResponse": ("id", "name", "response", "parts"),
}


def write_part(part: Shown) -> Written:
    """Write a text, a picture or a document as a part."""
    if isinstance(part, Text):
        return {"text": part.text}
    if part.url:
        return {"fileData": {**present(mimeType=part.media_type), "fileUri": part.url}}
    return {"inlineData": {"mimeType": part.media_type, "data": part.data}}


def read_part(part: Mapping[str, Any]) -> Part | None:
    """Read text, thought, a picture, a document, or something that only Gemini knows; None if it says nothing."""
    if isinstance(part.get("text"), str):
        text = part["text"]
        said = text or string(part, "thoughtSignature")
        return None if not said else Thought(text) if part.get("thought") is True else Text(text)
    found = _read_blob(part)
    return found or next((Item(kind, part[kind]) for kind in OURS if kind in part), None)


def _read_blob(part: Mapping[str, Any]) -> Image | Document | None:
    """A picture, or a document; a file that does not say what it is, is taken for a picture."""
    place = "inlineData" if "inlineData" in part else "fileData"
    kind, data, url = (string(part, place, key) for key in ("mimeType", "data", "fileUri"))
    if kind.startswith("image/") or (url and not kind):
        return Image(data, kind, url)
    if kind in FORMATS and (data or url):
        return Document(data, kind, url, string(part, place, "displayName"))
    return None


def get_result_parts(response: Mapping[str, Any]) -> list[Written]:
    """Return what a result shows besides its value."""
    return [spell_part(part) for part in mappings(response.get("parts"))]


def list_unread(part: Mapping[str, Any]) -> Iterator[str]:
    """List the keys of a part that are not read, if they say anything."""
    yield from (key for key, value in part.items() if key not in _OF_A_PART and value)
    for kind, known in _OF_A_CALL.items():
        yield from (key for key, value in _get_fields(part, kind).items() if key not in known and value)
    yield from _list_unread_of_blob(part)
    for part_shown in get_result_parts(_get_fields(part, "functionResponse")):
        if isinstance(read_part(part_shown), Shown):
            yield from _list_unread_of_blob(part_shown)
        else:
            yield from part_shown


def _list_unread_of_blob(part: Mapping[str, Any]) -> Iterator[str]:
    """The same of a picture or of a document; what is neither is kept whole."""
    found = _read_blob(part)
    known = (*_OF_A_BLOB, "displayName") if isinstance(found, Document) else _OF_A_BLOB
    for kind in ("inlineData", "fileData") if found is not None else ():
        yield from (key for key, value in _get_fields(part, kind).items() if key not in known and value)


def _get_fields(part: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Return the fields of a call, of a result or of a blob; nothing if the part is none."""
    fields = spell_fields(part.get(kind))
    return fields if isinstance(fields, Mapping) else {}


def spell_part(part: Mapping[str, Any]) -> Written:
    """Return a part with the names of the wire: Google's Python libraries write them with underscores."""
    return {_camel(key): spell_fields(value) if key in _BLOBS else value for key, value in part.items()}


def spell_fields(value: Any) -> Any:
    """Return an object with the names of the wire, one level deep; anything else as it is."""
    return {_camel(key): each for key, each in value.items()} if isinstance(value, Mapping) else value


def _camel(name: Any) -> str:
    return re.sub(r"(?<=[a-z])_([a-z])", lambda match: match[1].upper(), str(name))


def signature_of(item: Item) -> Any:
    """What signs a call or a part, as this API says it or as its server for OpenAI's words does; else nothing."""
    if item.kind == "extra_content":
        return string(item.data, "google", SIGNATURE)
    return item.data if item.kind == SIGNATURE else ""


def sign(parts: list[Written], signature: Any) -> None:
    """Put a signature that came with no call on the part before it, or else on an empty text."""
    last = parts[-1] if parts else {}
    if last.keys().isdisjoint(("text", *OURS)) or "thoughtSignature" in last:
        last = {"text": ""}
        parts.append(last)
    last["thoughtSignature"] = signature
