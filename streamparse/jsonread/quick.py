"""The quickest way: msgspec reads the text, and counting shows that it read what every mode would.

msgspec refuses what is not JSON, lone surrogates and what no float holds, and reads integers exactly.  But of a key that
comes twice it keeps the last value and says nothing.  So the colons that stand behind a quote are counted: each pair
has one, unless blanks stand between its key and its colon or its key ends in a backslash, and both can be searched for.
A string may hold more of them, never fewer; so where there are as many as the value has members, no key came twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from streamparse.limits import Limits, most

__all__ = ["read_quick"]

_BEFORE_COLON = (" :", "\n:", "\t:", "\r:", '\\\\":')
_CONTAINERS = frozenset((dict, list))
_NUMBERS = frozenset((int, float))


def read_quick(text: str, limits: Limits) -> Any:
    """Reads text that every mode accepts as it is; a ValueError or RecursionError means: it may be anything else.

    The text has no lone surrogates.
    """
    # The encoded form of a text that is not ASCII must not stay with it: the text is kept, and would count twice.
    value = msgspec.json.decode(text if text.isascii() else text.encode())
    size = len(text)
    if size > most(limits.max_key) or any(found in text for found in _BEFORE_COLON):
        raise ValueError("the keys are not certain")
    members, depth, has_numbers = 0, 0, value.__class__ in _NUMBERS
    for containers, kinds in _levels(value):
        depth += 1
        members += sum(len(each) for each in containers if each.__class__ is dict)
        has_numbers = has_numbers or not kinds.isdisjoint(_NUMBERS)
    if members != text.count('":') - text.count('\\":'):
        raise ValueError("a key may have come twice")
    if depth > most(limits.max_depth) or (has_numbers and size > most(limits.max_number)):
        raise ValueError("perhaps beyond a limit")
    return value


def _levels(value: Any) -> Iterator[tuple[list[Any], set[type]]]:
    """Yield the containers of each depth, from the root, with the types of what they hold."""
    level = [value] if value.__class__ in _CONTAINERS else []
    while level:
        kinds: set[type] = set()
        below: list[Any] = []
        for each in level:
            held: Iterable[Any] = each.values() if each.__class__ is dict else each
            here = set(map(type, held))
            kinds |= here
            if not here.isdisjoint(_CONTAINERS):
                below += [inner for inner in held if inner.__class__ in _CONTAINERS]
        yield level, kinds
        level = below
