"""The turns of a conversation, for the chat template of a local server.

Clients for hosted models write what a template may refuse: Codex begins with several messages of the developer, Claude
Code says more as the system after the first question, and both send one user's message after another.  Many templates
want one system message, at the beginning, and roles that alternate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.tools import ToolResult
from streamparse.writing.parts import Message, Part, Text

SystemMessages: TypeAlias = Literal["user", "join"]
"""What becomes of a system message after the first turn: the user's text in its place, or more of the first one."""


def arrange_turns(messages: Sequence[Message], late_system: SystemMessages, lost: list[Loss]) -> list[Message]:
    """Return the turns with one system message, before all others, and the user's messages next to each other joined.

    A system message in the middle, and a result whose call is not in the conversation, are reported.
    """
    first = next((number for number, message in enumerate(messages) if message.role != "system"), len(messages))
    system = [part for message in messages[:first] for part in message.parts]
    turns: list[Message] = []
    for number, message in enumerate(messages[first:], first):
        if message.role != "system":
            turns.append(message)
            continue
        outcome = "joined to the first" if late_system == "join" else "written as the user's text"
        lost.append(Loss(f"messages[{number}]", "", "system", outcome))
        if late_system == "join":
            system += message.parts
        else:
            turns.append(Message("user", message.parts))
    texts = [part.text for part in system if isinstance(part, Text)]
    head = [Message("system", [Text("\n\n".join(texts)), *(part for part in system if not isinstance(part, Text))])]
    return [*(head if system else ()), *_join_user(_drop_orphans(turns, lost))]


def _drop_orphans(turns: Iterable[Message], lost: list[Loss]) -> list[Message]:
    """Drop results whose call is not in the conversation: no server takes them."""
    called: set[str] = set()
    kept: list[Message] = []
    for number, message in enumerate(turns):
        called.update(call.id for call in message.calls)
        orphans = [result for result in message.results if result.call_id not in called]
        lost += [Loss(f"messages[{number}]", "", "tool_result", "dropped: its call is missing") for _ in orphans]
        parts: list[Part] = [part for part in message.parts if part not in orphans] if orphans else message.parts
        if parts or not orphans:
            kept.append(replace(message, parts=parts))
    return kept


def _join_user(turns: Iterable[Message]) -> list[Message]:
    """Join the user's messages that follow one another; results begin a message."""
    joined: list[Message] = []
    for message in turns:
        before = joined[-1] if joined else None
        begins = bool(message.parts) and isinstance(message.parts[0], ToolResult)
        if before is not None and before.role == message.role == "user" and before.name == message.name and not begins:
            joined[-1] = replace(before, parts=[*before.parts, *message.parts])
        else:
            joined.append(message)
    return joined
