"""What a translation could not keep: told, never dropped in silence."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Loss", "Translation"]


class Loss(msgspec.Struct, frozen=True):
    """One thing that the target cannot say, or refuses.

    `place` is the tool's name, or where in the request it stood; `path` a JSON pointer into the tool's schema;
    `keyword` what is concerned; `done` what became of it.  A `warning` loses nothing by itself: what it
    is about is sent, and may be refused.
    """

    place: str
    path: str
    keyword: str
    done: str
    warning: bool = False


class Translation(msgspec.Struct, frozen=True):
    """What came out of a translation, and what did not.

    `result` is the target's own: definitions of tools, messages, or a whole request.
    """

    result: Any
    lost: list[Loss]

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """The result of `translate_tools`."""
        found: list[dict[str, Any]] = self.result
        return found
