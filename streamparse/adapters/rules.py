"""Which names and ids a provider takes.

A name that a provider refuses is told and kept: only the one who declared the tool can rename it.  An id is ours to
change, for it only ties a result to its call: one that a provider refuses is replaced by another that depends on
nothing but the id itself, so that call and result still agree, in this process and in the next.
"""

from __future__ import annotations

import re
from hashlib import sha256

import msgspec

from streamparse.adapters.loss import Loss

__all__ = ["ANY", "Ids", "Names"]

_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")
_DIGITS = 8


class Names(msgspec.Struct, frozen=True):
    """The names of tools that a provider takes: those that the pattern matches whole."""

    pattern: str = r"(?s).+"

    def check(self, name: str, lost: list[Loss]) -> None:
        """Tell of a name that the provider refuses."""
        if re.fullmatch(self.pattern, name) is None:
            done = f"kept, but refused: a name must match {self.pattern}"
            lost.append(Loss(name, "", "name", done, warning=True))


class Ids(msgspec.Struct, frozen=True):
    """The ids of calls that a provider takes: those that the pattern matches whole, of at most so many characters."""

    pattern: str = r"(?s).*"
    most: int = 1 << 20

    def fit(self, id: str) -> str:
        """The id itself if the provider takes it, else one made of it."""
        if len(id) <= self.most and re.fullmatch(self.pattern, id):
            return id
        digest = sha256(id.encode("utf-8", "surrogatepass")).hexdigest()
        head = _REFUSED.sub("_", id)[: max(0, min(self.most, 64) - _DIGITS - 1)]
        return f"{head}_{digest[:_DIGITS]}" if head else digest[: min(self.most, 64)]


ANY = Ids()
