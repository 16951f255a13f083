"""What chat servers send besides text and calls of functions: items, each once and whole."""

from __future__ import annotations

from io import StringIO
from typing import Any, Final

import msgspec

from streamparse.limits import Limits, most
from streamparse.providers.openai_chat.chunk import Custom, Delta, Detail
from streamparse.sink import Sink

__all__ = ["CustomCalls", "Details", "Sources", "contents_of"]

_TEXTS: Final = ("text", "summary")
_BEGINNING: Final = (*_TEXTS, "signature", "data")


class Sources:
    """Lists of sources beside the answer: Perplexity repeats them in each chunk."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._told: dict[str, list[Any]] = {}

    def take(self, **lists: list[Any] | None) -> None:
        """Tell those lists that are new."""
        for kind, listed in lists.items():
            if listed and listed != self._told.get(kind):
                self._told[kind] = listed
                self._sink.item(kind, listed)


class Details:
    """Entries of OpenRouter's `reasoning_details`: the thoughts, and what goes back with them.

    https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks

    An entry comes in pieces, known by its index and its type.  It is an item where it begins and one where it is signed
    or hidden, without its text; one that comes whole, and has no other open before it, is a single item with its text.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._open: tuple[int | None, str | None] | None = None

    def take(self, details: list[Detail], thought: str) -> None:
        """Tell the entries of a delta; `thought` is what it says of them beside, which is the same as a rule."""
        same = thought in ("", "".join(_text(detail) for detail in details))
        if not same:
            self._sink.reasoning(thought)
        for detail in details:
            key = detail.index, detail.type
            text = _text(detail) if same else ""
            told = _TEXTS if text else ()
            ends = bool(detail.data or detail.signature)
            begins = key != self._open or (len(details) > 1 and detail.index is None)
            if begins and (not ends or (text and self._open)):
                self._tell(detail, _BEGINNING if ends else told)
            if text:
                self._sink.reasoning(text)
            if ends:
                self._tell(detail, told if self._open else ())
            self._open = None if ends else key

    def _tell(self, detail: Detail, but: tuple[str, ...]) -> None:
        fields = msgspec.to_builtins(detail)
        data = {name: value for name, value in fields.items() if value is not None and name not in but}
        self._sink.item(detail.type or "reasoning_details", data)


def _text(detail: Detail) -> str:
    return detail.text or detail.summary or ""


class _Custom:
    """One call of a tool that takes text; `lost` once more of it came than may be kept."""

    __slots__ = ("id", "input", "lost", "name")

    def __init__(self, id: str | None, name: str | None) -> None:
        self.id = id
        self.name = name
        self.input = StringIO()
        self.lost = False


class CustomCalls:
    """Calls of tools that take text: no arguments are decoded, so each is an item, told when the answer is over.

    `max_calls` bounds how many are kept, `max_call_args` their inputs, all together.
    """

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self._room = most(limits.max_call_args)
        self._most = most(limits.max_calls)
        self._calls: dict[int | None, _Custom] = {}
        self._refused = False

    def add(self, index: int | None, id: str | None, piece: Custom) -> None:
        """Take a piece of a call."""
        call = self._calls.get(index)
        if call is not None and id and call.id and id != call.id:
            self._tell(index)
            call = None
        if call is None and len(self._calls) < self._most:
            call = self._calls[index] = _Custom(id, piece.name)
        if call is not None:
            self._keep(call, piece.input or "")
        elif not self._refused:
            self._refused = True
            self._sink.error("frame", "limit_calls", f"more than {self._most} custom calls")

    def close(self) -> None:
        """The calls are whole."""
        for index in list(self._calls):
            self._tell(index)

    def cut(self) -> None:
        """The answer was cut, and so was the last call, which is an error: what it would have been nobody knows."""
        if self._calls:
            last = self._calls.popitem()[1]
            self.close()
            text = last.input.getvalue()
            self._sink.error("frame", "truncated_call", f"the stream ended inside the call of {last.name!r}: {text}")

    def _keep(self, call: _Custom, text: str) -> None:
        if call.lost:
            return
        if len(text) > self._room:
            call.lost = True
            self._sink.error("frame", "limit_args", f"the input of {call.name!r} ({call.id}) is too long")
        else:
            self._room -= len(text)
            call.input.write(text)

    def _tell(self, index: int | None) -> None:
        call = self._calls.pop(index)
        text = call.input.getvalue()
        self._room += len(text)
        if not call.lost:
            data = {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": text}}
            self._sink.item("custom_tool_call", data)


def contents_of(delta: Delta) -> list[dict[str, Any]]:
    """Return the contents of a delta of Snowflake Cortex: a list, or one that stands flat in the delta, or both.

    https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api

    A call begins with its `tool_use_id` and its `name`, and pieces of its `input` follow; in a whole message all of
    them stand one level deeper, in `tool_use`.
    """
    listed = delta.content_list or [{"tool_use_id": delta.tool_use_id, "name": delta.name, "input": delta.input}]
    contents = [content for content in listed if isinstance(content, dict)]
    return [content["tool_use"] if isinstance(content.get("tool_use"), dict) else content for content in contents]
