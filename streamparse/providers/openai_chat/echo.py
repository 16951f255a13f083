"""A thought that a chat server sends twice at once: in its own field, and between tags at the start of the content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

__all__ = ["Echo", "opens_thought"]

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
_MOST_AHEAD: Final = 4096
"""Characters that the content may be behind; a thought that comes much earlier is compared with nothing."""


def opens_thought(text: str) -> bool:
    """Whether the first content of an answer begins with the tag of a thought."""
    return text.lstrip().startswith(_OPEN)


class Echo:
    """Takes the content of an answer that begins with `<think>`, and tells what its own field has not told.

    Where the tag comes together with the first of the thought, neither the tags nor what is between them is told.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.active = True
        """Whether the content may still repeat the thought."""
        self._tell = tell
        self._ahead = ""  # what the field has told and the content has not repeated
        self._heard = False
        self._begun = False
        self._hides_tags = False

    def hear(self, thought: str) -> None:
        """A piece of the thought was told from its own field."""
        if self.active:
            self._heard = True
            self._ahead += thought if self._begun else thought.lstrip("\n")
            self.active = len(self._ahead) <= _MOST_AHEAD

    def text(self, text: str) -> None:
        """Take a piece of the content."""
        if not self.active:
            self._tell(text)
        elif not self._heard:  # the tag alone: its own field may tell the thought before the content goes on
            self._begun = True
            self.active = text.strip() in ("", _OPEN)
            self._tell(text)
        elif self._begun:
            self._compare(text)
        else:
            self._begun = self._hides_tags = True
            self._compare(text.lstrip().removeprefix(_OPEN).lstrip("\n"))

    def _compare(self, text: str) -> None:
        body, close, rest = text.partition(_CLOSE)
        repeated = next((each for each in (body, body.strip("\n")) if self._ahead.startswith(each)), None)
        if repeated is None:
            self.active = False
            self._tell(f"{_OPEN}{text}" if self._hides_tags else text)
            return
        self._ahead = self._ahead[len(repeated) :]
        if close:
            self.active = False
            rest = rest if self._hides_tags else close + rest
            if rest:
                self._tell(rest)
