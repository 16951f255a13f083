"""OpenAI Chat Completions, and everything that speaks like it.

Server-sent events, each a `chat.completion.chunk`, ended by `data: [DONE]`; or one whole `chat.completion`.
What the many servers add or leave out is in the tables of `docs/internals/wires.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

import msgspec

from streamparse.limits import Limits, most
from streamparse.providers.openai_chat import facts, items
from streamparse.providers.openai_chat.chunks import (
    NO_RAW,
    NO_REASONS,
    Choice,
    Chunk,
    ChunkWire,
    Delta,
    Groq,
    LooseChunk,
    Part,
)
from streamparse.providers.openai_chat.completions import OpenAICompletions
from streamparse.reading.decode import find_objects, read_str, read_value, write_argument_text
from streamparse.reading.errors import find_error
from streamparse.reading.fragments import Fragments
from streamparse.reading.message_wire import decode_part, find_outcome
from streamparse.reading.pieces import Budget
from streamparse.reading.plain_strings import PlainString
from streamparse.sink import Sink
from streamparse.tools import Toolset

_decode_part = msgspec.json.Decoder(Part).decode
_DELTA: Final = ("choices", "delta")
_DETAILS: Final = (*_DELTA, "reasoning_details")
_BESIDE: Final = ("index", "content_filter_results")
_BESIDE_DETAIL: Final = (*_BESIDE, "type", "id", "format")
_BESIDE_ARGUMENTS: Final = (*_BESIDE, "id", "name")
_THOUGHTS: Final = (
    "reasoning_content", "reasoning", "reasoning_details", "reasoning_text", "thinking", "thinking_blocks",
)  # fmt: skip
_THOUGHT_PARTS: Final = ("thinking", "reasoning", "reasoning_text", "thought")
_ITEMS: Final = ("annotations", "executed_tools", "images", "audio", "reasoning_opaque", "reasoning_steps")


class OpenAIChat(ChunkWire[Chunk]):
    """OpenAI Chat Completions, and everything that speaks like it."""

    ignored: int

    shape: ClassVar[type[Any]] = Chunk
    loose_shape: ClassVar[Any] = LooseChunk
    argument_texts: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("choices", "delta", "tool_calls", "function", "arguments"),
        ("choices", "message", "tool_calls", "function", "arguments"),
        ("choices", "delta", "function_call", "arguments"),
        ("choices", "message", "function_call", "arguments"),
    )

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None:
        super().__init__(sink, tools, limits, choice)
        self._is_begun = False  # the first of the text needs another look, see `_begin_text`
        self._has_thought = False
        self._echo: items.Echo | None = None
        self._flagged: items.FlaggedThought | None = None
        self._ended = False  # the choice has a finish reason
        self._fragments = Fragments(sink, tools, limits)
        self._custom: items.CustomCalls | None = None
        self._details: items.Details | None = None
        self._filters = NO_RAW  # what was found last in the answer
        self._found: dict[str, Any] = {}  # and all of it

    @staticmethod
    def claims(message: dict[str, Any], event: bytes, /) -> bool:
        if OpenAICompletions.claims(message, event):
            return False
        if str(message.get("object", "")).startswith("chat.completion"):
            return True
        choices = message.get("choices", "")
        # JSON that is itself an answer may list choices, too.
        return choices != "" and not (isinstance(choices, list) and choices and isinstance(choices[0], str))

    def take(self, chunk: Chunk) -> bool:
        if self._over:
            self.ignored += 1
            return False
        has_rest = self._looks > 0
        for choice in chunk.choices or ():
            if choice.index != self._choice and (choice.index is not None or self._choice):
                self.ignored += 1
                continue
            delta = choice.delta or self._read_message(choice.message, chunk)
            if delta is not None:
                self._take_delta(delta)
            if choice.finish_reason or choice.error or choice.logprobs or choice.content_filter_results is not NO_RAW:
                has_rest = self._take_rest_of_choice(choice) or has_rest
        if (
            not chunk.choices
            or chunk.usage
            or chunk.error
            or chunk.x_groq
            or chunk.citations
            or chunk.search_results
            or chunk.base_resp
        ):
            self._take_rest(chunk)
            return True
        return has_rest

    def _find_verb_of_text(self, _chunk: Chunk) -> Callable[[str], None] | None:
        return self._text if self._is_begun else None

    def _find_verb_of_thought(self, _chunk: Chunk) -> Callable[[str], None] | None:
        return self._sink.reasoning if self._echo is None else None

    def _find_verb_of_arguments(self, chunk: Any) -> Callable[[str], None]:
        call = chunk.choices[0].delta.tool_calls[0]
        return self._fragments.find_teller(call.index, call.id, call.function.name)

    plain_strings: ClassVar[tuple[PlainString, ...]] = (
        PlainString((*_DELTA, "content"), _find_verb_of_text, _BESIDE),
        PlainString((*_DELTA, "reasoning_content"), _find_verb_of_thought, _BESIDE),
        PlainString((*_DELTA, "reasoning"), _find_verb_of_thought, _BESIDE),
        PlainString((*_DELTA, "reasoning_text"), _find_verb_of_thought, _BESIDE),
        PlainString((*_DELTA, "thinking"), _find_verb_of_thought, _BESIDE),
        PlainString((*_DELTA, "reasoning"), _find_verb_of_thought, _BESIDE_DETAIL, (*_DETAILS, "text")),
        PlainString((*_DELTA, "reasoning"), _find_verb_of_thought, _BESIDE_DETAIL, (*_DETAILS, "summary")),
        PlainString((*_DELTA, "tool_calls", "function", "arguments"), _find_verb_of_arguments, _BESIDE_ARGUMENTS),
    )

    def close(self) -> None:
        super().close()
        self._fragments.close()
        if self._custom is not None:
            self._custom.close(cut=not (self._over or self._ended))

    # -- inside ----------------------------------------------------------------------------------------

    def _mend(self, chunk: dict[str, Any]) -> None:
        """Relays send one choice, part or call without a list, ids as numbers, reasons and arguments as an object."""
        alone = chunk.get("choices")
        if isinstance(alone, dict) and "delta" in alone:
            chunk["choices"] = [alone]
        super()._mend(chunk)
        for choice in find_objects(chunk, "choices"):
            reason = choice.get("finish_reason")
            if isinstance(reason, dict):  # SGLang
                choice["finish_reason"] = reason.get("type")
        for part in [*find_objects(chunk, "choices", "delta"), *find_objects(chunk, "choices", "message")]:
            content, alone = part.get("content"), part.get("tool_calls")
            if isinstance(content, dict):
                part["content"] = [content]
            if isinstance(alone, dict) and "function" in alone:
                part["tool_calls"] = [alone]
            for call in find_objects(part, "tool_calls"):
                if isinstance(call.get("id"), int) and not isinstance(call["id"], bool):
                    call["id"] = str(call["id"])

    def _read_message(self, message: Delta | None, chunk: Chunk) -> Delta | None:
        """A whole message, in which each call is one of its own, whether it has an index or not."""
        if message is None:
            return None
        calls = message.tool_calls or []
        for place, call in enumerate(calls):
            call.index = place if call.index is None else call.index
            function = call.function
            if function is not None and function.arguments is None and function.parameters is not None:
                function.arguments = write_argument_text(function.parameters)
        if chunk.base_resp is not None:  # MiniMax: the last message repeats what the deltas have told
            if self._is_begun:
                message.content = None
            for name in _THOUGHTS if self._has_thought else ():
                setattr(message, name, None)
            message.tool_calls = [call for call in calls if not self._fragments.has_told(call.index, call.id)]
        return message

    def _take_delta(self, delta: Delta) -> None:
        content, blocks = delta.content, delta.thinking_blocks
        if (
            delta.reasoning_content
            or delta.reasoning
            or delta.reasoning_details
            or delta.reasoning_text
            or delta.thinking
        ):
            self._take_thought(delta)
            blocks = None
        elif content:
            if isinstance(content, str) and delta.extra_content is None:
                (self._text if self._is_begun else self._begin_text)(content)
            else:
                self._take_content(content, delta.extra_content)
        if delta.tool_calls or delta.refusal or delta.function_call is not None:
            self._take_action(delta)
        if (
            delta.annotations
            or delta.executed_tools
            or delta.images
            or delta.audio
            or delta.content_list
            or delta.tool_use_id
            or delta.input
            or delta.reasoning_opaque
            or delta.reasoning_steps
        ):
            self._take_items(delta)
        if blocks:
            self._take_blocks(blocks)

    def _take_thought(self, delta: Delta) -> None:
        """A delta with a thought, in whichever field, before its text."""
        thought = delta.reasoning_content or delta.reasoning or delta.reasoning_text or delta.thinking or ""
        thoughts = [thought] if thought else []
        if not _is_the_only_thought(delta, thought):
            thoughts = _list_thoughts(delta)
        self._has_thought = True
        if delta.reasoning_details:
            self._details = self._details or items.Details(self._sink)
            self._details.take(delta.reasoning_details, thoughts)
        else:
            for thought in thoughts:
                self._sink.reasoning(thought)
        if thought and (delta.content or self._echo is not None) and self._can_be_echoed(delta.content):
            self._echo = self._echo or items.Echo(self._sink.text)
            self._echo.feed_thought(thought)
            self._text, self._is_begun = self._echo.take_text, True
        if delta.thinking_blocks:
            self._take_blocks(delta.thinking_blocks)
        if isinstance(delta.content, list):
            self._take_parts(delta.content)
        elif delta.content:
            self._send_text(delta.content)

    def _take_content(self, content: str | list[msgspec.Raw], extra_content: Any) -> None:
        """Content in parts, or with more beside it: perhaps the flag of a thought, after which a tag may follow."""
        if not isinstance(content, str):
            self._take_parts(content)
            return
        if not items.is_google_thought(extra_content):
            self._send_text(content)
            return
        self._flagged = self._flagged or items.FlaggedThought()
        thought, text = self._flagged.split(content)
        if thought:
            self._sink.reasoning(thought)
        self._is_begun = False
        if text:
            self._begin_text(text)

    def _send_text(self, text: str) -> None:
        (self._text if self._is_begun else self._begin_text)(text)

    def _begin_text(self, text: str) -> None:
        """Send the first of the text; if that begins a thought between tags, its own field may repeat it."""
        if self._flagged is not None:
            text = self._flagged.end(text)
        if self._sink.reads_markup and items.is_thought_start(text):
            self._echo = items.Echo(self._sink.text)
            self._text = self._echo.take_text
        self._is_begun = bool(text.strip())
        if text:
            self._text(text)

    def _can_be_echoed(self, content: str | list[msgspec.Raw] | None) -> bool:
        """Whether a thought from its own field may be in the content, too."""
        if self._echo is not None:
            return self._echo.active
        may_begin = self._sink.reads_markup and not self._is_begun
        return may_begin and isinstance(content, str) and items.is_thought_start(content)

    def _take_contents(self, delta: Delta) -> None:
        """What Snowflake Cortex sends besides the content: calls, and the content once more."""
        for content in _find_contents(delta):
            id, name, input = (content.get(key) for key in ("tool_use_id", "name", "input"))
            if id or name or input:
                text = None if input is None else write_argument_text(input)
                self._fragments.add(None, read_str(id), read_str(name), text)
            elif content.get("type") not in (None, "text"):
                self._sink.item(str(content["type"]), content)
            elif not delta.content and (text := read_str(content.get("text"))):
                self._send_text(text)

    def _take_items(self, delta: Delta) -> None:
        """What the server found, ran or made by itself."""
        if delta.content_list or delta.tool_use_id or delta.input:
            self._take_contents(delta)
        for kind in _ITEMS:
            if value := getattr(delta, kind):
                self._sink.item(kind, value)

    def _make_custom(self) -> items.CustomCalls:
        limits = self._limits
        return items.CustomCalls(self._sink, most(limits.max_calls), Budget(most(limits.max_call_args)))

    def _take_blocks(self, blocks: list[dict[str, Any]]) -> None:
        for block in blocks:
            if block.get("signature") or block.get("data"):
                self._sink.item("thinking_blocks", block)

    def _take_rest_of_choice(self, choice: Choice) -> bool:
        """What few chunks have; return whether it is the end of the answer."""
        if choice.logprobs:
            facts.send_logprobs(self._sink, choice.logprobs)
        if choice.content_filter_results != self._filters:
            self._filters = choice.content_filter_results
            found = read_value(self._filters)
            self._found |= found if isinstance(found, dict) else {}
            if self._found:
                self._sink.fact("content_filters", {"answer": self._found.copy()})
        if choice.finish_reason or choice.error:
            self._end_choice(choice)
            return True
        return False

    def _end_choice(self, choice: Choice) -> None:
        """The answer is over, or the server failed to give it."""
        if choice.finish_reason in NO_REASONS and not choice.error:
            return
        self._fragments.start_named()
        outcome = find_outcome(choice.finish_reason) if choice.finish_reason else "failed"
        if self._custom is not None:
            self._custom.close(cut=outcome == "cut")
        self._send_usage(choice.usage)
        self._fail(choice.error)
        if choice.finish_reason:
            self._ended = True
            self._sink.finish(choice.finish_reason, outcome)

    def _take_rest(self, chunk: Chunk) -> None:
        """What few chunks have: token counts, sources, an error."""
        groq = chunk.x_groq or Groq()
        self._send_usage(groq.usage if chunk.usage is None else chunk.usage)
        if chunk.citations or chunk.search_results:
            self._send_new_items(chunk, ("citations", "search_results"))
        if groq.error:
            self._fail(groq.error)
        elif chunk.error or chunk.choices == []:
            self._fail(find_error(chunk))
        elif chunk.base_resp:
            self._fail(find_error({"base_resp": chunk.base_resp}))

    def _take_action(self, delta: Delta) -> None:
        """A delta with a piece of a refusal or of calls."""
        if delta.refusal:
            self._sink.refusal(delta.refusal)
        add = self._fragments.add
        for fragment in delta.tool_calls or ():
            function = fragment.function
            if function is not None:
                add(fragment.index, fragment.id, function.name, function.arguments)
            elif fragment.custom is not None:
                self._custom = self._custom or self._make_custom()
                self._ended = False
                self._sink.go_on()
                self._custom.add(fragment.index, fragment.id, fragment.custom)
            else:
                text = None if fragment.arguments is None else write_argument_text(fragment.arguments)
                add(fragment.index, fragment.id, read_str(fragment.name), text)
            if fragment.extra_content:
                self._fragments.attach("extra_content", fragment.extra_content)
            if fragment.provider_specific_fields:
                self._fragments.attach("provider_specific_fields", fragment.provider_specific_fields)
        if delta.function_call is not None and not delta.tool_calls:
            add(None, None, delta.function_call.name, delta.function_call.arguments)

    def _take_parts(self, parts: list[msgspec.Raw]) -> None:
        for raw in parts:
            if bytes(raw).startswith(b'"'):  # LangChain
                self._send_text(str(read_value(raw)))
                continue
            part = decode_part(_decode_part, raw, self._sink, "a part of the content")
            if part is None:
                continue
            if thinking := _read_thinking(part):
                self._sink.reasoning(thinking)
            elif part.text:
                self._send_text(part.text)
            elif isinstance(part.summary, list) and not part.encrypted_content:
                self._take_summary(part.summary)
            elif part.text is None and part.thinking is None:  # references of Mistral, images
                self._sink.item(part.type, read_value(raw))

    def _take_summary(self, summary: list[Any]) -> None:
        """Take the thought of a part, and what signs it (Databricks)."""
        for piece in find_objects(summary):
            if text := read_str(piece.get("text")):
                self._sink.reasoning(text)
            if signature := read_str(piece.get("signature")):
                self._sink.item("signature", signature)


def _find_contents(delta: Delta) -> list[dict[str, Any]]:
    """Return the contents of a delta of Snowflake Cortex: a list, or one whose fields are in the delta, or both.

    https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api

    A call begins with its `tool_use_id` and its `name`, and pieces of its `input` follow; in a whole message all of
    them are one level deeper, in `tool_use`.
    """
    listed = delta.content_list or [{"tool_use_id": delta.tool_use_id, "name": delta.name, "input": delta.input}]
    contents = [content for content in listed if isinstance(content, dict)]
    return [content["tool_use"] if isinstance(content.get("tool_use"), dict) else content for content in contents]


def _is_clear_start(text: str) -> bool:
    """Whether the first of the text is text and nothing else; see `_begin_text`."""
    return bool(text.strip()) and not items.is_thought_start(text)


def _is_the_only_thought(delta: Delta, thought: str) -> bool:
    """Whether each field of a delta that has a thought has this one, as is the rule."""
    others = delta.reasoning or thought, delta.reasoning_text or thought, delta.thinking or thought
    return others == (thought, thought, thought)


def _list_thoughts(delta: Delta) -> list[str]:
    fields = (delta.reasoning_content, delta.reasoning, delta.reasoning_text, delta.thinking)
    thoughts: dict[str, str] = {}
    for field in filter(None, fields):
        thoughts.setdefault(field.strip(), field)
    return [*thoughts.values()]


def _read_thinking(part: Part) -> str:
    """The text of a thought, which may come in typed parts of its own (Mistral); "" for any other part."""
    thought = part.thinking or part.reasoning or (part.text if part.type in _THOUGHT_PARTS else "")
    if isinstance(thought, list):
        return "".join(read_str(inner.get("text")) for inner in find_objects(thought))
    return thought or ""
