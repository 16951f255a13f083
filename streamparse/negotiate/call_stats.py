"""How often a model's calls in one format came out well, and what an answer says about that."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from operator import add
from typing import Annotated, Final, Literal, Protocol, TypeAlias

import msgspec

from streamparse.errors import CODES
from streamparse.response import ParsedResponse, ToolCall
from streamparse.stats import Stats

Outcome: TypeAlias = Literal["parsed", "recovered", "malformed", "unknown_tool", "refused"]
"""What came of a call; `refused` is what came of a request with tools."""

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """How often a model's calls in one format came out well, and when last."""

    parsed: Count = 0
    recovered: Count = 0
    malformed: Count = 0
    unknown_tool: Count = 0
    refused: Count = 0
    """Requests that the server did not answer for they have tools; no calls."""
    last: float = 0.0
    """Seconds since the epoch."""
    last_refused: float = 0.0
    """The same of the last request that was refused."""

    @property
    def calls(self) -> int:
        """How many calls were seen."""
        return self.parsed + self.recovered + self.malformed + self.unknown_tool

    @property
    def rate(self) -> float | None:
        """The share of calls that could be run, 0 to 1; None before the first."""
        return (self.parsed + self.recovered) / self.calls if self.calls else None

    @property
    def empty(self) -> bool:
        """Whether nothing was counted."""
        return not (self.calls or self.refused)

    def __add__(self, other: Figures) -> Figures:
        """Both together."""
        return self._with(other, add)

    def __sub__(self, other: Figures) -> Figures:
        """What remains of this count after `other`, which is a part of it, is taken away."""
        return self._with(other, lambda whole, part: max(whole - part, 0))

    def __or__(self, other: Figures) -> Figures:
        """The later of two states of one count."""
        return self._with(other, max)

    def _with(self, other: Figures, join: Callable[[int, int], int]) -> Figures:
        return Figures(
            parsed=join(self.parsed, other.parsed),
            recovered=join(self.recovered, other.recovered),
            malformed=join(self.malformed, other.malformed),
            unknown_tool=join(self.unknown_tool, other.unknown_tool),
            refused=join(self.refused, other.refused),
            last=max(self.last, other.last),
            last_refused=max(self.last_refused, other.last_refused),
        )


NATIVE = "native"
"""The format of calls that come in fields of their own."""
# A call that the end cut off was stopped by the network or the limit of tokens, which not every server says: vLLM ends
# such an answer with "tool_calls".  A call that came twice was written well, as was one that a limit of ours stopped.
_SAYS_NOTHING: Final = re.compile(r"truncated_call|json_truncated|duplicate_call|limit_.*")
"""Codes of broken calls that do not tell how well the format was written; nor do those that no parser gives."""
# Ollama, OpenRouter, vLLM, llama.cpp, Groq, Bedrock, OpenAI, Gemini and Mistral, of models or settings without tools.
_NO_TOOLS: Final = re.compile(
    r"(?:not|n't) support (?:tool(?![_ ]choice)|function)|support tool use|"
    r"--enable-auto-tool-choice|tools param requires|"
    r"(?<!custom )(?<!hosted )(?<!built-in )(?<!parallel )"
    r"\b(?:tools|(?:tool|function) (?:calling|use))[`'\"]? (?:is|are) not (?:supported|enabled)",
    re.IGNORECASE,
)


class Reader(Protocol):
    """A parser of a stream, at its end or wherever it was left."""

    @property
    def response(self) -> ParsedResponse:
        """What came so far."""


def count_outcomes(
    answer: ParsedResponse | Reader, stats: Stats | None = None, tool_names: Collection[str] = ()
) -> Counter[tuple[str, Outcome]]:
    """Count the calls of an answer by format and outcome, with those that were badly written or refused by the server.

    The format is `native`, a dialect, or `json-content`.  A call that was cut off says nothing of its format: it is not
    counted.  `stats` are only for answers that no parser of ours read; their `dialect` is that of calls in the text.
    """
    response = answer if isinstance(answer, ParsedResponse) else answer.response
    in_text = (stats.dialect if stats is not None else None) or "inband"
    counts: Counter[tuple[str, Outcome]] = Counter()
    for call in response.tool_calls:
        if call.revoked and call.place in ("bare", "thought"):
            continue  # it turned out to be none
        name = response.formats.get(call.index, in_text if call.source == "inband" else NATIVE)
        counts[name, _classify(call, tool_names)] += 1
    for broken in response.broken_calls:
        if broken.code in CODES and not _SAYS_NOTHING.fullmatch(broken.code):
            counts[response.formats.get(broken.index, NATIVE), "malformed"] += 1
    for name, outcome in _count_refusals(response):
        counts[name, outcome] += 1
    return counts


def _classify(call: ToolCall, tool_names: Collection[str]) -> Outcome:
    if tool_names and call.name not in tool_names:
        return "unknown_tool"
    return "recovered" if call.source == "recovered" else "parsed"


def _count_refusals(response: ParsedResponse) -> Iterator[tuple[str, Outcome]]:
    """What a server says that gave no answer: the model's call was no good, or it takes no tools at all."""
    if any(item.get("kind") == "failed_generation" for item in response.items):
        yield NATIVE, "malformed"
    elif any(error.code == "provider_error" and _NO_TOOLS.search(error.message) for error in response.errors):
        yield NATIVE, "refused"
