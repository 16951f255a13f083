"""What a chunk says about the answer besides the answer: who made it, and how.

Most servers repeat it in each chunk, so it is read from the first ones, and from those with a finish reason or without
choices.  What few servers add (llama.cpp's times, GitHub Copilot's prices, Groq's ids, the warnings of watsonx) are
items about the answer.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from streamparse.reading.decode import read_str
from streamparse.sink import Sink


class Choice(msgspec.Struct, gc=False):
    index: int | None = 0
    native_finish_reason: str | None = None  # OpenRouter


class Facts(msgspec.Struct, gc=False):
    """The fields of a chunk that say something about the answer."""

    id: Any = None
    model: Any = None
    model_id: Any = None  # watsonx
    service_tier: Any = None
    system_fingerprint: Any = None
    provider: Any = None  # OpenRouter
    choices: list[Choice] | None = None
    prompt_filter_results: Any = None  # Azure
    timings: Any = None  # llama.cpp
    copilot_usage: Any = None
    x_groq: Any = None
    system: Any = None  # watsonx


_NAMES: Final = ("id", "model", "service_tier", "system_fingerprint", "provider")
_ABOUT: Final = ("timings", "copilot_usage")
_REPORTED: Final = ("usage", "error")  # Groq's, which are reported as what they are


def send_facts(sink: Sink, facts: Facts, choice: int, sent: dict[str, Any]) -> None:
    """Send what a chunk says about the answer; `sent` has what was sent of the items."""
    sink.fact("model", facts.model_id)
    for name in _NAMES:
        sink.fact(name, getattr(facts, name))
    for each in facts.choices or ():
        if (each.index or 0) == choice:
            sink.fact("native_finish_reason", each.native_finish_reason)
    if facts.prompt_filter_results:
        sink.fact("content_filters", {"prompt": facts.prompt_filter_results})
    about = {name: getattr(facts, name) for name in _ABOUT}
    groq = facts.x_groq if isinstance(facts.x_groq, dict) else {}
    about["x_groq"] = {name: value for name, value in groq.items() if name not in _REPORTED}
    about["warnings"] = facts.system.get("warnings") if isinstance(facts.system, dict) else None
    for name, value in about.items():
        if value and value != sent.get(name):
            sent[name] = value
            sink.fact(name, value)


def send_logprobs(sink: Sink, logprobs: Any) -> None:
    """Send log-probabilities, unless there are none; they are an object, of old servers a list."""
    values = logprobs.values() if isinstance(logprobs, dict) else logprobs
    if isinstance(logprobs, (dict, list)) and any(values):
        sink.fact("logprobs", logprobs)


def has_names(facts: Facts) -> bool:
    """Whether a chunk names the model and the answer: those that follow name the same."""
    return bool(read_str(facts.id) and read_str(facts.model))
