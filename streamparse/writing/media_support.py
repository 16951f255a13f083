"""Which texts, pictures and documents a provider takes; what it refuses makes it refuse the whole request.

A text of blanks alone is left out, a picture that is refused becomes a word in its place, and a document its text, or
a word; all are told.

https://docs.anthropic.com/en/docs/build-with-claude/vision, and for its texts
https://github.com/BerriAI/litellm/issues/3286, https://github.com/anthropics/claude-code/issues/23369;
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageBlock.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.writing.content import note, on_lines, shown
from streamparse.writing.documents import FORMATS, as_text
from streamparse.writing.parts import Document, Image, Text, Turn

__all__ = ["ALL", "FAILED", "Visible", "media_type"]

FAILED: Final = "The tool failed and did not say why."
"""What stands for an error without words, where such are refused."""

_FIELDS: Final = ("name", "context", "cited")
_BEGINNINGS: Final = {"/9j/": "image/jpeg", "iVBORw": "image/png", "R0lGOD": "image/gif", "UklGR": "image/webp"}
_USUAL: Final = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}

Part = TypeVar("Part")


def media_type(data: str) -> str:
    """The media type of a picture in base64, as its first characters tell it; that of PNG if they tell none."""
    return next((kind for beginning, kind in _BEGINNINGS.items() if data.startswith(beginning)), "image/png")


class Visible(msgspec.Struct, frozen=True):
    """The texts, pictures and documents that a provider takes.

    `blanks` says whether a text may be of blanks alone, `urls` whether a picture may be at a URL, and `kinds` of which
    media types one may be; of any if none is named.  `documents` are the media types of these, `document_urls` says
    whether they may be at a URL, and `said` which of their fields have a place.
    """

    blanks: bool = True
    urls: bool = True
    kinds: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset(FORMATS)
    document_urls: bool = True
    said: frozenset[str] = frozenset(_FIELDS)

    def fit(self, parts: Iterable[Part]) -> list[Part | Text | Image | Document]:
        """The parts without what is refused."""
        told = on_lines([*parts], lambda part: self._told(part) if isinstance(part, Document) else None)
        fitting = [self._image(part) if isinstance(part, Image) else part for part in told]
        return [part for part in fitting if self.blanks or not isinstance(part, Text) or part.text.strip()]

    def error(self, text: str) -> str:
        """The text of an error."""
        return text if self.blanks or text.strip() else FAILED

    def refused(self, turn: Turn, place: str) -> Iterator[Loss]:
        """Tell what of a user's turn is left out, or written in another way."""
        for part in turn.parts:
            if isinstance(part, Text) and not self.blanks and not part.text.strip():
                yield Loss(place, "", "text", "dropped: a text of blanks alone is refused")
        for result in turn.results:
            if result.error is not None and self.error(result.error) != result.error:
                yield Loss(place, "", "error", f"set to {FAILED!r}: an error must have words")
            elif result.error is None and result.result and not self.fit(shown(result)):
                yield Loss(place, "", "result", "dropped: a text of blanks alone is refused")
        for part in (*turn.parts, *(part for each in turn.results for part in shown(each))):
            yield from self._media_refused(part, place)

    def _media_refused(self, part: object, place: str) -> Iterator[Loss]:
        if not isinstance(part, (Image, Document)):
            return
        kind = type(part).__name__.lower()
        refused = self._told(part) is not None if isinstance(part, Document) else isinstance(self._image(part), Text)
        if refused:
            yield Loss(place, "", kind, f"written as text: {part.url or part.media_type} is refused")
        elif isinstance(part, Document):
            unsaid = [name for name in _FIELDS if getattr(part, name) and name not in self.said]
            yield from (Loss(place, "", name, "dropped: a document has none here") for name in unsaid)

    def _image(self, image: Image) -> Text | Image:
        if image.url:
            return image if self.urls else Text(note(image))
        kind = image.media_type.lower() or media_type(image.data)
        kind = _USUAL.get(kind, kind)
        return replace(image, media_type=kind) if not self.kinds or kind in self.kinds else Text(note(image))

    def _told(self, document: Document) -> str | None:
        """What stands for a document that is refused; None for one that is taken."""
        taken = document.media_type in self.documents and (self.document_urls or not document.url)
        return None if taken else as_text(document)


ALL: Final = Visible()
