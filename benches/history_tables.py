"""Tables of conversations: what a request costs whose messages were sent before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median

from measuring import Case, Cell, Table, find_ratio, take_turns

import streamparse as sp
from streamparse.providers.adapters import REQUEST_WRITERS

__all__ = ["make_history", "make_messages", "write_body"]

SENT_BEFORE = 0.25
"""What a message may cost that was sent before, over what it costs the first time."""
_ROUNDS = 200
_FEW = 10


@sp.tool(effect="read")
def read_file(path: str, limit: int) -> str:
    """Read a file."""
    return f"{path}: {limit}"


def make_history(rounds: int) -> sp.History:
    """A conversation of so many rounds, each of two messages: an answer with a call, and its result."""
    history = sp.History(system="You fix bugs.").with_prompt("Mend the parser.")
    for number in range(rounds):
        arguments = f'{{"path": "src/module_{number}.py", "limit": 100}}'
        call = sp.ToolCall(
            "read_file", {"path": f"src/module_{number}.py", "limit": 100}, f"call_{number:09}", raw=arguments
        )
        answer = sp.ParsedResponse(
            content=f"I look at module {number}.", tool_calls=[call], finish_reason="tool_calls", ok=True
        )
        result = sp.ToolResult(call.id, "read_file", "def parse(text):\n    return text\n" * 20)
        history = history.with_round(answer, [result], provider="openai", model="m")
    return history


def write_body(history: sp.History, provider: str) -> None:
    """Write a request."""
    sp.Request(history, [read_file]).body(provider, "m")


def make_messages() -> Table:
    """A message of a request, the first time and again, in µs; the rest of the request does not count."""
    cases: dict[str, Case] = {name: partial(_measure_messages, name) for name in REQUEST_WRITERS}
    columns = ("µs a message", "the first time", "sent before", "to the first time")
    gates = f"at most {SENT_BEFORE} × the first time, if it was sent before."
    return Table("messages", columns, cases, (2,), gates=gates)


def _measure_messages(provider: str, rounds: int) -> tuple[Cell | None, ...]:
    few, many = make_history(_FEW), make_history(_ROUNDS)
    write_body(few, provider)

    def write_new(number: int) -> Callable[[], None]:
        histories = iter([make_history(number) for _ in range(rounds + 1)])
        return lambda: write_body(next(histories), provider)

    runs = {
        "new, few": write_new(_FEW),
        "new, many": write_new(_ROUNDS),
        "few": lambda: write_body(few, provider),
        "many": lambda: write_body(many, provider),
    }
    spent = take_turns(runs, rounds)
    messages = 2 * (_ROUNDS - _FEW)
    first = [(many - few) / messages for many, few in zip(spent["new, many"], spent["new, few"], strict=True)]
    again = [(many - few) / messages for many, few in zip(spent["many"], spent["few"], strict=True)]
    return Cell(median(first) * 1e6), Cell(median(again) * 1e6), Cell(find_ratio(again, first), SENT_BEFORE)
