"""What reading a JSON text gives: a value and its repairs, or an error with a code and a place."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

__all__ = ["JSONError", "Mode", "Reading"]

Mode: TypeAlias = Literal["strict", "lenient", "heal"]
"""How much a reader accepts."""


class JSONError(ValueError):
    """The text is not one JSON value, or breaks a limit.

    `code` is one of `streamparse.errors.CODES`; `offset` counts the bytes (of text: as UTF-8) before the first
    one that is wrong.
    """

    def __init__(self, code: str, message: str, offset: int) -> None:
        super().__init__(f"{message} (at byte {offset})")
        self.code = code
        self.message = message
        self.offset = offset


class Reading(msgspec.Struct, frozen=True):
    """A value, and the names of the repairs that reading it took, in order of appearance."""

    value: Any
    repairs: tuple[str, ...] = ()
