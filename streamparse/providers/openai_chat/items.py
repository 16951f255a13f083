"""What chat servers send besides text and calls of functions: items, each once and whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from streamparse.reading.decode import get_fields
from streamparse.reading.pieces import Budget, PendingCall, PendingText
from streamparse.sink import Sink

# -- ----------------------------------------------------------------------------------------------------
# A thought that a chat server sends twice at once: in its own field, and between tags at the start of the content.


_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
_MOST_AHEAD: Final = 4096  # bound: the text that is kept to be compared
"""Characters that the content may lag; a thought that came much earlier is not compared."""


def is_thought_start(text: str) -> bool:
    """Whether the first content of an answer begins with the tag of a thought."""
    return text.lstrip().startswith(_OPEN)


class Echo:
    """Takes the content of an answer that begins with `<think>`, and sends what the thought's own field did not have.

    If the tag comes together with the first of the thought, neither the tags nor what is between them is sent.
    """

    def __init__(self, send: Callable[[str], None]) -> None:
        self.active: bool = True
        """Whether the content may still repeat the thought."""
        self._send = send
        self._ahead = ""  # what the field had and the content has not repeated yet
        self._has_thought = False
        self._begun = False
        self._hides_tags = False

    def feed_thought(self, thought: str) -> None:
        """A piece of the thought came in its own field, while the content may still repeat it."""
        self._has_thought = True
        self._ahead += thought if self._begun else thought.lstrip("\n")
        self.active = len(self._ahead) <= _MOST_AHEAD

    def take_text(self, text: str) -> None:
        """Take a piece of the content."""
        if not self.active:
            self._send(text)
        elif not self._has_thought:  # the tag alone: the thought may come in its own field before more content
            self._begun = True
            self.active = text.strip() in ("", _OPEN)
            self._send(text)
        elif self._begun:
            self._compare(text)
        else:
            self._begun = self._hides_tags = True
            self._compare(text.lstrip().removeprefix(_OPEN).lstrip("\n"))

    def _compare(self, text: str) -> None:
        body, close, rest = text.partition(_CLOSE)
        repeated = next((each for each in (body, body.strip("\n")) if self._ahead.startswith(each)), None)
        if repeated is None:
            self.active = False
            self._send(f"{_OPEN}{text}" if self._hides_tags else text)
            return
        self._ahead = self._ahead[len(repeated) :]
        if close:
            self.active = False
            rest = rest if self._hides_tags else close + rest
            if rest:
                self._send(rest)


# -- ----------------------------------------------------------------------------------------------------
# A thought that Google sends as content, with a flag beside it.


_GOOGLE_TAGS: Final = ("thought", "think", "thinking")


def is_google_thought(extra_content: Any) -> bool:
    """Whether what is beside a content says that it is a thought: `{"google": {"thought": true}}`."""
    google = extra_content.get("google") if isinstance(extra_content, dict) else None
    return isinstance(google, dict) and google.get("thought") is True


class FlaggedThought:
    """Takes the tags away that Google writes around a thought whose content it flags.

    Gemini's API writes `<thought>`, Vertex AI the tag that the request asks for, or none (`thought_tag_marker`):
    https://docs.cloud.google.com/vertex-ai/generative-ai/docs/migrate/openai/overview. The closing tag comes with the
    first content that is not flagged; in a whole message, the flagged content holds the thought and what follows it.
    """

    def __init__(self) -> None:
        self._close = ""  # the closing tag, until it comes

    def split(self, content: str) -> tuple[str, str]:
        """Return what flagged content holds of the thought, and the text after the thought."""
        if not self._close:
            begin = content.lstrip()
            tag = next((each for each in _GOOGLE_TAGS if begin.startswith(f"<{each}>")), None)
            if tag is None:
                return content, ""
            self._close = f"</{tag}>"
            content = begin.removeprefix(f"<{tag}>")
        thought, close, text = content.partition(self._close)
        if close:
            self._close = ""
        return thought, text

    def end(self, text: str) -> str:
        """Return content that is not flagged, the first without the closing tag."""
        if not text.strip():
            return text
        close, self._close = self._close, ""
        begin = text.lstrip()
        return begin.removeprefix(close) if close and begin.startswith(close) else text


# -- ----------------------------------------------------------------------------------------------------

_TEXTS: Final = ("text", "summary")
_BEGINNING: Final = (*_TEXTS, "signature", "data")


class Custom(msgspec.Struct, gc=False):
    """A piece of a call of a tool that takes text."""

    name: str | None = None
    input: str | None = None


class Detail(msgspec.Struct, gc=False):
    """An entry of OpenRouter's `reasoning_details`."""

    type: str | None = None
    text: str | None = None
    summary: str | None = None
    data: str | None = None
    signature: str | None = None
    id: str | None = None
    format: str | None = None
    index: int | None = None


class Details(msgspec.Struct, eq=False):
    """Entries of OpenRouter's `reasoning_details`: the thoughts, and what goes back with them.

    https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks

    An entry comes in pieces, known by its index and its type.  It is an item where it begins and one where it is signed
    or hidden, without its text; one that comes whole, and has no other open before it, is a single item with its text.
    """

    sink: Sink
    _open: tuple[int | None, str | None] | None = None

    def take(self, details: list[Detail], thoughts: list[str]) -> None:
        """Send the entries of a delta.  `thoughts` are the texts of its other fields, as a rule one, the same."""
        if len(details) == 1:  # nearly always one more piece of the text of the open entry
            text = _read_text(details[0])
            if text and thoughts in ([text], []) and self._goes_on(details[0]):
                self.sink.reasoning(text)
                return
        whole = "".join(_read_text(detail) for detail in details)
        same = not thoughts or whole in thoughts
        for thought in thoughts:
            if thought != whole:
                self.sink.reasoning(thought)
        for detail in details:
            key = detail.index, detail.type
            text = _read_text(detail) if same else ""
            without = _TEXTS if text else ()
            ends = bool(detail.data or detail.signature)
            begins = key != self._open or (len(details) > 1 and detail.index is None)
            if begins and (not ends or (text and self._open)):
                self._send(detail, _BEGINNING if ends else without)
            if text:
                self.sink.reasoning(text)
            if ends:
                self._send(detail, without if self._open else ())
            self._open = None if ends else key

    def is_next_piece(self, detail: Detail, text: str) -> bool:
        """Whether an entry is one more piece of the open one, with this text, and nothing else."""
        return _read_text(detail) == text and self._goes_on(detail)

    def _goes_on(self, detail: Detail) -> bool:
        """Whether an entry belongs to the open one, and does not end it."""
        return self._open == (detail.index, detail.type) and not (detail.data or detail.signature)

    def _send(self, detail: Detail, but: tuple[str, ...]) -> None:
        names = [name for name in Detail.__struct_fields__ if name not in but]
        self.sink.item(detail.type or "reasoning_details", get_fields(detail, names))


def _read_text(detail: Detail) -> str:
    return detail.text or detail.summary or ""


class CustomCalls(msgspec.Struct, eq=False):
    """Calls of tools that take text: no arguments are decoded, so each is an item, sent when the answer is over.

    `max_calls` bounds how many are kept, `budget` their inputs, all together.
    """

    sink: Sink
    max_calls: int
    budget: Budget
    _calls: dict[int | None, PendingCall] = {}
    _has_refused: bool = False

    def add(self, index: int | None, id: str | None, piece: Custom) -> None:
        """Take a piece of a call."""
        call = self._calls.get(index)
        if call is not None and id and call.id and id != call.id:
            self._send(self._calls.pop(index))
            call = None
        if call is None and len(self._calls) < self.max_calls:
            call = self._calls[index] = PendingCall(PendingText(self.budget), id, piece.name or "")
        if call is not None:
            if not call.early.add(piece.input or ""):
                self.sink.error("frame", "limit_args", f"the input of {call.name!r} ({call.id}) is too long")
        elif not self._has_refused:
            self._has_refused = True
            self.sink.error("frame", "limit_calls", f"more than {self.max_calls} custom calls")

    def close(self, cut: bool) -> None:
        """The answer is over; if it was cut, so was the last call, which is an error."""
        if not self._calls:
            return
        last = self._calls.popitem()[1] if cut else None
        for call in self._calls.values():
            self._send(call)
        self._calls.clear()
        if last is not None:
            message = f"the stream ended inside the call of {last.name!r}: {last.early}"
            self.sink.error("frame", "truncated_call", message)

    def _send(self, call: PendingCall) -> None:
        text = call.early.take()
        if not call.early.is_lost:
            data = {"id": call.id, "type": "custom", "custom": {"name": call.name or None, "input": text}}
            self.sink.item("custom_tool_call", data)
