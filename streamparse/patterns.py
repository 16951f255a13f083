"""Patterns that are compiled when they are first used: most programs meet few of them, and import stays light."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, AnyStr, cast

if TYPE_CHECKING:
    import regex

__all__ = ["gradual", "plain"]


class _Later:
    """Stands for a compiled pattern; each method is fetched once."""

    def __init__(self, module: str, source: str | bytes, flags: int) -> None:
        self._wanted: tuple[str, Any, int] = (module, source, flags)

    def __getattr__(self, name: str) -> Any:
        module, source, flags = self._wanted
        if module == "re":
            value = getattr(re.compile(source, flags), name)
        else:
            import regex  # noqa: PLC0415 - a large module, which clean native streams do not need

            value = getattr(regex.compile(source, flags), name)
        setattr(self, name, value)
        return value


def plain(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern of the standard library's engine."""
    return cast("re.Pattern[AnyStr]", _Later("re", source, flags))


def gradual(source: str, flags: int = 0) -> regex.Pattern[str]:
    """A pattern of the `regex` engine, whose matching can say "need more"; its length must be bounded."""
    return cast("regex.Pattern[str]", _Later("regex", source, flags))
