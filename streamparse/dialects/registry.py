"""Dialects of one's own, beside those of the table."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from streamparse.dialects.engine.grammar import Dialect
from streamparse.dialects.table import DIALECTS
from streamparse.dialects.template import UNNAMED
from streamparse.plugins import load, register_group

__all__ = ["find_dialect", "register_dialect"]

_GROUP: Final = "streamparse.dialects"


def register_dialect(name: str, dialect: Dialect) -> None:
    """Add a dialect to `DIALECTS`: by its name, and for parsers made from now on with "auto".

    One that `dialect_from_template` made without a name takes this one.  Raises TypeError for what is no dialect,
    ValueError if its name is taken or another one, or if it has no openers, and the error of `regex` if `follows` is no
    pattern.
    """
    if not isinstance(dialect, Dialect):
        raise TypeError(f"a dialect must be a Dialect, got {dialect!r}")
    if dialect.name == UNNAMED:
        dialect = replace(dialect, name=name)
    if dialect.name != name or not name:
        raise ValueError(f"the dialect {name!r} calls itself {dialect.name!r}")
    if name in DIALECTS or name in ("auto", "all", "reasoning"):
        raise ValueError(f"there is a dialect {name!r} already")
    if not dialect.openers:
        raise ValueError(f"the dialect {name!r} has no openers")
    dialect.probe.fullmatch("")
    DIALECTS[name] = dialect


def find_dialect(name: str) -> bool:
    """Whether an installed distribution offers a dialect of this name, which is now in `DIALECTS`."""
    return load(_GROUP, name)


register_group(_GROUP, register_dialect)
