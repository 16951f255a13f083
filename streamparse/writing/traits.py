"""What a provider takes: names of tools, ids of calls, texts, images and documents, and its other traits.

**Names and ids.**  A declared name that a provider refuses is reported and kept: only the author of the tool can rename
it.  A name that a model made up may still be in a history, and is replaced there.  An id may be changed, because it
only links a result to its call.  One that a provider refuses is replaced by another that depends on nothing but the
id itself, so that call and result still agree, in this process and in the next.

**Media.**  What a provider refuses makes it refuse the whole request.  A text of white space alone is left out, a
refused image becomes a word in its place, and a refused document its text, or a word.  Each of these is reported.

https://docs.anthropic.com/en/docs/build-with-claude/vision, and for its texts
https://github.com/BerriAI/litellm/issues/3286, https://github.com/anthropics/claude-code/issues/23369;
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageBlock.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from streamparse.findings import make_pointer
from streamparse.loss import Loss
from streamparse.schema.strict import SchemaIssue
from streamparse.writing.content import DOCUMENT_ENDINGS, describe_document, describe_image, replace_on_lines
from streamparse.writing.definitions import CustomTool
from streamparse.writing.json_access import Template, get_object
from streamparse.writing.parts import Document, Image, Message, Text
from streamparse.writing.results import show_result

NO_NAME = "unnamed"
"""The name of a tool where the model left it out."""

_REFUSED_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")
_NO_WORD = re.compile(r"[^a-zA-Z0-9_]")
_LONGEST_NAME = 64  # source: https://platform.openai.com/docs/api-reference/chat/create: 64 characters
_DIGITS = 8  # source: 32 bits: no two of some thousand ids collide


class NamePolicy(msgspec.Struct, frozen=True):
    """The names of tools that a provider takes: those that the whole pattern matches."""

    pattern: str = r"(?s).+"

    def check(self, name: str, lost: list[Loss]) -> None:
        """Report the name of a tool that the provider refuses."""
        if not self._is_taken(name):
            lost.append(Loss(name, "", "name", self._refusal, warning=True))

    def check_parameters(self, tool: str, schema: Mapping[str, Any], lost: list[Loss]) -> None:
        """Report the names of a tool's parameters that the provider refuses."""
        for name in map(str, get_object(schema, "properties")):
            if not self._is_taken(name):
                lost.append(Loss(tool, make_pointer(("properties", name)), "name", self._refusal, warning=True))

    @property
    def _refusal(self) -> str:
        return f"kept, but refused: a name must match {self.pattern}"

    def _is_taken(self, name: str) -> bool:
        return re.fullmatch(self.pattern, name) is not None

    def normalize(self, name: str) -> str:
        """The name itself if the provider takes it, else one like it that it takes."""
        for meant in (name, name.strip()):
            if self._is_taken(meant):
                return meant
        kept = _REFUSED_IN_IDS.sub("_", name.strip())[:_LONGEST_NAME] or NO_NAME
        if self._is_taken(kept):
            return kept
        return f"{NO_NAME}_{_NO_WORD.sub('_', kept)}"[:_LONGEST_NAME]  # some want no digit or dash first


ANY_NAME = NamePolicy(r"(?s).*")


class IdPolicy(msgspec.Struct, frozen=True):
    """The ids of calls that a provider takes: those that the whole pattern matches, of `max_length` at most."""

    pattern: str = r"(?s).*"
    max_length: int = 1 << 20

    def normalize(self, id: str) -> str:
        """The id itself if the provider takes it, else one made of it."""
        if len(id) <= self.max_length and re.fullmatch(self.pattern, id):
            return id
        digest = sha256(id.encode("utf-8", "surrogatepass")).hexdigest()
        head = _REFUSED_IN_IDS.sub("_", id)[: max(0, min(self.max_length, 64) - _DIGITS - 1)]
        return f"{head}_{digest[:_DIGITS]}" if head else digest[: min(self.max_length, 64)]


ANY_ID = IdPolicy()

DEFAULT_ERROR: Final = "The tool failed and did not say why."
"""The text of an error without words, where such are refused."""

_FIELDS: Final = ("name", "context", "cited")
_BEGINNINGS: Final = {"/9j/": "image/jpeg", "iVBORw": "image/png", "R0lGOD": "image/gif", "UklGR": "image/webp"}
_USUAL: Final = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}

Part = TypeVar("Part")


def guess_image_type(data: str) -> str:
    """Return the media type of an image in base64, by its first characters; PNG's if they show none."""
    return next((kind for beginning, kind in _BEGINNINGS.items() if data.startswith(beginning)), "image/png")


class MediaSupport(msgspec.Struct, frozen=True):
    """The texts, images and documents that a provider takes.

    `blank_texts`: a text may be white space alone.  `image_urls`, `document_urls`: one may be given by its URL.
    `image_types`: the media types of images; empty for any.  `document_types`: those of documents.
    `document_fields`: which fields of a document have a place.
    """

    blank_texts: bool = True
    image_urls: bool = True
    image_types: frozenset[str] = frozenset()
    document_types: frozenset[str] = frozenset(DOCUMENT_ENDINGS)
    document_urls: bool = True
    document_fields: frozenset[str] = frozenset(_FIELDS)

    def filter(self, parts: Iterable[Part]) -> list[Part | Text | Image | Document]:
        """Return the parts without the refused ones."""
        shown = replace_on_lines([*parts], lambda part: self._substitute(part) if isinstance(part, Document) else None)
        fitting = [self._adapt_image(part) if isinstance(part, Image) else part for part in shown]
        return [part for part in fitting if self.blank_texts or not isinstance(part, Text) or part.text.strip()]

    def fill_error(self, text: str) -> str:
        """Return the text of an error, with words where white space alone is refused."""
        return text if self.blank_texts or text.strip() else DEFAULT_ERROR

    def list_losses(self, message: Message, place: str) -> Iterator[Loss]:
        """List the parts of a user's message that are left out, or written in another way."""
        for part in message.parts:
            if isinstance(part, Text) and not self.blank_texts and not part.text.strip():
                yield Loss(place, "", "text", "dropped: a text of blanks alone is refused")
        for result in message.results:
            if result.error is not None and self.fill_error(result.error) != result.error:
                yield Loss(place, "", "error", f"set to {DEFAULT_ERROR!r}: an error must have words")
            elif result.error is None and result.result and not self.filter(show_result(result)):
                yield Loss(place, "", "result", "dropped: a text of blanks alone is refused")
        for part in (*message.parts, *(part for each in message.results for part in show_result(each))):
            yield from self._list_media_losses(part, place)

    def _list_media_losses(self, part: object, place: str) -> Iterator[Loss]:
        if not isinstance(part, (Image, Document)):
            return
        kind = type(part).__name__.lower()
        is_text = isinstance(part, Document) and self._substitute(part) is not None
        refused = is_text or (isinstance(part, Image) and isinstance(self._adapt_image(part), Text))
        if refused:
            yield Loss(place, "", kind, f"written as text: {part.url or part.media_type} is refused")
        elif isinstance(part, Document):
            unsaid = [name for name in _FIELDS if getattr(part, name) and name not in self.document_fields]
            yield from (Loss(place, "", name, "dropped: a document has none here") for name in unsaid)

    def _adapt_image(self, image: Image) -> Text | Image:
        if image.url:
            return image if self.image_urls else Text(describe_image(image))
        kind = image.media_type.lower() or guess_image_type(image.data)
        kind = _USUAL.get(kind, kind)
        is_taken = not self.image_types or kind in self.image_types
        return replace(image, media_type=kind) if is_taken else Text(describe_image(image))

    def _substitute(self, document: Document) -> str | None:
        """Return the text in place of a refused document; None for one that is taken."""
        taken = document.media_type in self.document_types and (self.document_urls or not document.url)
        return None if taken else describe_document(document)


ANY_MEDIA: Final = MediaSupport()


def is_no_server_tool(_tool: Mapping[str, Any]) -> bool:
    return False


class ProviderTraits(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider takes, and how its requests differ from others: one record for each.

    | trait | meaning |
    |---|---|
    | `family` | the name of the provider whose thoughts and items this one takes, too |
    | `dialect` | how its models write calls where the server does not read them |
    | `names`, `ids`, `media` | the names of tools, the ids of calls, and the media that it takes |
    | `parameter_names` | the names of a tool's parameters that it takes |
    | `separate_system` | the system prompt is not among the messages |
    | `assistant_images` | the assistant's message may hold images |
    | `message_names` | a message may name its speaker |
    | `image_detail` | an image may say how closely to look at it |
    | `separate_media` | a result holds its images and documents apart from its text |
    | `strict_schemas` | schemas can be enforced; they must pass the `schema_checks` |
    | `write_custom_tool` | writes the definition of a tool that takes text; None where there are no such tools |
    | `own_blocks` | kinds of blocks in a user's message that go on as they came |
    | `forbidden_root_keywords` | keywords that are refused at the root of a tool's schema |
    | `is_server_tool` | whether a tool's definition shows that the provider itself runs that tool |
    | `tool` | a tool's definition: a template of `name`, `description`, `schema` and `strict` |
    | `call` | a call in the assistant's message: a template of `id`, `name` and `arguments` |
    | `arguments_as_text` | the arguments of a call are the text of their JSON |
    """

    name: str
    tool: Template
    call: Template
    arguments_as_text: bool = False
    family: str = ""
    dialect: str = "hermes"
    names: NamePolicy = NamePolicy()
    parameter_names: NamePolicy = ANY_NAME
    ids: IdPolicy = ANY_ID
    media: MediaSupport = ANY_MEDIA
    separate_system: bool = False
    assistant_images: bool = False
    message_names: bool = False
    image_detail: bool = False
    separate_media: bool = False
    strict_schemas: bool = False
    schema_checks: tuple[Callable[[Any], Iterator[SchemaIssue]], ...] = ()
    write_custom_tool: Callable[[CustomTool], dict[str, Any]] | None = None
    own_blocks: tuple[str, ...] = ()
    forbidden_root_keywords: tuple[str, ...] = ()
    is_server_tool: Callable[[Mapping[str, Any]], bool] = is_no_server_tool
