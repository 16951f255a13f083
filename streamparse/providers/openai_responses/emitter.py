"""OpenAI Responses: server-sent events around the items of an answer, or one `response`.

    response.created  response.in_progress
      output_item.added  content_part.added  output_text.delta*  output_text.done  content_part.done  output_item.done
      output_item.added  function_call_arguments.delta*  function_call_arguments.done  output_item.done
    response.completed | response.incomplete | response.failed

Numbers count up without a gap, and each item has its place in `output`.  Text, a refusal and a thought are parts of one
item as long as nothing else comes between; each call is an item of its own, which stays open next to others until the
call is complete.  Codex runs a call at its `output_item.done`: it is written for a complete call alone.  A call that
broke has none, is not in the final `output`, and the response is incomplete.  The order and the fields are those that
the official clients sum up (`openai.lib.streaming.responses`), which raise where one is missing.

A thought is `reasoning_text`.  The server's own item with its `encrypted_content` follows it without its text: it keeps
its id, which the server checks when the item comes back.  `declared` says how the client
declared tools that the model knows otherwise (`client_tools`): a call goes back under the client's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from types import MappingProxyType
from typing import Any, ClassVar, Final

from streamparse import events
from streamparse.emitting.calls import get_argument_text
from streamparse.emitting.emitter import Emitter, encode
from streamparse.emitting.outcome import Outcome, find_kind
from streamparse.providers.openai_chat import extras
from streamparse.providers.openai_responses.client_tools import ClientTool, read_text_input
from streamparse.providers.openai_responses.facts import is_own_item
from streamparse.response import ParsedResponse, ToolCall
from streamparse.usage import count_tokens
from streamparse.writing.answer_parts import arrange_answer
from streamparse.writing.parts import Item, Text, Thought
from streamparse.writing.traits import IdPolicy

_EMPTY_PARTS: Final[dict[str, dict[str, Any]]] = {
    "output_text": {"type": "output_text", "text": "", "annotations": [], "logprobs": []},
    "refusal": {"type": "refusal", "refusal": ""},
    "reasoning_text": {"type": "reasoning_text", "text": ""},
}
_MORE_FIELDS: Final[dict[str, dict[str, Any]]] = {"output_text": {"logprobs": []}, "refusal": {}, "reasoning_text": {}}
"""What the events of a part hold besides its text."""
_INCOMPLETE: Final = {"length": "max_output_tokens", "content_filter": "content_filter"}
_KINDS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
    500: "server_error",
}
"""The types of errors: https://platform.openai.com/docs/guides/error-codes."""
_NO_THOUGHT: Final[dict[str, Any]] = {"summary": [], "content": None}
_ANY_ID: Final = IdPolicy(r"(?s).*", 64)


class ResponsesEmitter(Emitter):
    """Writes an answer as OpenAI Responses does."""

    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    id_prefix: ClassVar[str] = "resp_"

    def __init__(self, *, declared: Mapping[str, ClientTool] = MappingProxyType({}), **options: Any) -> None:
        self._declared = declared
        super().__init__(**options)

    def _prepare(self) -> None:
        self._numbers = count()
        self._places = count()
        self._has_begun = False
        self._output: dict[int, dict[str, Any]] = {}  # items that are done, by their places
        self._item: dict[str, Any] = {}  # the message or the thought that is open
        self._place = 0  # its place
        self._part = ""  # the type of its part that is open
        self._pieces: list[str] = []  # the text of that part
        self._annotations: list[Any] = []
        self._phase: Any = None
        self._has_loose_thought = False  # a thought was written whose own item may still come
        self._open_calls: dict[int, tuple[int, dict[str, Any], list[str]]] = {}  # place, item, arguments

    def write_error_body(self, code: str, message: str, status: int | None = None) -> bytes:
        kind = find_kind(_KINDS, code, status)
        return encode({"error": {"message": message, "type": kind, "param": None, "code": code}})

    # -- text and thought ------------------------------------------------------------------------------

    def _write_text(self, event: events.TextDelta) -> bytes:
        return self._extend("output_text", event.text)

    def _write_refusal(self, event: events.RefusalDelta) -> bytes:
        return self._extend("refusal", event.text)

    def _write_reasoning(self, event: events.ReasoningDelta) -> bytes:
        return self._extend("reasoning_text", event.text)

    def _extend(self, part: str, text: str) -> bytes:
        head = self._enter(part) if part != self._part else b""
        self._pieces.append(text)
        return head + b"%b%d,%b%b}\n\n" % (self._delta_head, next(self._numbers), self._delta_place, encode(text))

    def _enter(self, part: str) -> bytes:
        """Begin a part, in the open item if it may hold one of this type."""
        head = self._leave_part()
        item_type = "reasoning" if part == "reasoning_text" else "message"
        if self._item.get("type") != item_type:
            head += self._leave() + self._begin_item(item_type)
        self._part = part
        self._delta_head, self._delta_place = self._make_delta_templates(part)
        return head + self._write_part_event("response.content_part.added", part=_EMPTY_PARTS[part])

    def _begin_item(self, item_type: str) -> bytes:
        """Begin a message or a thought."""
        self._place = next(self._places)
        if item_type == "message":
            self._item = {"id": self._make_id("msg", self._place), "type": "message", "status": "in_progress"}
            self._item |= {"role": "assistant", "content": []}
            if self._phase is not None:
                self._item["phase"] = self._phase
        else:
            self._item = {"id": self._make_id("rs", self._place), "type": "reasoning", "summary": [], "content": []}
        return self._write_item_event("added", self._place, self._item)

    def _make_delta_templates(self, part: str) -> tuple[bytes, bytes]:
        """Return what stands before the number of a delta's event, and between that and the text."""
        name = b"response.%b.delta" % part.encode()
        fields = {"item_id": self._item["id"], "output_index": self._place, "content_index": len(self._item["content"])}
        place = encode(fields | _MORE_FIELDS[part])[1:-1] + b',"delta":'
        return b'event: %b\ndata: {"type":"%b","sequence_number":' % (name, name), place

    def _leave_part(self) -> bytes:
        """End the open part, if one is open."""
        part, self._part = self._part, ""
        if not part:
            return b""
        text, self._pieces = "".join(self._pieces), []
        field = "refusal" if part == "refusal" else "text"
        whole = _EMPTY_PARTS[part] | {field: text}
        if part == "output_text":
            whole["annotations"], self._annotations = self._annotations, []
        written = self._write_part_event(f"response.{part}.done", **{field: text}, **_MORE_FIELDS[part])
        written += self._write_part_event("response.content_part.done", part=whole)
        self._item["content"].append(whole)
        return written

    def _leave(self) -> bytes:
        """End the open message or thought, if one is open."""
        head = self._leave_part()
        item, self._item = self._item, {}
        if not item:
            return head
        if item["type"] == "message":
            self._phase = None
        else:
            self._has_loose_thought = True
        return head + self._end_item(self._place, {**item, "status": "completed"})

    def _write_part_event(self, kind: str, **fields: Any) -> bytes:
        place = {"item_id": self._item["id"], "output_index": self._place, "content_index": len(self._item["content"])}
        return self._write_event(kind, place | fields)

    # -- calls -----------------------------------------------------------------------------------------

    def write_call_start(self, event: events.ToolCallStart, /) -> bytes:
        head, place = self._leave(), next(self._places)
        item = self._make_call(place, self._give_id(event.id, event.index), event.name)
        self._open_calls[event.index] = place, item, []
        return head + self._write_item_event("added", place, item)

    def write_arguments(self, index: int, text: str, /) -> bytes:
        place, item, pieces = self._open_calls[index]
        pieces.append(text)
        if item["type"] != "function_call":
            return b""  # the text is a value in the arguments, and is sent once they are whole
        fields = {"item_id": item["id"], "output_index": place, "delta": text}
        return self._write_event("response.function_call_arguments.delta", fields)

    def write_call_end(self, event: events.ToolCallComplete, /) -> bytes:
        place, item, pieces = self._open_calls.pop(event.index)
        where = {"item_id": item["id"], "output_index": place}
        if item["type"] == "function_call":
            arguments = "".join(pieces)
            fields = where | {"name": item["name"], "arguments": arguments}
            written = self._write_event("response.function_call_arguments.done", fields)
            return written + self._end_item(place, {**item, "status": "completed", "arguments": arguments})
        text = read_text_input(event.arguments)
        written = self._write_event("response.custom_tool_call_input.delta", where | {"delta": text})
        written += self._write_event("response.custom_tool_call_input.done", where | {"input": text})
        return written + self._end_item(place, {**item, "status": "completed", "input": text})

    def _make_call(self, place: int, id: str, name: str) -> dict[str, Any]:
        """Return the item of a call that begins, as its client declared the tool."""
        tool = self._declared.get(name) or ClientTool(name)
        prefix, kind, field = (
            ("ctc", extras.CUSTOM_CALL, "input") if tool.takes_text else ("fc", "function_call", "arguments")
        )
        item = {"id": self._make_id(prefix, place), "type": kind, "status": "in_progress"}
        item |= {"call_id": id, "name": tool.name, field: ""}
        return item | ({"namespace": tool.namespace} if tool.namespace else {})

    # -- items of the server ---------------------------------------------------------------------------

    def _write_item(self, event: events.ProviderItem) -> bytes:
        kind, data = event.kind, event.data
        if kind == "annotation":
            return self._add_annotation(data)
        if kind == "phase":
            left = self._leave()
            self._phase = data
            return left
        if kind == extras.CUSTOM_CALL and isinstance(data, dict):
            self._outcome.called = True
            data = extras.write_item_call(data, _ANY_ID)
        if not is_own_item(kind, data):
            return b""
        left, place = self._leave(), next(self._places)
        if kind == "reasoning" and self._has_loose_thought:
            data, self._has_loose_thought = data | _NO_THOUGHT, False
        item = {"id": self._make_id("item", place), **data}
        return left + self._write_item_event("added", place, item) + self._end_item(place, item)

    def _add_annotation(self, annotation: Any) -> bytes:
        """Add a citation to the open text; one that comes elsewhere has no place."""
        if self._part != "output_text":
            return b""
        number = len(self._annotations)
        self._annotations.append(annotation)
        fields = {"annotation_index": number, "annotation": annotation}
        return self._write_part_event("response.output_text.annotation.added", **fields)

    # -- the end, and the whole ------------------------------------------------------------------------

    def _write_failure(self, code: str, message: str) -> bytes:
        left = self._leave()
        failed = self._describe("failed") | {"error": {"code": code, "message": message}}
        return left + self._write_event("response.failed", {"response": failed})

    def _write_end(self, done: events.Done) -> bytes:
        left = self._explain(self._outcome) + self._leave()
        end = self._describe_end(self._outcome, done.usage)
        return left + self._write_event(f"response.{end['status']}", {"response": end})

    def _make_body(self, response: ParsedResponse, outcome: Outcome) -> dict[str, Any]:
        """Return the whole response: its items are those that a stream of it would end."""
        self._prepare()
        for part in arrange_answer(response):
            match part:
                case Text():
                    self._extend("output_text", part.text)
                case Thought():
                    self._extend("reasoning_text", part.text)
                case ToolCall():
                    self._add_whole_call(part)
                case Item():
                    self._write_item(events.ProviderItem(part.kind, part.data, part.index))
        self._explain(outcome)
        self._leave()
        return self._describe_end(outcome, response.usage)

    def _explain(self, outcome: Outcome) -> bytes:
        """Write why a filter ended the answer, as a refusal, unless the model refused in words."""
        if outcome.ending != "content_filter" or outcome.refused or not outcome.explanation:
            return b""
        return self._extend("refusal", outcome.explanation)

    def _add_whole_call(self, call: ToolCall) -> None:
        self.write_call_start(events.ToolCallStart(call.index, call.id, call.name))
        self.write_arguments(call.index, get_argument_text(call))
        whole = events.ToolCallComplete(call.index, call.id, call.name, call.arguments, call.source, call.raw)
        self.write_call_end(whole)

    def _describe_end(self, outcome: Outcome, usage: dict[str, Any] | None) -> dict[str, Any]:
        reason = _INCOMPLETE.get(outcome.ending)
        described = self._describe("incomplete" if reason else "completed")
        described["incomplete_details"] = {"reason": reason} if reason else None
        return described | {"usage": _count(usage)}

    def _describe(self, status: str) -> dict[str, Any]:
        """Return a response with the items that are done; the clients want its other fields, too."""
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "model": self.model,
            "output": [self._output[place] for place in sorted(self._output)],
            "parallel_tool_calls": True,
            "previous_response_id": None,
            "store": False,
            "temperature": None,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            "usage": None,
        }

    # -- events ----------------------------------------------------------------------------------------

    def _write_item_event(self, what: str, place: int, item: Mapping[str, Any]) -> bytes:
        return self._write_event(f"response.output_item.{what}", {"output_index": place, "item": item})

    def _end_item(self, place: int, item: dict[str, Any]) -> bytes:
        self._output[place] = item
        return self._write_item_event("done", place, item)

    def _write_event(self, kind: str, fields: Mapping[str, Any]) -> bytes:
        """Write an event with its number; the first is preceded by the beginning of the response."""
        head = b""
        if not self._has_begun:
            self._has_begun = True
            begun = {"response": self._describe("in_progress")}
            head = self._write_event("response.created", begun) + self._write_event("response.in_progress", begun)
        written = encode({"type": kind, "sequence_number": next(self._numbers), **fields})
        return head + b"event: %b\ndata: %b\n\n" % (kind.encode(), written)

    def _make_id(self, prefix: str, place: int) -> str:
        return f"{prefix}_{self.id.removeprefix(self.id_prefix)}_{place}"


def _count(usage: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the token counts in the words of Responses; None where the server gave none.  Codex wants all three."""
    if not usage:
        return None
    tokens = count_tokens(usage)
    return {
        "input_tokens": tokens.prompt,
        "input_tokens_details": {"cached_tokens": tokens.cached, "cache_write_tokens": 0},
        "output_tokens": tokens.completion,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.prompt + tokens.completion,
    }
