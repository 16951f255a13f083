"""The turn of an answer: whether it goes on, has ended, or is over for good.

    GOES_ON ◀──▶ ENDED ──▶ CLOSED
       └───────────────────▲

- GOES_ON: the server has not ended its turn, or more came behind what had ended it.
- ENDED: a finish reason came, or the wire's own end marker.
- CLOSED: `Done` was made, or is being made: nothing changes any more.

Beside it stand what the last finish reason meant, which an end marker does not change, and why the turn does not count,
which nothing takes back.
"""

from __future__ import annotations

from streamparse.assembler.event_log import Offset
from streamparse.response import ParsedResponse
from streamparse.sink import Outcome

_ITEMS_OF_CALLS = ("_call", "_tool_use", "toolCall", "executed_tools")
"""How the kinds of items end that are calls: of tools that take text, or that the server runs itself."""


class Turn:
    """How the turn of an answer stands."""

    __slots__ = ("failure", "has_ended", "is_closed", "marker", "outcome", "revocation")

    def __init__(self) -> None:
        self.has_ended: bool = False
        """Whether the server ended its turn, and has not gone on since."""
        self.is_closed: bool = False
        """Whether `Done` was made, or is being made."""
        self.marker: Offset | None = None
        """Where the wire's own end marker is, once it has come and nothing that counts has followed it."""
        self.outcome: Outcome | None = None
        """What the last finish reason means; None without one."""
        self.failure: str = ""
        """Why the turn does not count; empty if it does."""
        self.revocation: str = ""
        """Why all calls of the turn are revoked; empty if they are not."""

    @property
    def has_stopped(self) -> bool:
        """Whether the model itself ended the turn: no limit cut it, and nothing failed."""
        return self.has_ended and self.outcome in ("stop", "tools") and not self.failure

    @property
    def has_ended_for_no_call(self) -> bool:
        """Whether the turn ended well, and does not wait for results of calls."""
        return self.has_ended and self.outcome in (None, "stop") and not self.failure

    @property
    def is_settled(self) -> bool:
        """Whether no more arguments come; without a reason, nothing says that a limit cut them."""
        return self.has_ended and self.outcome not in ("cut", "failed")

    @property
    def is_cut_off(self) -> bool:
        """Whether nothing has ended the turn: neither the server nor a failure."""
        return not self.has_ended and not self.failure

    def go_on(self) -> None:
        """More came: the turn has not ended."""
        self.has_ended = False
        self.marker = None

    def lacks_call(self, response: ParsedResponse) -> bool:
        """Whether the turn ended for calls and has none, not even a broken one or one of a server's own tool."""
        if self.outcome != "tools" or self.failure or response.broken_calls:
            return False
        if any(not call.revoked or call.place == "field" for call in response.tool_calls):
            return False
        return not any(str(item["kind"]).endswith(_ITEMS_OF_CALLS) for item in response.items)
