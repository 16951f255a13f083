"""What a conversation is made of, in no provider's words: messages of parts.

Results of tools are parts of the user's message.  What only one provider knows (signatures, encrypted thought, calls
that the server itself ran) is an `Item`, named and shaped as the wires report it, so that a provider's own come back to
it unchanged and another's are left out.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, TypeGuard

import msgspec
from msgspec.structs import force_setattr

from streamparse.response import ToolCall
from streamparse.tools import ToolResult

Role: TypeAlias = Literal["system", "user", "assistant"]

_ROLES: dict[str, Role] = {"assistant": "assistant", "model": "assistant", "system": "system", "developer": "system"}


def read_role(word: str) -> Role:
    """Return the role that a provider's word means; any other word is the user's."""
    return _ROLES.get(word, "user")


_MAGIC: Final = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"BM", "image/bmp"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftypheic", "image/heic"),
    (0, b"%PDF-", "application/pdf"),
)
"""The bytes by which files of a media type are known, and where in the file they are."""


def _find_media_type(data: bytes) -> str:
    """Return the media type of a file; "" if neither magic bytes nor plain text show it."""
    for start, magic, kind in _MAGIC:
        if data.startswith(magic, start):
            return kind
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ""
    return "text/plain" if text and "\0" not in text else ""


class Text(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    """Visible text."""

    text: str


class Thought(msgspec.Struct, frozen=True):
    """A piece of thought, or of its summary."""

    text: str


class _File(msgspec.Struct, frozen=True):
    """What an image and a document have in common."""

    data: str = ""
    media_type: str = ""
    url: str = ""

    _is_picture: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Make base64 of data that was given as bytes, and find its media type if that was not given."""
        data: Any = self.data
        if not isinstance(data, (bytes, bytearray, memoryview)):
            return
        kind = self.media_type or _find_media_type(bytes(data))
        if not kind or self._is_picture != kind.startswith("image/"):
            found = kind or "no media type that is known"
            wanted = "a picture" if self._is_picture else "a document"
            raise ValueError(f"the bytes of {wanted} show {found}: give its media_type")
        force_setattr(self, "media_type", kind)
        force_setattr(self, "data", b64encode(data).decode())

    @property
    def address(self) -> str:
        """The URL, or a `data:` URL of the file itself."""
        return self.url or f"data:{self.media_type};base64,{self.data}"


class Image(_File, frozen=True, tag_field="type", tag="image"):
    """An image: bytes, or base64 `data` of a media type, or a `url`, of which the media type may be known, too.

    Bytes are kept as base64, and show their media type.  `detail` is how closely to look at the image; without it
    the server decides.
    Raises ValueError for bytes of no known kind of image, if no media type is given.
    """

    detail: str = ""

    _is_picture: ClassVar[bool] = True

    if TYPE_CHECKING:  # the field itself is always text

        def __init__(self, data: str | bytes = "", media_type: str = "", url: str = "", detail: str = "") -> None: ...

    @classmethod
    def at(cls, address: str, detail: str = "") -> Image:
        """Return the image at a URL; a `data:` URL is the image itself."""
        head, comma, data = address.partition(";base64,")
        if comma and head.startswith("data:"):
            return cls(data, head.removeprefix("data:"), detail=detail)
        return cls(url=address, detail=detail)


class Document(_File, frozen=True, tag_field="type", tag="document"):
    """A document: bytes, or base64 `data` of a media type, or a `url`; `name` is its title.

    Bytes are kept as base64; those of a PDF and of plain text show their media type.  `context` is said of the document
    next to it, and `cited` whether the answer is to cite it.
    Raises ValueError for bytes of another kind, if no media type is given.
    """

    name: str = ""
    context: str = ""
    cited: bool = False

    if TYPE_CHECKING:  # the field itself is always text

        def __init__(
            self,
            data: str | bytes = "",
            media_type: str = "",
            url: str = "",
            name: str = "",
            context: str = "",
            cited: bool = False,
        ) -> None: ...


class Item(msgspec.Struct, frozen=True):
    """Something that only its own provider knows; `index` names the call it belongs to, if any."""

    kind: str
    data: Any
    index: int | None = None

    @property
    def is_block(self) -> bool:
        """Whether it is a block with its kind as `type`, as Anthropic and OpenAI have it, and Bedrock has not."""
        return isinstance(self.data, Mapping) and self.data.get("type") == self.kind


Part: TypeAlias = Text | Thought | Image | Document | Item | ToolCall | ToolResult


def is_item(part: Part | None, *kinds: str) -> TypeGuard[Item]:
    """Whether a part is an item of one of these kinds."""
    return isinstance(part, Item) and part.kind in kinds


class Message(msgspec.Struct, frozen=True):
    """The words of one side before the other speaks; `name` is the speaker's, where a role has several."""

    role: Role
    parts: list[Part]
    name: str = ""

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

    @property
    def documents(self) -> list[Document]:
        """The documents among the parts."""
        return [part for part in self.parts if isinstance(part, Document)]


CITATION: Final = "citations_delta"
TEXT_BORDER: Final = "content_block_start"
"""The item between two texts that follow each other."""
SIGNATURE: Final = "thought_signature"
"""At Gemini, the item that signs the part directly before it, or the call of its index."""
