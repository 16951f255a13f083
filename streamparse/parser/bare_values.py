"""What users keep of an answer without any message around it, made whole: decoded values only.

| what is given | whose |
|---|---|
| a call, or a list of calls | OpenAI chat |
| a block, an item, a part; a list of texts | Anthropic, Responses, Gemini, Converse |
| `{"content": [texts]}` | Anthropic |
| `{"text"}` or `{"content"}`, with `tool_calls` or without | the first version of Cohere, objects of libraries |

Of JSON that was given as text nobody knows: it may be the answer itself.
"""

from __future__ import annotations

from typing import Any, Final

from streamparse.dialects.grammars.call_json import calls_in
from streamparse.parser.part_owners import are_blocks, are_only_gemini
from streamparse.parser.partial_bodies import chat_of, completed_list, gemini_of

__all__ = ["loosely"]

_WIRES_KEYS: Final = frozenset({"type", "object", "choices", "done", "event_type", "candidates", "output", "error"})


def loosely(value: Any) -> dict[str, Any] | None:
    """Return the body of a decoded value that stands alone; None for others."""
    if _is_call(value):
        return chat_of({"role": "assistant", "tool_calls": value if isinstance(value, list) else [value]})
    if isinstance(value, list) and are_only_gemini(value):
        return gemini_of(value)
    return _of_object(value) if isinstance(value, dict) else None


def _of_object(value: dict[str, Any]) -> dict[str, Any] | None:
    if (body := completed_list([value])) is not None or not _WIRES_KEYS.isdisjoint(value):
        return body
    content = value.get("content")
    if "role" not in value and isinstance(content, list):
        return {**value, "type": "message", "role": "assistant"} if are_blocks(content) else None
    if "toolCalls" in value and next(calls_in(value), None) is not None:
        return None  # an envelope, as a model writes it: its calls and its text are found in its JSON
    text = next((value[key] for key in ("content", "text", "output_text") if isinstance(value.get(key), str)), None)
    if text is None:
        return None
    calls = value.get("tool_calls")
    told = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    reason = value.get("finish_reason")
    return chat_of({"role": "assistant", "content": text, "tool_calls": told, "finish_reason": reason})


def _is_call(value: Any) -> bool:
    """Whether a value is a call of OpenAI chat, or a list of them."""
    calls = value if isinstance(value, list) else [value]
    functions = [call.get("function") for call in calls if isinstance(call, dict) and ("id" in call or "type" in call)]
    made = (isinstance(each, dict) and {"name", "arguments"} <= each.keys() for each in functions)
    return bool(functions) and len(functions) == len(calls) and all(made)
