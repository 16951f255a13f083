"""What a call goes by, its name and its id: how long they may be, and what they may hold."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from streamparse.limits import Limits, most
from streamparse.tools import Toolset

__all__ = ["Ids", "Names", "mint_ids", "shown"]

_LONGEST_SHOWN = 64 * 1024
_EXCERPT = 200


def mint_ids() -> Callable[[], str]:
    """Return a maker of ids for calls that came without one: `call_0`, `call_1`, ..."""
    numbers = count()
    return lambda: f"call_{next(numbers)}"


class Ids:
    """Gives each call of an answer an id that no other has: results find their calls by the id alone.

    The server's own id stands unless a call before has it (LocalAI has one id for all calls, relays count anew, some
    count as we do): then the call's place is added to it.  Which of its ids are still to come nobody knows.
    """

    def __init__(self, mint: Callable[[], str]) -> None:
        self._mint = mint
        self._given: set[str] = set()

    def give(self, id: str | None, index: int) -> str:
        """Return the id of the call at a place, which came with this one or with none."""
        given = id or self._mint()
        while given in self._given:
            given = f"{given}_{index}" if id else self._mint()
        self._given.add(given)
        return given


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
