"""What a translation could not keep.  It is reported, never dropped in silence."""

from __future__ import annotations

from typing import Any, Final

import msgspec

__all__ = ["MAX_SHOWN", "Loss", "Translation"]

MAX_SHOWN: Final = 80  # bound: the length of a message
"""Characters of a name or a broken text that an outcome repeats."""


class Loss(msgspec.Struct, frozen=True):
    """One thing that the target cannot say, or refuses.

    `place` is the tool's name, or the place in the request; `path` a JSON pointer into the tool's schema; `keyword` the
    thing that is lost; `outcome` what became of it, in words.  A `warning` loses nothing by itself: what it is about is
    sent, and may be refused.
    """

    place: str
    path: str
    keyword: str
    outcome: str
    warning: bool = False


class Translation(msgspec.Struct, frozen=True):
    """The result of a translation, and its losses.

    `result` is in the target's own words: definitions of tools, messages, or a whole request.
    """

    result: Any
    lost: list[Loss]

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """The result, where it is a list of tool definitions (`translate_tools`)."""
        found: list[dict[str, Any]] = self.result
        return found
