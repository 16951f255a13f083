"""What a conversation is made of, in nobody's words: turns of parts.

Results of tools are parts of the user's turn.  What only one provider knows (signatures, encrypted thought, calls that
the server itself ran) is an `Item`, named and shaped as the wires tell it, so that a provider's own come back to it
unchanged and another's are left out.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from streamparse.events import ProviderItem, ReasoningDelta
from streamparse.response import AnswerPart, ParsedResponse, ToolCall, parts_of
from streamparse.tools import ToolResult

__all__ = ["Image", "Item", "Part", "Role", "Text", "Thought", "Turn", "pieces", "role_of"]

Role: TypeAlias = Literal["system", "user", "assistant"]

_ROLES: dict[str, Role] = {
    "assistant": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
}


def role_of(word: str) -> Role:
    """The role that a provider's word means; any other word is the user's."""
    return _ROLES.get(word, "user")


class Text(msgspec.Struct, frozen=True):
    """Visible text."""

    text: str


class Thought(msgspec.Struct, frozen=True):
    """A piece of thought, or of its summary."""

    text: str


class Image(msgspec.Struct, frozen=True):
    """A picture: base64 `data` of a media type, or a `url`."""

    data: str = ""
    media_type: str = ""
    url: str = ""

    @property
    def address(self) -> str:
        """The URL, or a `data:` URL of the picture itself."""
        return self.url or f"data:{self.media_type};base64,{self.data}"

    @classmethod
    def at(cls, address: str) -> Image:
        """The picture at a URL, which a `data:` URL holds itself."""
        head, comma, data = address.partition(";base64,")
        return cls(data, head.removeprefix("data:")) if comma and head.startswith("data:") else cls(url=address)


class Item(msgspec.Struct, frozen=True):
    """Something that only its own provider knows; `index` is that of the call it belongs to, if to any."""

    kind: str
    data: Any
    index: int | None = None


Part: TypeAlias = Text | Thought | Image | Item | ToolCall | ToolResult


class Turn(msgspec.Struct, frozen=True):
    """What one side says before the other does."""

    role: Role
    parts: list[Part]

    @property
    def calls(self) -> list[ToolCall]:
        """The calls among the parts."""
        return [part for part in self.parts if isinstance(part, ToolCall)]

    @property
    def results(self) -> list[ToolResult]:
        """The results of calls among the parts."""
        return [part for part in self.parts if isinstance(part, ToolResult)]

    @property
    def text(self) -> str:
        """The visible text of all parts."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def thought(self) -> str:
        """The thought of all parts."""
        return "".join(part.text for part in self.parts if isinstance(part, Thought))

    @property
    def images(self) -> list[Image]:
        """The pictures among the parts."""
        return [part for part in self.parts if isinstance(part, Image)]


def pieces(response: ParsedResponse) -> list[Part]:
    """The parts of an answer in the order in which they came (`parts_of`); a refusal is text."""
    return [_piece(part) for part in parts_of(response)]


def _piece(part: AnswerPart) -> Part:
    match part:
        case ReasoningDelta():
            return Thought(part.text)
        case ProviderItem():
            return Item(part.kind, part.data, part.index)
        case ToolCall():
            return part
        case _:
            return Text(part.text)
