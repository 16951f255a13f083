"""White space, and patterns that are compiled at their first use: most programs need few, and import stays light."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, AnyStr, Final, cast

if TYPE_CHECKING:
    import regex

__all__ = ["BLANKS", "lazy_partial", "lazy_re"]

BLANKS: Final = " \t\r\n"
"""White space as JSON has it (RFC 8259, section 2)."""


class _LazyPattern:
    """A pattern that is compiled when its first method is fetched; each method is fetched once."""

    def __init__(self, module: str, source: str | bytes, flags: int) -> None:
        self._wanted: tuple[str, Any, int] = (module, source, flags)

    def __getattr__(self, name: str) -> Any:
        module, source, flags = self._wanted
        if module == "re":
            value = getattr(re.compile(source, flags), name)
        else:
            import regex  # noqa: PLC0415 - a large module, which clean native streams do not need

            value = getattr(regex.compile(source, flags), name)
        setattr(self, name, value)  # so that the next use costs what it costs of a compiled pattern
        return value


def lazy_re(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern of the standard library's engine, compiled at its first use."""
    return cast("re.Pattern[AnyStr]", _LazyPattern("re", source, flags))


@lru_cache(maxsize=1024)
def lazy_partial(source: str, flags: int = 0) -> regex.Pattern[str]:
    """Return a pattern of the `regex` engine, which can match in part ("need more"); its length must be bounded.

    It is compiled at its first use, and kept for the next one who asks.
    """
    return cast("regex.Pattern[str]", _LazyPattern("regex", source, flags))
