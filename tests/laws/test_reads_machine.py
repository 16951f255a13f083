"""Streams of every wire with any number of calls, split into any reads.

A machine writes an answer frame by frame and feeds it in reads of every size and kind, so that the short way of the
parser (reads that are one frame, alike but for one string) and the long one follow each other in every order.  A second
parser is fed the same bytes one by one: it never takes the short way.  What must come stands in an account that the
machine keeps of what it wrote.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from cuts import merged
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from ledger import Ledger, settings_of
from writing import STYLES, WRITERS, Fragment, Message, Writer, frame_of

import streamparse as sp

STRING = {"type": "string"}
TOOLS: Any = [
    {"name": "find", "parameters": {"type": "object", "properties": {"q": STRING}, "required": ["q"]}},
    {"name": "find_all", "parameters": {"type": "object", "properties": {"q": STRING, "n": {"type": "integer"}}}},
    {"name": "now", "parameters": {"type": "object", "properties": {}}},
]
WORDS = ("w", "word", "word ", "two words", "\n", "é", "🎉", '"', "\\", "}", "[DONE]", "data: x", "\u2028")
ARGUMENTS: list[dict[str, Any]] = [{"q": "a"}, {"q": "Zürich"}, {"q": "}", "n": 1}, {"q": '"{\\'}, {"q": "a\nb"}]
READS = ("alone", "alone", "alone", "alone", "joined", "half", "split", "bytearray", "text")
MOST_ARGUMENTS = 30
"""Characters that one call's arguments may have in some answers: more than one call needs, less than all do."""

words = st.sampled_from(WORDS)
styles = st.sampled_from(("usual",) * 8 + STYLES)
reads = st.sampled_from(READS)
pieces = st.tuples(
    st.integers(0, 7),
    st.sampled_from((1, 1, 2, 3, 9, 99)),
    st.sampled_from((None, None, None, "", "null", "same", "elsewhere", "elsewhere")),
    reads,
)
"""A piece of a call: of which, of how many characters, with what name, in what read."""
lengths = st.sampled_from((1, 2, 2, 9))


class Written:
    """A call as it was written so far."""

    def __init__(self, number: int, name: str, id: str | None, index: int | None, arguments: dict[str, Any]) -> None:
        self.number = number
        self.name = name
        self.id = id
        self.index = index
        self.arguments = arguments
        self.text = json.dumps(arguments)
        self.at = 0
        self.is_named = False

    @property
    def is_open(self) -> bool:
        return self.at < len(self.text) or not self.is_named

    def fragment(self, size: int, **parts: Any) -> Fragment:
        """The next piece of the arguments."""
        piece = self.text[self.at : self.at + size]
        self.at += len(piece)
        return Fragment(self.number, **{"arguments": piece, "index": self.index} | parts)


class Reads(RuleBasedStateMachine):
    """One answer of one wire."""

    wire: str
    writer: Writer

    @initialize(
        ids=st.sampled_from(("own", "one", "none")),
        has_indexes=st.booleans(),
        is_small=st.booleans(),
        is_named=st.booleans(),
    )
    def begin(self, ids: str, has_indexes: bool, is_small: bool, is_named: bool) -> None:
        wire = self.wire
        self.writer = WRITERS[wire]()
        limits = sp.Limits(max_call_args=MOST_ARGUMENTS) if is_small else sp.Limits()
        name = wire if is_named or wire == "openai-completions" else "auto"
        self.fast = sp.StreamParser(name, dialects=(), tools=TOOLS, limits=limits)
        self.slow = sp.StreamParser(name, dialects=(), tools=TOOLS, limits=limits)
        self.fast_ledger, self.slow_ledger = Ledger(), Ledger()
        self.held = b""
        self.size = 0
        self.ids = ids
        self.has_indexes = has_indexes
        self.calls: list[Written] = []
        self.text = self.thought = ""
        self.late = 0
        self.has_ended = False
        self.goes_on = False  # behind the end came more that counts
        self.is_certain = True
        self.send(self.writer.begin(), "usual", "alone", 1)

    # -- reads -----------------------------------------------------------------------------------------

    def send(self, messages: list[Message], style: str, read: str, length: int) -> None:
        for message in messages:
            self.read(frame_of(self.writer.wire, message, style, length), read, length)

    def read(self, data: bytes, read: str, length: int) -> None:
        """Give some bytes to both parsers; "joined" and "half" leave some for the next read."""
        data, self.held = self.held + data, b""
        if read == "joined":
            self.held = data
        elif read == "half":
            cut = max(1, len(data) - length)
            self.held = data[cut:]
            self.feed(data[:cut])
        elif read == "split":
            self.feed(data[:length])
            self.feed(data[length:])
        elif read == "bytearray":
            self.feed(bytearray(data))
        elif read == "text" and self.writer.wire != "bedrock-converse":
            self.feed(data.decode())
        else:
            self.feed(data)

    def feed(self, chunk: bytes | bytearray | str) -> None:
        data = chunk.encode() if isinstance(chunk, str) else bytes(chunk)
        self.size += len(data)
        self.fast_ledger.take(self.fast.feed(chunk), self.size)
        for at in range(len(data)):
            self.slow_ledger.take(self.slow.feed(data[at : at + 1]), self.size)

    # -- what an answer holds --------------------------------------------------------------------------

    @property
    def counts(self) -> bool:
        """Whether what is written now is part of the answer."""
        return not (self.has_ended and self.writer.is_final)

    def note_content(self) -> None:
        self.goes_on = self.goes_on or (self.has_ended and self.counts)

    @rule(texts=st.lists(words, min_size=1, max_size=6), style=styles, read=reads, length=lengths)
    def write_texts(self, texts: list[str], style: str, read: str, length: int) -> None:
        for text in texts:
            self.note_content()
            self.text += text if self.counts else ""
            self.send(self.writer.text(text), style, read, length)

    @precondition(lambda self: self.writer.has_thoughts)
    @rule(texts=st.lists(words, min_size=1, max_size=4), style=styles, read=reads, length=lengths)
    def write_thoughts(self, texts: list[str], style: str, read: str, length: int) -> None:
        for text in texts:
            self.note_content()
            self.thought += text if self.counts else ""
            self.send(self.writer.thought(text), style, read, length)

    @rule(behind=st.sampled_from(("", "x", "other half", "twice", "twice")), read=reads, other_read=reads)
    def write_character_in_halves(self, behind: str, read: str, other_read: str) -> None:
        """A surrogate pair over two messages; where the second has two strings, a half in the other one is lost."""
        self.note_content()
        self.send(self.writer.text("a"), "usual", "alone", 1)  # its block, where it is the first
        self.send(self.writer.text("b\ud83c"), "usual", read, 3)
        if behind == "other half":
            messages, low, thought = self.writer.text("c"), "\ufffdc", ""
        elif behind == "twice" and (both := self.writer.text_and_thought("\udf89c", "\udf89d")):
            messages, low, thought = both, "🎉c", "\ufffdd"
        else:
            messages, low, thought = self.writer.text("\udf89" + behind), "🎉" + behind, ""
        self.send(messages, "usual", other_read, 3)
        self.text += f"ab{low}" if self.counts else ""
        self.thought += thought if self.counts else ""

    @precondition(lambda self: self.writer.wire != "bedrock-converse")
    @rule(comment=st.sampled_from((b": ping\n\n", b"\n", b"\r\n\r\n", b": x\n: y\n")), read=reads)
    def write_noise(self, comment: bytes, read: str) -> None:
        is_line = self.writer.wire.startswith("ollama")
        self.read(b"\n" if is_line else comment, read, 1)

    def new_call(self, name: str, arguments: dict[str, Any]) -> Written:
        self.note_content()
        self.is_certain = self.is_certain and not self.has_ended
        number = len(self.calls)
        index: int | None = number
        if not self.has_indexes and not any(call.is_open for call in self.calls) and self.ids == "own":
            index = 0  # where calls follow each other, an index may be used again
        id = {"own": f"id{number}", "one": "id", "none": None}[self.ids]
        call = Written(number, name, id, index, {} if name == "now" else arguments)
        self.calls.append(call)
        return call

    @precondition(lambda self: self.writer.has_calls and self.writer.has_pieces and self.counts and len(self.calls) < 8)
    @rule(
        name=st.sampled_from(("find", "find_all", "other", "now")),
        arguments=st.sampled_from(ARGUMENTS),
        size=st.integers(0, 3),
        style=styles,
        read=reads,
        length=lengths,
    )
    def start_call(self, name: str, arguments: dict[str, Any], size: int, style: str, read: str, length: int) -> None:
        call = self.new_call(name, arguments)
        call.is_named = True
        if self.writer.wire == "openai-chat":
            fragment = call.fragment(size, name=name, id=call.id)
        else:
            fragment = call.fragment(0, name=name, id=call.id)
        self.send(self.writer.call_start(fragment), style, read, length)

    @precondition(lambda self: self.writer.wire == "openai-chat" and self.counts and len(self.calls) < 8)
    @rule(arguments=st.sampled_from(ARGUMENTS), read=reads)
    def start_nameless_call(self, arguments: dict[str, Any], read: str) -> None:
        """The arguments come before the name, which is that of no longer one's beginning: such a one waits."""
        call = self.new_call("find_all", arguments)
        call.index = 100 + call.number
        id = call.id if self.ids == "own" else None  # a known id would say whose arguments they are
        self.send(self.writer.call_piece(call.fragment(len(call.text), id=id)), "usual", read, 1)
        call.is_named = True
        self.send(self.writer.call_piece(call.fragment(0, arguments=None, name="find_all")), "usual", read, 1)

    @precondition(lambda self: self.counts and any(call.is_open for call in self.calls))
    @rule(pieces=st.lists(pieces, min_size=1, max_size=6), style=styles, length=lengths)
    def continue_calls(self, pieces: list[tuple[int, int, str | None, str]], style: str, length: int) -> None:
        """The next pieces of open calls, by turns; some servers repeat a name in each, or have another one there."""
        self.is_certain = self.is_certain and not self.has_ended
        for which, size, name, read in pieces:
            opened = [call for call in self.calls if call.is_open]
            if not opened:
                return
            call = opened[which % len(opened)]
            word = {"same": call.name, "elsewhere": "now"}.get(name or "", name)
            if self.writer.wire != "openai-chat" or (not call.at and word not in (None, call.name)):
                word = None  # before the value has begun, a name is one
            self.send(self.writer.call_piece(call.fragment(size, name=word)), style, read, length)
            if not call.is_open:
                self.send(self.writer.call_stop(call.number), style, read, length)

    @precondition(lambda self: self.writer.has_calls and self.counts and len(self.calls) < 8)
    @rule(
        name=st.sampled_from(("find", "find_all", "other", "now")),
        arguments=st.sampled_from(ARGUMENTS),
        style=styles,
        read=reads,
        length=lengths,
    )
    def write_whole_call(self, name: str, arguments: dict[str, Any], style: str, read: str, length: int) -> None:
        call = self.new_call(name, arguments)
        call.is_named = True
        whole = call.fragment(len(call.text), name=name, id=call.id)
        self.send(self.writer.call_whole(whole), style, read, length)

    @precondition(lambda self: self.size > 600)
    @rule(
        before=st.integers(0, 4), behind=st.integers(0, 2), style=styles, read=reads, behind_read=reads, length=lengths
    )
    def end(self, before: int, behind: int, style: str, read: str, behind_read: str, length: int) -> None:
        """The end in the middle of texts that are alike: what no server should send."""
        self.write_texts(["word "] * before, "usual", "alone", 1)
        self.has_ended = True
        self.goes_on = False
        self.send(self.writer.end(bool(self.calls)), style, read, length)
        self.write_texts(["word "] * behind, "usual", behind_read, 1)

    # -- the laws --------------------------------------------------------------------------------------

    @invariant()
    def nothing_waits_without_need(self) -> None:
        """Both parsers have told the same so far; where no read waits for its rest, all that was written."""
        if not hasattr(self, "fast"):
            return
        fast, slow = self.fast_ledger, self.slow_ledger
        assert (fast.text, fast.reasoning, fast.deltas) == (slow.text, slow.reasoning, slow.deltas)
        if not self.held:
            assert fast.text == self.text
            assert fast.reasoning == self.thought
            closed = Counter(call.name for call in self.calls if not call.is_open and call.arguments)
            assert not self.is_certain or closed <= Counter(call.name for call in fast.completes.values())

    def teardown(self) -> None:
        if not hasattr(self, "fast"):
            return
        if self.held:
            self.read(b"", "alone", 1)
        if not self.has_ended:
            self.end(0, 0, "usual", "alone", "alone", 1)
        self.fast_ledger.take(self.fast.close(), self.size)
        self.slow_ledger.take(self.slow.close(), self.size)
        assert merged(self.fast_ledger.events) == merged(self.slow_ledger.events)
        assert self.fast.response == self.slow.response
        assert self.fast.stats == self.slow.stats
        ledger = self.fast_ledger
        ledger.end(self.fast.response)
        assert ledger.text == self.text
        assert ledger.reasoning == self.thought
        assert not ledger.revoked
        assert self.fast.response.ok is not self.goes_on
        if self.is_certain and not self.goes_on:
            wanted = [(call.name, call.arguments) for call in self.calls if not call.is_open]
            empty = [call.name for call in self.calls if call.is_open and not call.at]
            wanted += [(name, {}) for name in empty if name != "find"]
            complete = [(call.name, call.arguments) for call in ledger.completes.values()]
            assert _counted(complete) == _counted(wanted)
            cut = sum(call.is_open for call in self.calls) - len(empty)
            codes = ["missing_arguments"] * empty.count("find") + ["truncated_call"] * cut
            assert sorted(error.code for error in ledger.errors) == codes


def _counted(calls: list[tuple[str, dict[str, Any]]]) -> Counter[str]:
    return Counter(json.dumps(call) for call in calls)


def machine_of(wire: str) -> Any:
    """The test of one wire; those with more ways to write a call get more examples."""
    machine = type(f"Reads of {wire}", (Reads,), {"wire": wire})
    test = machine.TestCase
    test.settings = settings_of(examples=60 if wire == "openai-chat" else 12, steps=20)
    return test


TestChat = machine_of("openai-chat")
TestCompletions = machine_of("openai-completions")
TestResponses = machine_of("openai-responses")
TestAnthropic = machine_of("anthropic")
TestGemini = machine_of("gemini")
TestOllamaChat = machine_of("ollama-chat")
TestOllamaGenerate = machine_of("ollama-generate")
TestBedrock = machine_of("bedrock-converse")
TestCohere = machine_of("cohere")
