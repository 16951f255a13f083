"""The dialects that parsers know: the table's, and registered ones."""

from __future__ import annotations

from functools import partial
from typing import Final

from msgspec.structs import replace

from streamparse.dialects.engine.catalogue import Catalogue
from streamparse.dialects.engine.fences import make_fence
from streamparse.dialects.engine.grammar import UNNAMED, Dialect
from streamparse.dialects.table import DIALECTS, ENDINGS, OTHER_TURNS, OWN_ENDS, REASONING, THOUGHTS, TURN_ENDS
from streamparse.plugins import load, register_group

_GROUP: Final = "streamparse.dialects"

CATALOGUE: Final = Catalogue(
    DIALECTS, THOUGHTS, REASONING, ENDINGS, TURN_ENDS, OTHER_TURNS, load=partial(load, _GROUP), make_fence=make_fence,
    own_ends=OWN_ENDS,
)  # fmt: skip
"""What the parsers of this package are given.  A name that is not in it is looked for in installed distributions."""


def register_dialect(name: str, dialect: Dialect) -> None:
    """Add a dialect to `DIALECTS`: by its name, and for parsers made from now on with "auto".

    One that `dialect_from_template` made without a name takes this one.  Raises TypeError for what is not a `Dialect`,
    ValueError if its name is taken or another one, or if it has no openers, and the error of `regex` if `follows` is
    not a pattern.
    """
    if not isinstance(dialect, Dialect):
        raise TypeError(f"a dialect must be a Dialect, got {dialect!r}")
    if dialect.name == UNNAMED:
        dialect = replace(dialect, name=name)
    if dialect.name != name or not name:
        raise ValueError(f"the dialect {name!r} calls itself {dialect.name!r}")
    if name in CATALOGUE.dialects or name in ("auto", "all", "reasoning"):
        raise ValueError(f"there is a dialect {name!r} already")
    if not dialect.openers:
        raise ValueError(f"the dialect {name!r} has no openers")
    dialect.probe.fullmatch("")
    CATALOGUE.dialects[name] = dialect


register_group(_GROUP, register_dialect)
