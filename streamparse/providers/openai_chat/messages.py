"""OpenAI chat completions, and those that speak like it.

https://platform.openai.com/docs/api-reference/chat/create

A result is one `tool` message, directly after the assistant's.  It holds text alone: an error is `{"error": ...}`, and
pictures and documents follow in a user's message behind all results.  The plain protocol has no place for thought;
what has one, is in `beside`, and who wants it back in words of their own in `relatives`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.providers.openai_chat.extras import (
    BESIDE,
    custom_calls,
    read_beside,
    read_blocks_of_thought,
    spoken_answer,
    thoughts,
)
from streamparse.providers.openai_chat.schema_rules import REFUSED_AT_ROOT, STRICT_CHECKS
from streamparse.response import ToolCall
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.content import read_blocks, result_heard, retold, shown, spoken
from streamparse.writing.custom_tools import answered, chat_tool, heard_output, is_output
from streamparse.writing.definitions import Declared
from streamparse.writing.documents import PDF, address, filename
from streamparse.writing.json_access import argument_text, mappings, present, read_call, string
from streamparse.writing.media_support import Visible
from streamparse.writing.naming import Ids, Names
from streamparse.writing.parts import Document, Image, Item, Part, Text, Thought, Turn, role_of

__all__ = ["OpenAI"]

_EXTRA = "extra_content"


class OpenAI(Adapter):
    """Chat completions, as OpenAI itself takes them."""

    name = "openai"
    names = Names(r"[a-zA-Z0-9_-]{1,64}")
    ids = Ids(r"(?s).*", 40)
    named = True
    detailed = True
    strict = True
    texts = True
    checks = STRICT_CHECKS
    top: tuple[str, ...] = REFUSED_AT_ROOT
    visible = Visible(documents=frozenset((PDF,)), document_urls=False, said=frozenset(("name",)))
    blocks: tuple[str, ...] = ("input_audio", "file")
    """The blocks of a user's message, beside texts and pictures, that go on as they came."""

    def definition(self, declared: Declared, _lost: list[Loss], /) -> JSONObject:
        if declared.takes is not None:
            return chat_tool(declared.takes)
        tool = declared.tool
        fields = present(name=tool.name, description=tool.description)
        fields["parameters"] = declared.parameters
        strict = {"strict": True} if declared.strict and self.strict else {}
        return {"type": "function", "function": {**fields, **strict}}

    def format_call(self, call: ToolCall) -> JSONObject:
        function = {"name": call.name, "arguments": argument_text(call)}
        return {"id": self.ids.fit(call.id), "type": "function", "function": function}

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        function = written.get("function")
        arguments = function.get("arguments") if isinstance(function, Mapping) else None
        return read_call(string(function, "name"), arguments, string(written, "id"))

    def format_result(self, result: ToolResult) -> JSONObject:
        return {"role": "tool", "tool_call_id": self.ids.fit(result.call_id), "content": spoken(result)}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        name = string(written, "name") if string(written, "role") == "function" else ""  # before there were tools
        return result_heard(string(written, "tool_call_id"), name, read_blocks(written.get("content")))

    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        if turn.role == "assistant":
            self._tell_foreign(turn, lost)
            return [{**self.assistant(turn, lost), **self._name(turn)}]
        turn = replace(turn, parts=[heard_output(part) if self._answers(part) else part for part in turn.parts])
        media = [part for result in turn.results for part in self.visible.fit(shown(result)) if _is_media(part)]
        for kind in dict.fromkeys(type(part).__name__.lower() for part in media):
            lost.append(Loss("tool", "", kind, "moved into a user's message behind the results"))
        written = [self.format_result(result) for result in turn.results]
        parts: list[Part] = [*media, *self.visible.fit(part for part in turn.parts if not isinstance(part, ToolResult))]
        if not parts:
            return written
        return [*written, {"role": turn.role, "content": self._content(parts, lost), **self._name(turn)}]

    def read_messages(self, messages: Any, lost: list[Loss] | None = None) -> list[Turn]:
        return list(answered(super().read_messages(messages, lost)))

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        role = string(message, "role")
        if role in ("tool", "function"):
            return Turn("user", [self.read_result(message)])
        parts, name = read_blocks(message.get("content")), string(message, "name")
        if role != "assistant":
            return Turn(role_of(role), parts, name)
        calls = self.read_calls(_functions(message) or _before_tools(message))
        refusal = [Text(text)] if (text := string(message, "refusal")) else []
        extras = [*_extras(message), *read_beside(message)]
        return Turn("assistant", [*self.read_thought(message), *parts, *refusal, *calls, *extras], name)

    def unread(self, message: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        if string(message, "role") in ("tool", "function"):
            yield from retold(read_blocks(message.get("content")), place)

    # -- thought ---------------------------------------------------------------------------------------

    def write_thought(self, turn: Turn, lost: list[Loss], /) -> JSONObject:
        """The fields of an assistant's message that hold its thought."""
        if turn.thought and not thoughts(turn.parts):
            lost.append(Loss("assistant", "", "thought", "dropped: there is no place for it"))
        return {}

    def read_thought(self, message: Mapping[str, Any]) -> list[Part]:
        """The thought that a message holds, in whichever field."""
        parts = read_blocks_of_thought(message)
        for detail in mappings(message.get("reasoning_details")):
            text = string(detail, "text") or string(detail, "summary")
            parts += [Thought(text)] if text else []
            parts += [Item(string(detail, "type"), dict(detail))] if {"data", "signature"} & detail.keys() else []
        text = string(message, "reasoning_content") or string(message, "reasoning")
        told = not text or any(isinstance(part, Thought) for part in parts)
        return parts if told else [Thought(text), *parts]

    # -- the assistant ---------------------------------------------------------------------------------

    def takes(self, item: Item, /) -> bool:
        """Whether an item of the assistant's turn has a place in the message, other than beside its call."""
        return item.kind in BESIDE

    def assistant(self, turn: Turn, lost: list[Loss], /) -> JSONObject:
        """The message of the assistant's turn."""
        taken = [part for part in turn.parts if not isinstance(part, Item) or self.takes(part)]
        calls = [*self._calls(turn), *custom_calls(taken, self.ids)]
        audio = spoken_answer(taken)
        content = {} if audio and not turn.text else {"content": turn.text or (None if calls else "")}
        thought = {**thoughts(taken), **self.write_thought(turn, lost)}
        return {"role": "assistant", **content, **audio, **thought, **present(tool_calls=calls)}

    # -- inside ----------------------------------------------------------------------------------------

    def _calls(self, turn: Turn) -> list[JSONObject]:
        """The calls, with what their provider wants back beside them."""
        extras = {part.index: {_EXTRA: part.data} for part in turn.parts if isinstance(part, Item) and _is_extra(part)}
        calls = sorted(turn.calls, key=lambda call: call.index)
        return [{**self.format_call(call), **extras.get(call.index, {})} for call in calls]

    def _answers(self, part: Part) -> bool:
        """Whether a part is the result of a custom call that has a place here."""
        return isinstance(part, Item) and is_output(part) and self.takes(part)

    def _name(self, turn: Turn) -> JSONObject:
        return present(name=turn.name) if self.named else {}

    def _tell_foreign(self, turn: Turn, lost: list[Loss]) -> None:
        for part in turn.parts:
            if isinstance(part, Item) and not (_is_extra(part) or self.takes(part)):
                lost.append(Loss("assistant", "", part.kind, "dropped: there is no place for it"))

    def _content(self, parts: list[Part], lost: list[Loss]) -> str | list[JSONObject]:
        """The content of a user's or of the system's message: a text, or a list if it is more."""
        if len(parts) == 1 and isinstance(parts[0], Text):
            return parts[0].text
        return [block for part in parts if (block := self._block(part, lost)) is not None]

    def _block(self, part: Part, lost: list[Loss]) -> JSONObject | None:
        if isinstance(part, Text):
            return {"type": "text", "text": part.text}
        if isinstance(part, Image):
            return {"type": "image_url", "image_url": {"url": part.address, **present(detail=part.detail)}}
        if isinstance(part, Document):
            return {"type": "file", "file": {"filename": filename(part), "file_data": address(part)}}
        if isinstance(part, Item) and part.kind in self.blocks and part.is_block:
            return dict(part.data)
        lost.append(Loss("user", "", getattr(part, "kind", type(part).__name__), "dropped: there is no place for it"))
        return None


def _is_media(part: Part) -> bool:
    return isinstance(part, (Image, Document))


def _is_extra(item: Item) -> bool:
    return item.kind == _EXTRA and item.index is not None


def _extras(message: Mapping[str, Any]) -> list[Part]:
    """What stands beside calls, as signatures of Gemini's thoughts do at Google's own server."""
    calls = enumerate(_functions(message))
    return [Item(_EXTRA, call[_EXTRA], number) for number, call in calls if isinstance(call.get(_EXTRA), Mapping)]


def _functions(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The calls of functions; those of tools that take text are no calls here."""
    return [call for call in mappings(message.get("tool_calls")) if string(call, "type") != "custom"]


def _before_tools(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The call of a message from before there were tools."""
    return [{"function": call} for call in mappings([message.get("function_call")])]
