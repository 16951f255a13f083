"""The formats of texts that are checked: those that the standard library knows, and that leave no doubt.

JSON Schema leaves it open whether a `format` binds.  Here it does: who wrote it into a tool's schema wants a text of
that kind, and "tomorrow" for a date would only fail later.  Where people and libraries differ more is accepted than
RFC 3339 has: a blank for the `T`, and no time zone.  Formats that are not listed are not checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Final
from uuid import UUID

__all__ = ["FORMATS", "check_format"]

_DATE: Final = r"\d{4}-\d\d-\d\d"
_TIME: Final = r"\d\d:\d\d.*"
_LEAP: Final = re.compile(r"(?<=:\d\d):60")
"""The second that a year may end with, which Python's clock does not know."""


def _like(shape: str, read: Callable[[str], object]) -> Callable[[str], bool]:
    """What a text of this shape must be readable by, without ValueError."""
    pattern = re.compile(shape, re.ASCII)
    return lambda text: pattern.fullmatch(text) is not None and read(text.upper()) is not None


def _leaping(read: Callable[[str], object]) -> Callable[[str], object]:
    return lambda text: read(_LEAP.sub(":59", text))


FORMATS: Final[dict[str, Callable[[str], bool]]] = {
    "date": _like(_DATE, date.fromisoformat),
    "date-time": _like(f"{_DATE}[Tt ]{_TIME}", _leaping(datetime.fromisoformat)),
    "time": _like(_TIME, _leaping(time.fromisoformat)),
    "email": _like(r"[^\s@]+@[^\s@]+", str),
    "ipv4": _like(r"[0-9.]+", IPv4Address),
    "ipv6": _like(r"[0-9A-Fa-f:.]+", IPv6Address),
    "uuid": _like(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", UUID),
}
"""What says of a text whether it has the format, or raises ValueError if it has not."""


def check_format(fits: Callable[[str], bool]) -> Callable[[Any], bool]:
    """Return what says of any value whether it has a format, as jsonschema-rs takes it."""

    def check(value: Any) -> bool:
        try:
            return not isinstance(value, str) or fits(value)
        except ValueError:
            return False

    return check
