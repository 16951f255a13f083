"""OpenAI Chat Completions: server-sent events of `chat.completion.chunk`, or one `chat.completion`.

Thought goes into `reasoning_content`, as DeepSeek, vLLM and llama.cpp write it; what signs it, into OpenRouter's
`reasoning_details`, together with the thought itself if thoughts are signed one by one.  Their entries are numbered:
the official client sums lists up by `index`, and raises where a second list has none.  So are the calls, without a gap
and in the order in which they are sent, for it takes an index as a place.  LiteLLM's `thinking_blocks` are sent whole,
in one list before the end: Anthropic, to whom they go back, takes none that is numbered.

What else an answer of a chat server holds:

| items | where they are |
|---|---|
| `annotations`, `executed_tools`, `images`, `reasoning_steps` | lists of the message |
| `audio` | the message; a stream has it in pieces |
| `reasoning_opaque`, the sealed thought of GitHub Copilot | the message |
| `custom_tool_call`, a call of a tool that takes text | among the calls |
| `extra_content`, `provider_specific_fields`: what a provider wants back with a call | in that call |
| `citations`, `search_results` of Perplexity | next to the choices |

Why a filter ended the turn is in `refusal`, the one field of a message that explains to people why there is no answer.

With `usage="apart"`, for clients that ask by `stream_options: {"include_usage": true}`, the token counts have a chunk
of their own after the end, without choices, and all others have `usage: null`.  Else they are on the chunk with the
finish reason, as DeepSeek, Groq and xAI write it: clients that look for them find them, and no client gets a chunk
without choices that it did not ask for.  A stream that failed has no `[DONE]`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, ClassVar, Final

from streamparse import events
from streamparse.emitting.calls import get_argument_text
from streamparse.emitting.emitter import Emitter, encode
from streamparse.emitting.outcome import Outcome, find_kind, list_runnable_calls
from streamparse.providers.openai_chat import extras
from streamparse.response import ParsedResponse
from streamparse.usage import count_tokens
from streamparse.writing.answer_parts import arrange_answer, ends_detail

_CLOSING: Final = b'},"logprobs":null,"finish_reason":null}]'
_DONE: Final = b"data: [DONE]\n\n"
_ROLE: Final = b'"role":"assistant",'
_DETAILS: Final = "reasoning_details"
_LISTS: Final = ("annotations", "executed_tools", "images", "reasoning_steps")
_AUDIO: Final = "audio"
_FIELDS: Final = (_AUDIO, extras.OPAQUE)
_AUDIO_PIECES: Final = ("data", "transcript")
_SOURCES: Final = ("citations", "search_results")
_KINDS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
    500: "server_error",
}
"""The types of errors (https://platform.openai.com/docs/guides/error-codes); llama.cpp's server writes the same."""


class OpenAIChatEmitter(Emitter):
    """Writes an answer as OpenAI Chat Completions does."""

    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    id_prefix: ClassVar[str] = "chatcmpl-"

    def _prepare(self) -> None:
        head = {"id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model}
        self._beginning = b"data: " + encode(head)[:-1] + b',"choices":['
        self._head = self._beginning + b'{"index":0,"delta":{'
        self._closing = _CLOSING + (b',"usage":null}\n\n' if self.usage == "apart" else b"}\n\n")
        self._open = self._head + _ROLE  # the first chunk names the role
        self._listed = Counter[str]()  # how many entries of each list were sent
        self._places: dict[int, int] = {}  # of the calls that were sent
        self._sources: dict[str, Any] = {}
        self._entry: dict[str, Any] = {}  # the entry of thought that is open
        self._blocks = extras.ThinkingBlocks()

    def write_error_body(self, code: str, message: str, status: int | None = None) -> bytes:
        kind = find_kind(_KINDS, code, status)
        return encode({"error": {"message": message, "type": kind, "param": None, "code": code}})

    def _write_text(self, event: events.TextDelta) -> bytes:
        opening, self._open = self._open, self._head  # as `_write_chunk`: the fast path of nearly every event
        return opening + b'"content":' + encode(event.text) + self._closing

    def _write_reasoning(self, event: events.ReasoningDelta) -> bytes:
        self._blocks.think(event.text)
        text = encode(event.text)
        return self._write_chunk(b'"reasoning_content":' + text + (self._make_detail(text) if self.signed else b""))

    def _make_detail(self, text: bytes) -> bytes:
        """Write the same thought in the entry that its signature will belong to."""
        kind = b"summary" if self._entry.get("type") == "reasoning.summary" else b"text"
        detail = b'{"type":"reasoning.%b","%b":%b,"index":%d}' % (kind, kind, text, self._listed[_DETAILS])
        return b',"%b":[%b]' % (_DETAILS.encode(), detail)

    def _write_refusal(self, event: events.RefusalDelta) -> bytes:
        return self._write_chunk(b'"refusal":' + encode(event.text))

    def write_call_start(self, event: events.ToolCallStart, /) -> bytes:
        function = {"name": event.name, "arguments": ""}
        return self._add_call(event.index, event.id, {"type": "function", "function": function})

    def write_arguments(self, index: int, text: str, /) -> bytes:
        piece = b'"tool_calls":[{"index":%d,"function":{"arguments":%b}}]' % (self._places[index], encode(text))
        return self._write_chunk(piece)

    def _add_call(self, index: int, id: str, call: dict[str, Any]) -> bytes:
        place = self._places[index] = len(self._places)
        # The id counts up from the call's own index, or from the place of one that has none.
        given = self._give_id(id, index if index >= 0 else place)
        return self._write_chunk(b'"tool_calls":[' + encode({"index": place, "id": given, **call}) + b"]")

    def _write_item(self, event: events.ProviderItem) -> bytes:
        if event.kind in _LISTS:
            return self._add_to_list(event.kind, event.data if isinstance(event.data, list) else [event.data])
        if event.kind in _FIELDS:
            return self._write_field(event.kind, event.data)
        if event.kind == extras.CUSTOM_CALL:
            return self._add_custom_call(event.data)
        if event.kind == extras.BLOCKS:
            self._blocks.add(event.data)
        elif event.kind in _SOURCES:
            self._sources[event.kind] = event.data
        extra = _find_extra(event.kind, event.data)
        if extra:
            return self._add_extra(event.index, extra)
        detail = extras.read_detail(event.kind, event.data)
        return self._add_detail(detail) if detail is not None else b""

    def _add_detail(self, detail: dict[str, Any]) -> bytes:
        """Add to the entries of thought; one that neither signs nor hides begins an entry for the thoughts after it."""
        known, self._entry = self._entry, {} if ends_detail(detail) else detail
        if known and (self._entry or any(known.get(key) != detail.get(key) for key in ("type", "index"))):
            known = {}
            self._listed[_DETAILS] += 1
        sent = ("text", "summary") if self.signed else ()
        news = {
            key: value
            for key, value in detail.items()
            if key not in sent and (key == "type" or known.get(key) != value)
        }
        if not self._entry:
            return self._add_to_list(_DETAILS, [news])
        self.signed = True
        return self._write_field(_DETAILS, [news | {"index": self._listed[_DETAILS]}])

    def _add_extra(self, index: int | None, extra: dict[str, Any]) -> bytes:
        """Add to a call what its provider wants back with it; the official client wants a function in each piece."""
        head = self._calls.release(index)
        if index not in self._places:
            return head
        piece = {"index": self._places[index], "function": {"arguments": ""}, **extra}
        return head + self._write_field("tool_calls", [piece])

    def _add_custom_call(self, data: Any) -> bytes:
        """Add a call of a tool that takes text, which comes whole; it ends a turn as any other."""
        call = _read_custom_call(data)
        if call is None:
            return b""
        self._outcome.called = True
        return self._add_call(-1 - len(self._places), call.pop("id"), call)

    def _add_to_list(self, name: str, entries: list[Any]) -> bytes:
        begun = self._listed[name]
        self._listed[name] += len(entries)
        numbered = [
            entry | {"index": place} if isinstance(entry, dict) and (begun or name == _DETAILS) else entry
            for place, entry in enumerate(entries, begun)
        ]
        return self._write_field(name, numbered)

    def _write_failure(self, code: str, message: str) -> bytes:
        return b"data: " + self.write_error_body(code, message) + b"\n\n"

    def _write_end(self, done: events.Done) -> bytes:
        outcome, blocks = self._outcome, self._blocks.whole
        head = self._write_field(extras.BLOCKS, blocks) if blocks else b""
        if outcome.ending == "content_filter" and not outcome.refused and outcome.explanation:
            head += self._write_refusal(events.RefusalDelta(outcome.explanation))
        role = self._open[len(self._head) : -1]
        end = head + self._head + role + b'},"logprobs":null,"finish_reason":"%b"}]' % outcome.ending.encode()
        end += b"," + encode(self._sources)[1:-1] if self._sources else b""
        usage = b',"usage":%b}\n\n' % encode(_count(done.usage)) if done.usage is not None else b""
        if self.usage == "apart":
            return end + b',"usage":null}\n\n' + (self._beginning + b"]" + usage if usage else b"") + _DONE
        return end + (usage or b"}\n\n") + _DONE

    def _write_field(self, field: str, value: Any) -> bytes:
        return self._write_chunk(encode({field: value})[1:-1])

    def _write_chunk(self, delta: bytes) -> bytes:
        opening, self._open = self._open, self._head
        return opening + delta + self._closing

    def _make_body(self, response: ParsedResponse, outcome: Outcome) -> dict[str, Any]:
        explanation = outcome.explanation if outcome.ending == "content_filter" else ""
        message = self._make_message(response, response.refusal or explanation)
        reason = "tool_calls" if outcome.ending == "stop" and "tool_calls" in message else outcome.ending
        return {
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
            **{item["kind"]: item["data"] for item in response.items if item["kind"] in _SOURCES},
            **({"usage": _count(response.usage)} if response.usage else {}),
        }

    def _make_message(self, response: ParsedResponse, refusal: str) -> dict[str, Any]:
        """Return the message of a whole answer; optional fields are there only if they hold something."""
        calls = self._make_calls(response)
        content = response.content or (None if calls or refusal else "")
        parts = arrange_answer(response)
        optional = {
            "reasoning_content": response.reasoning,
            _DETAILS: extras.join_reasoning_details(parts),
            extras.BLOCKS: extras.join_thinking_blocks(parts),
            **_collect_items(response),
            "tool_calls": calls,
        }
        message = {"role": "assistant", "content": content, "refusal": refusal or None}
        return message | {name: value for name, value in optional.items() if value}

    def _make_calls(self, response: ParsedResponse) -> list[dict[str, Any]]:
        wanted: defaultdict[int | None, dict[str, Any]] = defaultdict(dict)
        for item in response.items:
            wanted[item.get("index")].update(_find_extra(item["kind"], item["data"]))
        calls = [
            {
                "id": self._give_id(call.id, call.index),
                "type": "function",
                "function": {"name": call.name, "arguments": get_argument_text(call)},
            }
            | wanted.get(call.index, {})
            for call in list_runnable_calls(response)
        ]
        customs = [_read_custom_call(item["data"]) for item in response.items if item["kind"] == extras.CUSTOM_CALL]
        for place, custom in enumerate((each for each in customs if each is not None), len(calls)):
            calls.append(custom | {"id": self._give_id(custom["id"], place)})
        return calls


def _read_custom_call(data: Any) -> dict[str, Any] | None:
    """Return a call of a tool that takes text as chat servers write it; OpenAI's Responses write it otherwise."""
    if not isinstance(data, dict):
        return None
    custom = data.get("custom") or {"name": data.get("name"), "input": data.get("input")}
    id = data.get("id") if "custom" in data else data.get("call_id")
    return {"id": str(id or "call_custom"), "type": "custom", "custom": custom}


def _find_extra(kind: str, data: Any) -> dict[str, Any]:
    """Return the field of a call that holds what its provider wants back, as Google's own server for chats has it."""
    if kind == "thought_signature":
        return {"extra_content": {"google": {"thought_signature": data}}}
    return {kind: data} if kind in extras.CALL_EXTRAS else {}


def _collect_items(response: ParsedResponse) -> dict[str, Any]:
    """Return the fields of a whole answer's message that hold items."""
    fields: dict[str, Any] = {}
    for item in response.items:
        kind, data = item["kind"], item["data"]
        if kind in _LISTS:
            fields[kind] = [*fields.get(kind, ()), *(data if isinstance(data, list) else [data])]
        elif kind == _AUDIO and isinstance(data, dict):
            audio = fields.get(kind, {})
            joined = {name: str(audio.get(name, "")) + str(data[name]) for name in _AUDIO_PIECES if data.get(name)}
            fields[kind] = {**audio, **data, **joined}
        elif kind == extras.OPAQUE:
            fields[kind] = data
    return fields


def _count(usage: dict[str, Any]) -> dict[str, Any]:
    """Return the token counts in OpenAI's words, always with its three; its own counts stay as they are."""
    tokens = count_tokens(usage)
    counts: dict[str, Any] = {"prompt_tokens": tokens.prompt, "completion_tokens": tokens.completion}
    counts["total_tokens"] = tokens.prompt + tokens.completion
    if "prompt_tokens" in usage:
        return counts | {name: value for name, value in usage.items() if value is not None}
    if tokens.cached:
        counts["prompt_tokens_details"] = {"cached_tokens": tokens.cached}
    if tokens.reasoning:
        counts["completion_tokens_details"] = {"reasoning_tokens": tokens.reasoning}
    return counts
