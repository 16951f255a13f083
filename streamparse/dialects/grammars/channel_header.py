"""The header of a message in channels: whom it is for, and so where its body goes.

    <|start|>assistant<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>

The recipient may stand in either part, and models garble the rest, so a header is any short text before
`<|message|>`; before arguments even that may be lost.
"""

from __future__ import annotations

from typing import NamedTuple

from streamparse.patterns import gradual

__all__ = ["HEADER", "Header", "names_tool", "read_header"]

_WITHIN = r"(?:[^<{\n]|<(?!\|(?:start|message|call|end|return|eom|eot)\|>))"
_TO_BEGIN = r" ?to=[^\s<{]{1,128}+(?: \w{1,16})? ?(?:<\||\{)"
_BEGIN = rf"(?=<\||{_TO_BEGIN}|(?:analysis|commentary|final)(?:<\|| to=))"
"""Where a header begins without a marker, one must follow soon: a text that begins with such words is not held back."""
_MARKED = rf"(?P<header>{_WITHIN}{{0,256}}?)<\|message\|>"
_UNMARKED = rf"(?P<header>{_WITHIN}{{0,128}}?to=[^\s<{{]{{1,256}}+{_WITHIN}{{0,64}}?)(?=\{{)"
HEADER = rf"(?:{_BEGIN}(?:<\|start\|>){{0,2}}{_MARKED}|(?=<\|)(?:<\|start\|>){{0,2}}{_UNMARKED})"
"""The header of a message; where arguments follow, its end may be lost."""
_TO = gradual(r"to=(?P<recipient>[^\s<]{1,256})")
_CHANNEL = gradual(r"<\|channel\|>\W*(?P<channel>\w*)")
_SELF = frozenset({"self", "assistant"})
_AUDIENCE = frozenset({"user", "commentary", "all", "developer", "system"})


class Header(NamedTuple):
    """What a header says; None for what it does not."""

    recipient: str | None
    channel: str | None

    @property
    def muses(self) -> bool:
        """Whether the message is thought: what a model says to itself, some write `to=assistant`."""
        return self.recipient in _SELF or (self.recipient is None and self.channel == "analysis")

    @property
    def calls(self) -> bool:
        """Whether the message is sent to a tool."""
        return self.recipient is not None and self.recipient not in (_SELF | _AUDIENCE)


def read_header(text: str, last: Header) -> Header:
    """Return what a header says; one that says nothing goes on in the vein of the last."""
    recipient, channels = _TO.search(text), _CHANNEL.findall(text)
    if recipient is None and not channels:
        return last if last.muses else Header(None, None)
    return Header(recipient and recipient["recipient"], channels[-1] if channels else None)


def names_tool(cut: str) -> bool:
    """Whether a header that the end of the text cut was sent to a tool, as far as it came."""
    found = _TO.search(cut)
    return found is not None and not any(word.startswith(found["recipient"]) for word in (*_AUDIENCE, *_SELF))
