"""The verbs: how wires and dialects report what they find.

    wire ──verbs──▶ [ in-band ] ──verbs──▶ assembler

A wire or a dialect never makes an event.  It calls the verbs of a `Sink`.  The `Assembler` at the end of the line alone
decides indexes, ids, order and completeness.  In-band parsing is a sink in front of the assembler: it listens to `text`
and passes everything else on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias

from streamparse.events import Place, Scope, Source

__all__ = ["Call", "Outcome", "Sink"]

Outcome: TypeAlias = Literal["stop", "tools", "cut", "failed"]
"""What a finish reason means: the model was done; it waits for the results of its calls; a limit cut it; the server
took the turn back."""


class Call(Protocol):
    """A handle on one call, returned to the reader that reported its start."""

    @property
    def index(self) -> int:
        """The call's place among the calls of the answer, from 0."""

    @property
    def id(self) -> str:
        """The call's id, native or minted."""

    @property
    def name(self) -> str:
        """The tool's name."""

    @property
    def closed(self) -> bool:
        """Whether the call's life is over: complete, or given up with an error."""

    @property
    def pending(self) -> bool:
        """Whether no argument text that counts has come yet (blanks, `{}` or `null` may have)."""

    @property
    def raw(self) -> str:
        """The argument text so far."""


class Sink(Protocol):
    """The verbs that a wire or a dialect calls, in the order of the stream."""

    @property
    def reads_markup(self) -> bool:
        """Whether calls and thoughts are looked for in the text."""

    def text(self, text: str) -> None:
        """Visible text came."""

    def reasoning(self, text: str) -> None:
        """A piece of thought came."""

    def refusal(self, text: str) -> None:
        """A piece of a refusal came."""

    def call_start(self, name: str, id: str | None = None, source: Source = "native", place: Place = "field") -> Call:
        """A call began; without an id one is minted."""

    def call_arguments(self, call: Call, fragment: str, *, restarts: bool = False) -> None:
        """A piece of a call's argument text came.  A native call completes by itself at the closing brace.

        With `restarts` the text so far is dropped if it does not begin an object: the right one begins here.
        """

    def call_teller(self, call: Call) -> Callable[[str], None]:
        """Return `call_arguments` bound to one call: quicker where many pieces come."""

    def call_whole(self, name: str, arguments: str, id: str | None = None) -> Call:
        """A call came in one piece, its arguments a JSON value that the wire itself delimits."""

    def call_end(self, call: Call) -> None:
        """The call is over.  For a call found in text this decides; for a native one it confirms."""

    def call_repaired(self, call: Call) -> None:
        """The call's markup had to be mended to be read: it will be `source="repaired"`."""

    def call_error(self, call: Call, code: str, message: str) -> None:
        """The call cannot be read; its life ends here."""

    def call_revoke(self, call: Call, reason: str) -> None:
        """What follows shows that a complete call was not a call; nothing if it is not complete."""

    def calls_doubted(self, code: str, message: str) -> None:
        """What follows shows that the calls in the text so far may be data: those that are complete are revoked."""

    def item(self, kind: str, data: Any, index: int | None = None) -> None:
        """JSON without a verb of its own came."""

    def fact(self, name: str, value: Any) -> None:
        """Something about the answer is known, which is no part of it: a field of `ParsedResponse`, else an item.

        Where the field is a dict, as `usage` is, its keys replace or add to those that came before.  A value that is
        empty, or of another type than the field's, says nothing; but an empty `usage` says that there are counts.
        """

    def finish(self, reason: str, outcome: Outcome = "stop") -> None:
        """The server gave the reason why the turn ends; `reason` is its own word."""

    def end(self) -> None:
        """The wire's own end marker came."""

    def go_on(self) -> None:
        """More comes behind a finish or an end marker: until the next one, the turn has not ended.

        Text, a thought, a refusal and a call say so by themselves.
        """

    def error(self, scope: Scope, code: str, message: str, offset: int | None = None) -> None:
        """Something was wrong.  With scope "stream" the turn has failed."""
