"""What a call goes by, its name and its id: how long they may be, and what they may hold."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from streamparse.limits import Limits, most
from streamparse.tools import Toolset

__all__ = ["Names", "mint_ids", "shown"]

_LONGEST_SHOWN = 64 * 1024
_EXCERPT = 200


def mint_ids() -> Callable[[], str]:
    """Return a maker of ids for calls that came without one: `call_0`, `call_1`, ..."""
    numbers = count()
    return lambda: f"call_{next(numbers)}"


def shown(word: str) -> str:
    """Names and ids over every bound are cut in the event that announces them; an error follows it."""
    return word if len(word) <= _LONGEST_SHOWN else word[:_EXCERPT]


class Names:
    """Says which names and ids a call may have."""

    def __init__(self, tools: Toolset, limits: Limits) -> None:
        self._tools = tools
        self._max_name = most(limits.max_name)
        self._max_id = most(limits.max_id)

    def fault(self, name: str, id: str) -> tuple[str, str] | None:
        """Return code and message of what is wrong with a call's name or id; None if nothing is."""
        if len(name) > self._max_name:
            return "limit_name", f"a name of {len(name)} characters"
        if len(id) > self._max_id:
            return "limit_id", f"an id of {len(id)} characters"
        if not name.isprintable() and name not in self._tools and _deceives(name):
            return "name_characters", f"the name {name!r} holds characters that nobody sees"
        return None


def _deceives(name: str) -> bool:
    """Whether a name holds what nobody sees: control characters, and those of format, which turn the direction."""
    from unicodedata import category  # noqa: PLC0415 - hardly any name needs it

    return any(category(character) in ("Cc", "Cf") for character in name)
