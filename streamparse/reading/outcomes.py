"""What a turn is that ends for a reason: the table of `streamparse.finish_reasons`, as the sink wants it.

A reason that is not in the table ended the turn well: so does whatever word comes next year.
"""

from __future__ import annotations

from typing import Final

from streamparse.finish_reasons import COMMON_STOPS, Stop, find_stop
from streamparse.sink import Outcome

_OUTCOMES: Final[dict[Stop, Outcome]] = {
    "end": "stop",
    "tools": "tools",
    "length": "cut",
    "filter": "failed",
    "error": "failed",
}


def find_outcome(reason: str) -> Outcome:
    """Return what a turn is that ends for this reason, whichever server says so.  Case counts."""
    return _OUTCOMES[COMMON_STOPS.get(reason, "end")]


def find_listed_outcome(reason: str) -> Outcome:
    """As `find_outcome`, where the provider lists its reasons: words that only such a list has count, in any case."""
    return _OUTCOMES[find_stop(reason) or "end"]
