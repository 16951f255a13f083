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
    EXTRA_KINDS,
    is_custom_output,
    mark_custom_outputs,
    read_custom_output,
    read_extras,
    read_thinking_blocks,
    write_audio,
    write_chat_tool,
    write_custom_calls,
    write_thinking_blocks,
)
from streamparse.providers.openai_chat.schema_rules import REFUSED_AT_ROOT, STRICT_CHECKS
from streamparse.response import ToolCall
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.content import PDF, get_address, get_filename, read_blocks
from streamparse.writing.definitions import DeclaredTool
from streamparse.writing.json_access import drop_empty, get_objects, get_str, read_call, write_arguments
from streamparse.writing.parts import Document, Image, Item, Part, Text, Thought, Turn, read_role
from streamparse.writing.results import list_text_losses, read_text_result, show_result, write_result_text
from streamparse.writing.traits import IdPolicy, MediaSupport, NamePolicy, ProviderTraits

_EXTRA = "extra_content"


def _is_custom_tool(tool: Mapping[str, Any]) -> bool:
    """Whether a definition is a tool that takes text, as chat completions declare it."""
    return tool.get("type") == "custom" and "custom" in tool


class OpenAI(Adapter):
    """Chat completions, as OpenAI itself takes them."""

    traits = ProviderTraits(
        name="openai",
        names=NamePolicy(r"[a-zA-Z0-9_-]{1,64}"),
        ids=IdPolicy(r"(?s).*", 40),
        message_names=True,
        image_detail=True,
        strict_schemas=True,
        custom_tools=True,
        schema_checks=STRICT_CHECKS,
        forbidden_root_keywords=REFUSED_AT_ROOT,
        media=MediaSupport(document_types=frozenset((PDF,)), document_urls=False, document_fields=frozenset(("name",))),
        is_server_tool=_is_custom_tool,
    )
    blocks: tuple[str, ...] = ("input_audio", "file")
    """The blocks of a user's message, beside texts and pictures, that go on as they came."""

    def write_tool(self, declared: DeclaredTool, _lost: list[Loss], /) -> JSONObject:
        if declared.custom is not None:
            return write_chat_tool(declared.custom)
        tool = declared.tool
        fields = drop_empty(name=tool.name, description=tool.description)
        fields["parameters"] = declared.parameters
        strict = {"strict": True} if declared.strict and self.traits.strict_schemas else {}
        return {"type": "function", "function": {**fields, **strict}}

    def format_call(self, call: ToolCall) -> JSONObject:
        function = {"name": call.name, "arguments": write_arguments(call)}
        return {"id": self.traits.ids.normalize(call.id), "type": "function", "function": function}

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        function = written.get("function")
        arguments = function.get("arguments") if isinstance(function, Mapping) else None
        return read_call(get_str(function, "name"), arguments, get_str(written, "id"))

    def format_result(self, result: ToolResult) -> JSONObject:
        return {
            "role": "tool",
            "tool_call_id": self.traits.ids.normalize(result.call_id),
            "content": write_result_text(result),
        }

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        name = get_str(written, "name") if get_str(written, "role") == "function" else ""  # before there were tools
        return read_text_result(get_str(written, "tool_call_id"), name, read_blocks(written.get("content")))

    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        if turn.role == "assistant":
            self._tell_foreign(turn, lost)
            return [{**self.write_assistant(turn, lost), **self._name(turn)}]
        turn = replace(turn, parts=[read_custom_output(part) if self._answers(part) else part for part in turn.parts])
        media = [
            part for result in turn.results for part in self.traits.media.filter(show_result(result)) if _is_media(part)
        ]
        for kind in dict.fromkeys(type(part).__name__.lower() for part in media):
            lost.append(Loss("tool", "", kind, "moved into a user's message behind the results"))
        written = [self.format_result(result) for result in turn.results]
        parts: list[Part] = [
            *media,
            *self.traits.media.filter(part for part in turn.parts if not isinstance(part, ToolResult)),
        ]
        if not parts:
            return written
        return [*written, {"role": turn.role, "content": self._content(parts, lost), **self._name(turn)}]

    def read_messages(self, messages: Any, lost: list[Loss] | None = None) -> list[Turn]:
        return list(mark_custom_outputs(super().read_messages(messages, lost)))

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        role = get_str(message, "role")
        if role in ("tool", "function"):
            return Turn("user", [self.read_result(message)])
        parts, name = read_blocks(message.get("content")), get_str(message, "name")
        if role != "assistant":
            return Turn(read_role(role), parts, name)
        calls = self.read_calls(_functions(message) or _before_tools(message))
        refusal = [Text(text)] if (text := get_str(message, "refusal")) else []
        extras = [*_extras(message), *read_extras(message)]
        return Turn("assistant", [*self.read_thought(message), *parts, *refusal, *calls, *extras], name)

    def list_unread(self, message: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        if get_str(message, "role") in ("tool", "function"):
            yield from list_text_losses(read_blocks(message.get("content")), place)

    # -- thought ---------------------------------------------------------------------------------------

    def write_thought(self, turn: Turn, lost: list[Loss], /) -> JSONObject:
        """The fields of an assistant's message that hold its thought."""
        if turn.thought and not write_thinking_blocks(turn.parts):
            lost.append(Loss("assistant", "", "thought", "dropped: there is no place for it"))
        return {}

    def read_thought(self, message: Mapping[str, Any]) -> list[Part]:
        """The thought that a message holds, in whichever field."""
        parts = read_thinking_blocks(message)
        for detail in get_objects(message.get("reasoning_details")):
            text = get_str(detail, "text") or get_str(detail, "summary")
            parts += [Thought(text)] if text else []
            parts += [Item(get_str(detail, "type"), dict(detail))] if {"data", "signature"} & detail.keys() else []
        text = get_str(message, "reasoning_content") or get_str(message, "reasoning")
        told = not text or any(isinstance(part, Thought) for part in parts)
        return parts if told else [Thought(text), *parts]

    # -- the assistant ---------------------------------------------------------------------------------

    def has_place_for(self, item: Item, /) -> bool:
        """Whether an item of the assistant's turn has a place in the message, other than beside its call."""
        return item.kind in EXTRA_KINDS

    def write_assistant(self, turn: Turn, lost: list[Loss], /) -> JSONObject:
        """The message of the assistant's turn."""
        taken = [part for part in turn.parts if not isinstance(part, Item) or self.has_place_for(part)]
        calls = [*self._calls(turn), *write_custom_calls(taken, self.traits.ids)]
        audio = write_audio(taken)
        content = {} if audio and not turn.text else {"content": turn.text or (None if calls else "")}
        thought = {**write_thinking_blocks(taken), **self.write_thought(turn, lost)}
        return {"role": "assistant", **content, **audio, **thought, **drop_empty(tool_calls=calls)}

    # -- inside ----------------------------------------------------------------------------------------

    def _calls(self, turn: Turn) -> list[JSONObject]:
        """The calls, with what their provider wants back beside them."""
        extras = {part.index: {_EXTRA: part.data} for part in turn.parts if isinstance(part, Item) and _is_extra(part)}
        calls = sorted(turn.calls, key=lambda call: call.index)
        return [{**self.format_call(call), **extras.get(call.index, {})} for call in calls]

    def _answers(self, part: Part) -> bool:
        """Whether a part is the result of a custom call that has a place here."""
        return isinstance(part, Item) and is_custom_output(part) and self.has_place_for(part)

    def _name(self, turn: Turn) -> JSONObject:
        return drop_empty(name=turn.name) if self.traits.message_names else {}

    def _tell_foreign(self, turn: Turn, lost: list[Loss]) -> None:
        for part in turn.parts:
            if isinstance(part, Item) and not (_is_extra(part) or self.has_place_for(part)):
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
            return {"type": "image_url", "image_url": {"url": part.address, **drop_empty(detail=part.detail)}}
        if isinstance(part, Document):
            return {"type": "file", "file": {"filename": get_filename(part), "file_data": get_address(part)}}
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
    return [call for call in get_objects(message.get("tool_calls")) if get_str(call, "type") != "custom"]


def _before_tools(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The call of a message from before there were tools."""
    return [{"function": call} for call in get_objects([message.get("function_call")])]
