"""Which names and ids a provider takes.

A declared name that a provider refuses is told and kept: only the one who declared the tool can rename it.  A name that
a model made up may stand in a history all the same, and is made fit there.  An id is ours to
change, for it only ties a result to its call: one that a provider refuses is replaced by another that depends on
nothing but the id itself, so that call and result still agree, in this process and in the next.
"""

from __future__ import annotations

import re
from hashlib import sha256

import msgspec

from streamparse.loss import Loss

__all__ = ["ANY", "NO_NAME", "Ids", "Names"]

NO_NAME = "unnamed"
"""What stands for the name of a tool that the model left out."""

_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")
_NO_WORD = re.compile(r"[^a-zA-Z0-9_]")
_LONGEST_NAME = 64
_DIGITS = 8


class Names(msgspec.Struct, frozen=True):
    """The names of tools that a provider takes: those that the pattern matches whole."""

    pattern: str = r"(?s).+"

    def check(self, name: str, lost: list[Loss]) -> None:
        """Tell of a name that the provider refuses."""
        if re.fullmatch(self.pattern, name) is None:
            done = f"kept, but refused: a name must match {self.pattern}"
            lost.append(Loss(name, "", "name", done, warning=True))

    def fit(self, name: str) -> str:
        """The name itself if the provider takes it, else one like it that it takes."""
        if re.fullmatch(self.pattern, name):
            return name
        kept = _REFUSED.sub("_", name)[:_LONGEST_NAME] or NO_NAME
        if re.fullmatch(self.pattern, kept):
            return kept
        return f"{NO_NAME}_{_NO_WORD.sub('_', kept)}"[:_LONGEST_NAME]  # some take no digit or dash first


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
