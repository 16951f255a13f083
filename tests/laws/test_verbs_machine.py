"""The verbs of a wire in any order, told to each sink.

A wire of the test's own tells one verb for each frame, so each verb goes the way of all: through a parser, to the sink
that stands there: the assembler alone, or the reader of calls in the text in front of it.  What must come of the verbs
stands in an account that knows the text of each call, and none of the parser's states.

The wire tells calls that were found in the text, too (`source="inband"`), as a grammar does.
"""

# ruff: noqa: ARG002, ARG005 - the wire of this test hears nothing of what a frame says
from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Literal

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from ledger import Ledger, settings_of

import streamparse as sp
from streamparse.providers.wires import WIRES
from streamparse.sink import Call, Sink

STRING = {"type": "string"}
TOOLS: Any = [
    {"name": "find", "parameters": {"type": "object", "properties": {"q": STRING}, "required": ["q"]}},
    {"name": "now", "parameters": {"type": "object", "properties": {}}},
]
VALUES: list[dict[str, Any]] = [{"q": "a"}, {"q": "b}"}, {"q": [1, {"r": "\\"}]}, {}]
ODD = ("null", "", " ", "[1]", '"{\\"q\\": \\"a\\"}"', "7", "x")
"""What comes in the place of an object."""
DIALECTS: dict[str, Any] = {"assembler": (), "in-band": ("hermes",), "auto": "auto"}
NAMES = ("find", "now", "other", "other", "", " ", "two words", "no\u200bname", "x" * 300)
IDS = (None, None, "", "a", "a", "b", "call_0", "call_1", "a_1", " ", "y" * 600)
MARKUP = '<tool_call>\n{"name": "find", "arguments": {"q": "in text"}}\n</tool_call>'

Outcomes = Literal["stop", "tools", "cut", "failed"]
texts = st.sampled_from(("a", "word ", "\n", " ", "é", "{", "}", "<", "[1]", "a < b"))


class Verbs:
    """A wire whose frames say nothing: what each one tells was left in `next`."""

    next: Callable[[Sink], None] = staticmethod(lambda _: None)
    ignored = 0
    over = False

    def __init__(self, sink: Sink, tools: Any, limits: sp.Limits, choice: int = 0) -> None:
        self.sink = sink

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        return message.get("verb") is True

    @staticmethod
    def decode(data: bytes) -> Any:
        return json.loads(data)

    def take(self, message: Any, /) -> None:
        type(self).next(self.sink)

    def frame(self, frame: Any) -> None:
        self.take(None)

    def close(self) -> None:
        pass


@contextmanager
def known_wire() -> Iterator[None]:
    """The wire is known while a parser is made; it leaves no trace."""
    WIRES["verbs"] = Verbs  # type: ignore[assignment]
    try:
        yield
    finally:
        del WIRES["verbs"]


class Told:
    """A call as it was told: its handle, and its text as far as it was told before its end."""

    def __init__(self, call: Call, name: str, source: str, place: str) -> None:
        self.call = call
        self.index = call.index
        self.name = name
        self.source = source
        self.place = place
        self.text = ""
        self.is_spelled = True
        """Whether the text is an object, as far as it goes."""

    @property
    def value(self) -> tuple[Any, int] | None:
        """The object that the text begins with, and where it ends; None if it is not whole."""
        start = len(self.text) - len(self.text.lstrip(" "))
        if not self.text.startswith("{", start):
            return None
        try:
            value, end = json.JSONDecoder().raw_decode(self.text, start)
        except ValueError:
            return None
        return value, end

    @property
    def arguments(self) -> Any:
        """What the text says in one object; None where it says it in another way: in a string, as `null`."""
        found = self.value
        return found[0] if found is not None and not self.text[found[1] :].strip() else None


class VerbsMachine(RuleBasedStateMachine):
    """One answer, told verb by verb."""

    @initialize(sink=st.sampled_from(sorted(DIALECTS)), has_tools=st.booleans())
    def begin(self, sink: str, has_tools: bool) -> None:
        self.tools = TOOLS if has_tools else None
        self.sink, self.reads_text, self.has_markup = sink, sink != "assembler", False
        with known_wire():
            self.parser = sp.StreamParser("verbs", dialects=DIALECTS[sink], tools=self.tools)
            self.ledger = Ledger()
            self.size = 0
            self.calls: list[Told] = []
            self.text = self.reasoning = self.refusal = ""
            self.items: list[sp.ProviderItem] = []
            self.order: list[tuple[str, Any]] = []
            self.usage: dict[str, Any] = {}
            self.reason: str | None = None
            self.outcome = ""
            self.is_over = self.has_failed = self.has_doubt = False
            self.errors = 0
            self.marked = 0
            self.tell(lambda sink: None)

    def tell(self, verb: Callable[[Sink], Any]) -> None:
        """Let the wire tell one verb, in a frame of its own."""
        told: list[Any] = []
        Verbs.next = staticmethod(lambda sink: told.append(verb(sink)))
        data = b'data: {"verb":true}\n\n'
        self.size += len(data)
        before = len(self.ledger.events)
        self.ledger.take(self.parser.feed(data), self.size)
        self.new = self.ledger.events[before:]
        assert len(told) == 1
        self.result = told[0]

    # -- what is no call -------------------------------------------------------------------------------

    @rule(text=texts)
    def tell_text(self, text: str) -> None:
        self.tell(lambda sink: sink.text(text))
        self.text += text

    @rule(text=texts)
    def tell_reasoning(self, text: str) -> None:
        self.tell(lambda sink: sink.reasoning(text))
        self.reasoning += text
        assert self.ledger.reasoning == self.reasoning

    @rule(text=texts, chance=st.integers(0, 4))
    def tell_refusal(self, text: str, chance: int) -> None:
        if chance:
            return
        self.tell(lambda sink: sink.refusal(text))
        self.refusal += text
        assert self.ledger.refusal == self.refusal

    @rule(kind=st.sampled_from(("citation", "signature")), data=st.sampled_from(({}, [1], "x", None)))
    def tell_item(self, kind: str, data: Any) -> None:
        index = len(self.items)
        self.tell(lambda sink: sink.item(kind, data, index))
        self.items.append(sp.ProviderItem(kind, data, index))
        assert self.ledger.items == self.items

    @rule(key=st.sampled_from(("input", "output")), count=st.integers(0, 3))
    def tell_usage(self, key: str, count: int) -> None:
        self.tell(lambda sink: sink.fact("usage", {key: count}))
        self.usage[key] = count
        assert not self.new

    @rule(scope=st.sampled_from(("frame", "frame", "stream")), code=st.sampled_from(("json_syntax", "provider_error")))
    def tell_error(self, scope: Any, code: str) -> None:
        if code == "provider_error" and scope == "frame" and len(self.calls) % 3:
            return  # a failed turn has little to show: not in each answer
        self.tell(lambda sink: sink.error(scope, code, "something was wrong"))
        self.errors += 1
        self.has_failed = self.has_failed or scope == "stream" or code == "provider_error"
        assert [event for event in self.new if isinstance(event, sp.Error) and event.code == code]

    @rule(outcome=st.sampled_from(("stop", "tools", "cut", "failed")), chance=st.integers(0, 3))
    def tell_finish(self, outcome: Outcomes, chance: int) -> None:
        if chance:
            return
        self.tell(lambda sink: sink.finish(f"because {outcome}", outcome))
        self.reason, self.outcome = f"because {outcome}", outcome
        self.has_failed = self.has_failed or outcome == "failed"

    @rule(chance=st.integers(0, 5))
    def tell_end(self, chance: int) -> None:
        if not chance:
            self.tell(lambda sink: sink.end())
            self.is_over = True

    # -- calls -----------------------------------------------------------------------------------------

    @rule(
        name=st.sampled_from(NAMES),
        id=st.sampled_from(IDS),
        place=st.sampled_from(("field", "field", "plain", "bare", "thought")),
    )
    def start_call(self, name: str, id: str | None, place: Any) -> None:
        source: Any = "native" if place == "field" else "inband"
        self.tell(lambda sink: sink.call_start(name, id, source, place))
        self.begin_account(Told(self.result, name, source, place), id)

    @rule(name=st.sampled_from(NAMES), id=st.sampled_from(IDS), value=st.sampled_from(VALUES), odd=st.sampled_from(ODD))
    def tell_whole_call(self, name: str, id: str | None, value: dict[str, Any], odd: str) -> None:
        text = odd if value == {"q": "a"} and odd else json.dumps(value)
        self.tell(lambda sink: sink.call_whole(name, text, id))
        told = Told(self.result, name, "native", "field")
        self.begin_account(told, id)
        told.text, told.is_spelled = text, text.startswith("{")
        assert told.call.closed, "a whole call is over at once"
        assert told.index not in self.ledger.open

    @rule(
        name=st.sampled_from(("find", "other")),
        value=st.sampled_from(VALUES),
        places=st.lists(st.sampled_from(("field", "plain")), min_size=2, max_size=5),
    )
    def tell_same_calls(self, name: str, value: dict[str, Any], places: list[Any]) -> None:
        """The same name and the same arguments, by either way."""
        for place in places:
            self.start_call(name, None, place)
            told = self.calls[-1]
            self.tell_fragment(told, json.dumps(value), by_teller=False)
            self.tell(lambda sink, told=told: sink.call_end(told.call))

    @precondition(lambda self: self.reads_text)
    @rule(cuts=st.lists(st.integers(0, len(MARKUP)), max_size=4))
    def tell_markup(self, cuts: list[int]) -> None:
        """A call in the text, in pieces."""
        is_read = self.sink == "in-band" or not self.calls  # what a wire tells is native to it
        before = len(self.ledger.starts)
        for start, end in pairwise(sorted({0, *cuts, len(MARKUP)})):
            self.tell(lambda sink, piece=MARKUP[start:end]: sink.text(piece))
        if is_read:
            assert [start.name for start in self.ledger.starts[before:]] == ["find"]
            assert before not in self.ledger.open, "early"
            self.has_markup = True
        else:
            self.text += MARKUP

    def begin_account(self, told: Told, id: str | None) -> None:
        """A call was started: it is announced in the same batch, by its name and by an id of its own."""
        start = self.ledger.starts[-1]
        assert len(self.ledger.starts) == len(self.calls) + self.found + 1
        assert told.index == start.index
        known = {each.id for each in self.ledger.starts[:-1]}
        if len(told.name) < 1000:
            assert start.name == told.name
        assert start.id not in known
        assert start.id == id or not id or id in known, "the server's own id stands where it can"
        self.calls.append(told)

    @property
    def found(self) -> int:
        """How many calls were found in the text."""
        indexes = {told.index for told in self.calls}
        return sum(start.index not in indexes for start in self.ledger.starts[: len(self.ledger.starts) - 1])

    @precondition(lambda self: self.calls)
    @rule(
        which=st.integers(0, 9),
        value=st.sampled_from(VALUES),
        size=st.sampled_from((1, 3, 5, 99, 99, 99)),
        by_teller=st.booleans(),
    )
    def tell_arguments(self, which: int, value: dict[str, Any], size: int, by_teller: bool) -> None:
        """The next piece of what a call's text has begun, or the beginning of another value."""
        told = self.calls[-1 - which % len(self.calls)]
        whole = next((spelled for spelled in map(json.dumps, VALUES) if spelled.startswith(told.text)), "")
        whole = json.dumps(value) if not told.text or not whole else whole
        self.tell_fragment(told, whole[len(told.text) :][:size] or "}", by_teller)

    @precondition(lambda self: self.calls)
    @rule(which=st.integers(0, 9), odd=st.sampled_from(ODD), by_teller=st.booleans())
    def tell_odd_arguments(self, which: int, odd: str, by_teller: bool) -> None:
        told = self.calls[-1 - which % len(self.calls)]
        if odd:
            self.tell_fragment(told, odd, by_teller)

    def tell_fragment(self, told: Told, fragment: str, by_teller: bool) -> None:
        was_closed = told.index not in self.ledger.open
        if by_teller:
            self.tell(lambda sink: sink.call_teller(told.call)(fragment))
        else:
            self.tell(lambda sink: sink.call_arguments(told.call, fragment))
        changed = [event for event in self.new if getattr(event, "index", None) == told.index]
        if was_closed:
            assert not [event for event in changed if not isinstance(event, sp.Error)], "what is over stays as it is"
            return
        before, told.text = told.text, told.text + fragment
        told.is_spelled = told.is_spelled and (before.strip() == "" or before.lstrip().startswith("{"))
        if told.source == "native" and told.text.lstrip().startswith("{"):
            self.check_native(told)

    def check_native(self, told: Told) -> None:
        """An object is complete at its closing brace, in that batch; but an empty one may hold the place of another."""
        found = told.value
        if found is not None and found[0]:
            assert told.index not in self.ledger.open, "early"
            complete = self.ledger.completes.get(told.index)
            if complete is not None:
                value, end = found
                assert (complete.arguments, complete.raw.strip()) == (value, told.text[:end].strip())
            else:
                assert self.ledger.broken[told.index].code == "duplicate_call"
        elif found is None:
            assert told.index not in self.ledger.completes

    @precondition(lambda self: self.calls)
    @rule(which=st.integers(0, 9))
    def end_call(self, which: int) -> None:
        told = self.calls[-1 - which % len(self.calls)]
        was_open = told.index in self.ledger.open
        self.tell(lambda sink: sink.call_end(told.call))
        if not was_open:
            assert not self.new
        elif told.source != "native":
            assert told.index not in self.ledger.open, "for a call found in the text this decides"
            complete = self.ledger.completes.get(told.index)
            if complete is not None:
                assert complete.raw == told.text
        elif told.text.lstrip().startswith("{") and told.value is None:
            assert told.index in self.ledger.open, "an open value is not closed by hearsay"

    @precondition(lambda self: self.calls)
    @rule(which=st.integers(0, 9), chance=st.integers(0, 3))
    def repair_call(self, which: int, chance: int) -> None:
        told = self.calls[-1 - which % len(self.calls)]
        if not chance and told.source != "native":
            self.tell(lambda sink: sink.call_repaired(told.call))
            assert not self.new

    @precondition(lambda self: self.calls)
    @rule(which=st.integers(0, 9), chance=st.integers(0, 3))
    def break_call(self, which: int, chance: int) -> None:
        if chance:
            return
        told = self.calls[-1 - which % len(self.calls)]
        was_open = told.index in self.ledger.open
        self.tell(lambda sink: sink.call_error(told.call, "malformed_call", "it cannot be read"))
        assert [event.code for event in self.new if isinstance(event, sp.Error)] == ["malformed_call"] * was_open

    @precondition(lambda self: self.calls)
    @rule(which=st.integers(0, 9), chance=st.integers(0, 2))
    def revoke_call(self, which: int, chance: int) -> None:
        if chance:
            return
        told = self.calls[-1 - which % len(self.calls)]
        stood = told.index in self.ledger.completes and told.index not in self.ledger.revoked
        self.tell(lambda sink: sink.call_revoke(told.call, "text_follows"))
        revoked = [event.index for event in self.new if isinstance(event, sp.ToolCallRevoked)]
        assert revoked == [told.index] * stood

    @rule(chance=st.integers(0, 7))
    def doubt_calls(self, chance: int) -> None:
        if not chance:
            self.tell(lambda sink: sink.calls_doubted("malformed_call", "they may be none"))
            standing = {call.index for call in self.ledger.standing}
            assert not [told for told in self.calls if told.source == "inband" and told.index in standing]

    # -- the laws --------------------------------------------------------------------------------------

    @invariant()
    def handles_say_what_the_events_say(self) -> None:
        if not hasattr(self, "parser"):
            return
        for told in self.calls:
            assert told.call.closed == (told.index not in self.ledger.open)
            assert told.call.id.startswith(self.ledger.starts[told.index].id[:200])
            if told.call.closed and told.index in self.ledger.completes:
                assert self.parser.partial(told.index) == self.ledger.completes[told.index].arguments
        if not self.reads_text:
            assert self.ledger.text == self.text

    @invariant()
    def a_call_of_one_way_stands_for_one_of_the_other(self) -> None:
        """The same call natively and in the text is one; twice the same way it is two."""
        if not hasattr(self, "parser"):
            return
        came: dict[str, Counter[str]] = {}
        for told in self.calls:
            complete = self.ledger.completes.get(told.index)
            broken = self.ledger.broken.get(told.index)
            arguments = complete.arguments if complete else told.arguments
            if complete or (broken and broken.code == "duplicate_call" and arguments is not None):
                key = json.dumps([told.name, arguments])
                counts = came.setdefault(key, Counter())
                counts[told.source] += 1
                counts["doubles"] += 0 if complete else 1
        for counts in came.values():
            pairs = min(counts["native"], counts["inband"])
            assert counts["doubles"] <= pairs

    def teardown(self) -> None:
        if not hasattr(self, "parser"):
            return
        self.ledger.take(self.parser.close(), self.size)
        ledger = self.ledger
        ledger.end(self.parser.response)
        assert ledger.done is not None
        assert (ledger.reasoning, ledger.refusal) == (self.reasoning, self.refusal)
        if self.has_markup:  # blanks beside a call belong to it
            assert "".join(ledger.text.split()) == "".join(self.text.split())
        else:
            assert ledger.text == self.text
        assert (ledger.done.finish_reason, ledger.done.usage or {}) == (self.reason, self.usage)
        ended = self.reason is not None or self.is_over
        assert ended or not ledger.done.ok, "loud"
        assert not (self.has_failed and ledger.done.ok), "loud"
        if self.has_failed and self.outcome == "failed":
            assert not ledger.standing, "no call of a failed turn stands"
        if self.refusal:
            assert not ledger.standing, "no call of a refused turn stands"
        uncertain = [call for call in ledger.standing if call.place in ("bare", "thought")]
        assert self.outcome in ("stop", "tools") or not uncertain, "what only a good end makes certain"
        if self.outcome == "tools" and not (self.calls or self.refusal or self.has_markup):
            assert not ledger.done.ok, "a turn that ends for calls has one"


TestVerbs = VerbsMachine.TestCase
TestVerbs.settings = settings_of(examples=100, steps=25)
