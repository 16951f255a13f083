"""Learns of models while they are used: how often each dialect worked.

`count_outcomes` says what an answer shows, `Figures` holds counts, `CapabilityLearner` keeps them over time.

Figures are kept by slots of time, each a sixtieth of the time to live, so that old figures go although the model is
still in use.  New figures are kept apart from the stored ones until the next `save`, which adds them to whatever the
store holds by then: other learners may have written to it.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from itertools import chain
from operator import add, index
from typing import Annotated, Final, Literal, Protocol, TypeAlias, get_args

import msgspec

from streamparse.errors import CODES
from streamparse.negotiate.stores import Record, SharedStore, Store
from streamparse.response import ParsedResponse, ToolCall
from streamparse.stats import Stats
from streamparse.unknown_names import list_known

Outcome: TypeAlias = Literal["parsed", "repaired", "malformed", "unknown_tool", "refused"]
"""The outcome of a call; `refused` is one of a request with tools."""
OUTCOMES: Final = get_args(Outcome)
# The format of calls that come in fields of their own.
NATIVE: Final = "native"

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """How often a model's calls in one format came out well, and when last.

    - `refused`: requests, not calls, that the server refused because they have tools.
    - `last`: when the last one was counted, in seconds since the epoch.
    - `last_refused`: when the last request was refused.
    """

    parsed: Count = 0
    repaired: Count = msgspec.field(default=0, name="recovered")  # its name in older stores
    malformed: Count = 0
    unknown_tool: Count = 0
    refused: Count = 0
    last: float = 0.0
    last_refused: float = 0.0

    @property
    def calls(self) -> int:
        """How many calls were seen."""
        return self.parsed + self.repaired + self.malformed + self.unknown_tool

    @property
    def rate(self) -> float | None:
        """The share of calls that could be run, 0 to 1; None before the first."""
        return (self.parsed + self.repaired) / self.calls if self.calls else None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was counted."""
        return not (self.calls or self.refused)

    def __add__(self, other: Figures) -> Figures:
        """Both together."""
        return self._combine(other, add)

    def __sub__(self, other: Figures) -> Figures:
        """What remains of this count without `other`, which is a part of it."""
        return self._combine(other, lambda whole, part: max(whole - part, 0))

    def __or__(self, other: Figures) -> Figures:
        """The later of two states of one count."""
        return self._combine(other, max)

    def _combine(self, other: Figures, join: Callable[[int, int], int]) -> Figures:
        counts = {name: join(getattr(self, name), getattr(other, name)) for name in OUTCOMES}
        last, last_refused = max(self.last, other.last), max(self.last_refused, other.last_refused)
        return Figures(**counts, last=last, last_refused=last_refused)


# -- what an answer shows --------------------------------------------------------------------------

# A call that the end cut off was stopped by the network or the limit of tokens, which not every server says: vLLM ends
# such an answer with "tool_calls".  A call that came twice was written well, as was one that a limit of ours stopped.
# Codes of broken calls that do not show how well the format was written; nor do those that no parser gives.
_SHOWS_NOTHING: Final = re.compile(r"truncated_call|json_truncated|duplicate_call|limit_.*")
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
        """All calls so far."""


def count_outcomes(
    answer: ParsedResponse | Reader, stats: Stats | None = None, tool_names: Collection[str] = ()
) -> Counter[tuple[str, Outcome]]:
    """Count the calls of an answer by format and outcome, with those that were badly written or refused by the server.

    The format is `native`, a dialect, or `json-content`.  A call that was cut off says nothing of its format: it is not
    counted.  `stats` are only for answers that no parser of ours read; their `dialect` wrote the calls in the text.
    """
    response = answer if isinstance(answer, ParsedResponse) else answer.response
    in_text = (stats.dialect if stats is not None else None) or "inband"
    counts: Counter[tuple[str, Outcome]] = Counter()
    for call in response.tool_calls:
        if call.revoked and call.place in ("bare", "thought"):
            continue  # it turned out not to be a call
        name = response.dialects.get(call.index, in_text if call.source == "inband" else NATIVE)
        counts[name, _classify(call, tool_names)] += 1
    for broken in response.broken_calls:
        if broken.code in CODES and not _SHOWS_NOTHING.fullmatch(broken.code):
            counts[response.dialects.get(broken.index, NATIVE), "malformed"] += 1
    # A server that gives no answer says that the model's call was no good, or that it takes no tools at all.
    if any(item.get("kind") == "failed_generation" for item in response.items):
        counts[NATIVE, "malformed"] += 1
    elif any(error.code == "provider_error" and says_no_tools(error.message) for error in response.errors):
        counts[NATIVE, "refused"] += 1
    return counts


def says_no_tools(message: str) -> bool:
    """Whether a server's words say that it takes no tools, or that this model has none."""
    return _NO_TOOLS.search(message) is not None


def _classify(call: ToolCall, tool_names: Collection[str]) -> Outcome:
    if tool_names and call.name not in tool_names:
        return "unknown_tool"
    return "repaired" if call.source == "repaired" else "parsed"


# -- over time -------------------------------------------------------------------------------------

DAY: Final = 86_400.0  # source: seconds
_SLOTS: Final = 60  # bound: the records of one model and format
_MOST: Final = 10_000  # bound: the slots of all models and formats, whose names come from outside; the oldest go
_RECENT: Final = 20  # bound: calls from which on the latest time alone counts
_NONE: Final = Figures()

# Model, format, slot.
_Key: TypeAlias = tuple[str, str, int]
_Table: TypeAlias = dict[_Key, Figures]


class CapabilityLearner:
    """Keeps figures by model and format; figures older than `ttl` seconds are forgotten.

    It is forgotten to within a sixtieth of that time, although the model is still in use.  Safe to use from several
    threads.  With a `store` it begins with the stored figures; `save` adds the new ones.  Several learners, of
    several processes too, may share a `JSONFile` or an `SQLiteFile`, if they have the same `ttl`.  Raises ValueError if
    `ttl` is not positive, and what the store raises.
    """

    def __init__(
        self, *, ttl: float = 30 * DAY, store: Store | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        if not ttl > 0:
            raise ValueError(f"`ttl` is a positive number of seconds, not {ttl!r}")
        self._ttl = ttl
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._saving = threading.Lock()
        self._stored: _Table = {} if store is None else _read_records(store.load())
        self._unsaved: _Table = {}
        self._slot = self._get_slot(clock())
        self._version = 0

    @property
    def version(self) -> int:
        """Grows when something is learnt or may be forgotten: conclusions from before may be outdated."""
        now = self._clock()
        with self._lock:
            self._rotate(now)
            return self._version

    def record(self, model: str, format_name: str, outcome: Outcome, times: int = 1) -> None:
        """Count the outcome of `times` calls of a model in a format (`native`, or a dialect's name).

        Raises ValueError for another outcome, or if `times` is negative, TypeError if it is no integer.
        """
        if outcome not in OUTCOMES:
            raise ValueError(f"unknown outcome {outcome!r}; {list_known(outcome, OUTCOMES)}")
        if index(times) < 0:
            raise ValueError(f"`times` is a count, not {times!r}")
        now = self._clock()
        refused = now if outcome == "refused" else 0.0
        seen = msgspec.structs.replace(_NONE, **{outcome: times, "last": now, "last_refused": refused})
        with self._lock:
            self._rotate(now)
            self._version += 1
            key = (_replace_surrogates(model), _replace_surrogates(format_name), self._slot)
            self._unsaved[key] = self._unsaved.get(key, _NONE) + seen
            if len(self._unsaved) > _MOST:
                del self._unsaved[next(iter(self._unsaved))]

    def observe(
        self, model: str, answer: ParsedResponse | Reader, stats: Stats | None = None, tool_names: Collection[str] = ()
    ) -> None:
        """Count the calls of an answer: a whole one, or the parser of a stream, also of one that failed early.

        `tool_names` are those that were declared; without them no tool is unknown.  For `stats` see `count_outcomes`.
        """
        for (format_name, outcome), times in count_outcomes(answer, stats, tool_names).items():
            self.record(model, format_name, outcome, times)

    def get_figures(self, model: str) -> dict[str, Figures]:
        """The figures of a model, by format."""
        return {format_name: figures for (_, format_name), figures in self._sum_slots(model).items()}

    def get_recent(self, model: str) -> dict[str, Figures]:
        """The figures of a model's latest calls, by format: so much of the latest time as holds at least 20.

        What is concluded about a model is concluded from these, so that neither many good calls of long ago hide that
        it has changed, nor many bad ones.
        """
        latest = sorted(self._list_valid(model), key=lambda pair: pair[1].last, reverse=True)
        recent: dict[str, Figures] = {}
        for (_, format_name, _), figures in latest:
            known = recent.get(format_name, _NONE)
            if known.calls + known.refused < _RECENT:
                recent[format_name] = known + figures
        return recent

    def export(self) -> list[Record]:
        """Everything that is not forgotten, by model and format, as records that JSON can hold."""
        return [Record(*key, msgspec.to_builtins(figures)) for key, figures in sorted(self._sum_slots().items())]

    def save(self) -> None:
        """Add the new figures to the store, and read what others have added.

        Raises ValueError if there is no store, and what the store raises; nothing is lost then, save again.
        """
        if self._store is None:
            raise ValueError("this learner has no store: CapabilityLearner(store=...)")
        with self._saving:
            with self._lock:
                stored, unsaved = self._stored, dict(self._unsaved)
            records = _update(self._store, lambda kept: self._merge(_read_records(kept), stored, unsaved))
            with self._lock:
                self._version += 1
                self._stored = _read_records(records)
                left = {key: each - unsaved.get(key, _NONE) for key, each in self._unsaved.items()}
                self._unsaved = {key: each for key, each in left.items() if not each.is_empty}

    def _merge(self, kept: _Table, stored: _Table, unsaved: _Table) -> list[Record]:
        """Merge the stored figures, as last read, with the new ones; keep the latest."""
        keys = dict.fromkeys(chain(kept, stored, unsaved))
        table = {key: (kept.get(key, _NONE) | stored.get(key, _NONE)) + unsaved.get(key, _NONE) for key in keys}
        latest = sorted(self._drop_old(table, self._clock()).items(), key=lambda pair: pair[1].last)[-_MOST:]
        latest.sort(key=lambda pair: pair[0])
        return [Record(model, each, msgspec.to_builtins(figures), slot) for (model, each, slot), figures in latest]

    def _sum_slots(self, of: str | None = None) -> dict[tuple[str, str], Figures]:
        """The valid figures by model and format; of all models, or of one."""
        totals: dict[tuple[str, str], Figures] = {}
        for (model, format_name, _), figures in self._list_valid(of):
            totals[model, format_name] = totals.get((model, format_name), _NONE) + figures
        return totals

    def _list_valid(self, of: str | None = None) -> list[tuple[_Key, Figures]]:
        """The valid figures by slot; of all models, or of one."""
        now = self._clock()
        of = of and _replace_surrogates(of)
        valid: _Table = {}
        with self._lock:
            for key, figures in chain(self._stored.items(), self._unsaved.items()):
                # A clock that was wrong may have left figures of the far future.
                if (of is None or key[0] == of) and abs(now - figures.last) <= self._ttl:
                    valid[key] = valid.get(key, _NONE) + figures
        return list(valid.items())

    def _rotate(self, now: float) -> None:
        """Forget old figures whenever another slot begins."""
        slot = self._get_slot(now)
        if slot != self._slot:
            self._slot = slot
            self._version += 1
            self._stored = self._drop_old(self._stored, now)
            self._unsaved = self._drop_old(self._unsaved, now)

    def _drop_old(self, table: _Table, now: float) -> _Table:
        return {key: each for key, each in table.items() if now - each.last <= self._ttl}

    def _get_slot(self, now: float) -> int:
        return int(now // (self._ttl / _SLOTS))


def _update(store: Store, change: Callable[[list[Record]], list[Record]]) -> list[Record]:
    if isinstance(store, SharedStore):
        return store.update(change)
    records = change(store.load())
    store.save(records)
    return records


def _read_records(records: Iterable[Record]) -> _Table:
    return {(each.model, each.format, each.slot): msgspec.convert(each.figures, Figures) for each in records}


def _replace_surrogates(name: str) -> str:
    """Return a name that a file can hold: it may contain half of a surrogate pair."""
    return name.encode("utf-8", "replace").decode("utf-8")
