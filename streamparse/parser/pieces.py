"""Whether a decoded object is a whole answer, or says itself that it is one message of a stream.

| who | what says so |
|---|---|
| OpenAI chat | `choices` that hold a `delta`, and no `message`; an `object` that is a chunk |
| Anthropic, Responses, Cohere, Gemini Interactions | the `type` or `event_type` of an event |
| Ollama | `done` is false |
| Bedrock Converse | the name of an event around what it holds |

Where neither a reason to end nor an end marker is needed, for all of it is there, a piece still needs one.
"""

from __future__ import annotations

from typing import Any, Final

from streamparse.patterns import plain

__all__ = ["is_piece"]

_EVENT: Final = plain(r"response\..+|ping|\w+[-_](?:start|delta|stop|end)|.+\.(?:start|delta|stop|complete|chunk)")
_CONVERSE: Final = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"}
)


def is_piece(value: dict[str, Any]) -> bool:
    """Whether an object is one message of a stream."""
    kinds = (value.get("type"), value.get("event_type"), value.get("object"))
    if value.get("done") is False or any(isinstance(kind, str) and _EVENT.fullmatch(kind) for kind in kinds):
        return True
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    is_delta = isinstance(first, dict) and first.get("delta") is not None and first.get("message") is None
    return is_delta or not _CONVERSE.isdisjoint(value)
