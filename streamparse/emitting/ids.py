"""The ids under which the calls of one answer leave."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["CallIds"]


class CallIds:
    """Gives each call of an answer an id that no other has: clients tie results to calls by the id alone.

    Some servers give two calls one id (a relay that counts anew, a model that was shown an id in its prompt).  The
    first that leaves keeps it, of others the place among all calls is added.  `call_id` says under which id a call
    would leave.
    """

    def __init__(self, call_id: Callable[[str], str]) -> None:
        self._call_id = call_id
        self._given: set[str] = set()

    def give(self, id: str, index: int) -> str:
        """Return the id for the call at a place; ask once for each call."""
        given = self._call_id(id)
        while given in self._given:
            given = f"{given}_{index}"
        self._given.add(given)
        return given
