"""What servers do that their protocol does not say, wire by wire, each with its evidence: the table `quirks.toml`.

No rule of a wire asks which server sends: an unknown server gets the general rules, under which every habit of the
table is read correctly.  The table shows what the rules are for; `docs/internals/wires.md` shows it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from streamparse.providers.wires import find_wire_name


class Habit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that servers do and their protocol does not say.

    `evidence` names streams of `fixtures/streams` or recordings of `fixtures/recorded`.
    """

    does: str
    read_as: str
    evidence: tuple[str, ...]
    seen_with: str = ""
    """The servers, as far as they are known."""


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The habits of one wire's servers, by topic."""

    topics: dict[str, tuple[Habit, ...]]

    @property
    def habits(self) -> tuple[Habit, ...]:
        """All habits, in the order of the table."""
        return tuple(habit for habits in self.topics.values() for habit in habits)

    def of(self, server: str) -> tuple[Habit, ...]:
        """The habits seen with a server, by a part of its name in any case of letters."""
        return tuple(habit for habit in self.habits if server.lower() in habit.seen_with.lower())


def profile(wire: str) -> Profile:
    """Return what is known of a wire's servers; "all" is what any may do.  Raises ValueError for an unknown wire."""
    table = _read_table()
    return Profile(table.get(wire if wire in table else find_wire_name(wire), {}))


@cache
def _read_table() -> dict[str, dict[str, tuple[Habit, ...]]]:
    import tomllib  # noqa: PLC0415 - for people who ask, not for every import of the library
    from importlib.resources import files  # noqa: PLC0415

    text = (files(__package__) / "quirks.toml").read_text(encoding="utf-8")
    wires = msgspec.convert(tomllib.loads(text), dict[str, dict[str, dict[str, dict[str, Any]]]])
    return {
        wire: {
            topic: tuple(msgspec.convert({"does": does, **fields}, Habit) for does, fields in habits.items())
            for topic, habits in topics.items()
        }
        for wire, topics in wires.items()
    }
