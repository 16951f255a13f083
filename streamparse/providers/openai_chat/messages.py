"""OpenAI chat completions, and those that speak like it.

https://platform.openai.com/docs/api-reference/chat/create

A result is one `tool` message, directly after the assistant's.  It holds text alone: an error is `{"error": ...}`, and
images and documents follow in a user's message after all results.  The plain protocol has no place for thought:
`extras` has what servers add to it, and `openai_compatible` those that want thought back in fields of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from streamparse.loss import Loss
from streamparse.providers.openai_chat.extras import (
    EXTRA_KINDS,
    mark_custom_outputs,
    read_custom_output,
    read_extras,
    read_signed_thoughts,
    write_audio,
    write_chat_tool,
    write_custom_calls,
    write_signed_thoughts,
)
from streamparse.providers.openai_chat.reasoning_details import CALL_EXTRAS
from streamparse.schema.strict import find_open_objects, find_optional_properties, forbid
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.content import PDF, VisiblePart, get_filename, read_blocks
from streamparse.writing.json_access import drop_empty, get_objects, get_str
from streamparse.writing.parts import Document, Image, Item, Message, Part, Text, Thought, is_item, read_role
from streamparse.writing.results import list_text_losses, read_text_result, show_result, write_result_text
from streamparse.writing.traits import IdPolicy, MediaSupport, NamePolicy, ProviderTraits

_RESULT_ROLES = ("tool", "function")
_REFUSED_AT_ROOT = ("anyOf", "oneOf", "allOf", "enum", "not")
"""Keywords that are refused at the top of a tool's schema, be it enforced or not."""
_STRICT_CHECKS = (
    find_open_objects,
    find_optional_properties,
    forbid("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"),
)
"""What a schema that is to be enforced must pass.

https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
"""


def _is_custom_tool(tool: Mapping[str, Any]) -> bool:
    """Whether a definition is a tool that takes text, as chat completions declare it."""
    return tool.get("type") == "custom" and "custom" in tool


class OpenAI(Adapter):
    """Chat completions, as OpenAI itself takes them."""

    traits = ProviderTraits(
        name="openai",
        tool={
            "type": "function",
            "function": {
                "name": "$name?",
                "description": "$description?",
                "parameters": "$schema",
                "strict": "$strict?",
            },
        },
        call={"id": "$id", "type": "function", "function": {"name": "$name", "arguments": "$arguments"}},
        arguments_as_text=True,
        names=NamePolicy(r"[a-zA-Z0-9_-]{1,64}"),
        ids=IdPolicy(r"(?s).*", 40),
        message_names=True,
        image_detail=True,
        strict_schemas=True,
        write_custom_tool=write_chat_tool,
        own_blocks=("input_audio", "file"),
        schema_checks=_STRICT_CHECKS,
        forbidden_root_keywords=_REFUSED_AT_ROOT,
        media=MediaSupport(document_types=frozenset((PDF,)), document_urls=False, document_fields=frozenset(("name",))),
        is_server_tool=_is_custom_tool,
    )

    def format_result(self, result: ToolResult) -> JSONObject:
        id = self.traits.ids.normalize(result.call_id)
        return {"role": "tool", "tool_call_id": id, "content": write_result_text(result)}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        name = get_str(written, "name") if get_str(written, "role") == "function" else ""  # before there were tools
        return read_text_result(get_str(written, "tool_call_id"), name, read_blocks(written.get("content")))

    # -- messages --------------------------------------------------------------------------------------

    def write_message(self, message: Message, lost: list[Loss], /) -> list[JSONObject]:
        name = drop_empty(name=message.name) if self.traits.message_names else {}
        if message.role == "assistant":
            self._lose_foreign_items(message, lost)
            return [{**self.write_assistant(message, lost), **name}]
        parts = [
            read_custom_output(part) if isinstance(part, Item) and self.has_place_for(part) else part
            for part in message.parts
        ]
        results = [part for part in parts if isinstance(part, ToolResult)]
        media = self._move_media(results, lost)
        others = self.traits.media.filter(part for part in parts if not isinstance(part, ToolResult))
        written = [self.format_result(result) for result in results]
        if media or others:
            content = self.write_content([*media, *others], lost)
            written.append({"role": message.role, "content": content, **name})
        return written

    def _move_media(self, results: list[ToolResult], lost: list[Loss]) -> list[Part]:
        """Return the images and documents of results, which hold only text here."""
        shown = [part for result in results for part in self.traits.media.filter(show_result(result))]
        media: list[Part] = [part for part in shown if isinstance(part, (Image, Document))]
        for kind in dict.fromkeys(type(part).__name__.lower() for part in media):
            lost.append(Loss("tool", "", kind, "moved into a user's message after the results"))
        return media

    def write_visible(self, part: VisiblePart, /) -> JSONObject:
        if isinstance(part, Text):
            return {"type": "text", "text": part.text}
        if isinstance(part, Image):
            return {"type": "image_url", "image_url": {"url": part.address, **drop_empty(detail=part.detail)}}
        return {"type": "file", "file": {"filename": get_filename(part), "file_data": part.address}}

    def read_messages(self, messages: Any, lost: list[Loss] | None = None) -> list[Message]:
        return list(mark_custom_outputs(super().read_messages(messages, lost)))

    def read_message(self, written: Mapping[str, Any]) -> Message:
        role = get_str(written, "role")
        if role in _RESULT_ROLES:
            return Message("user", [self.read_result(written)])
        parts, name = read_blocks(written.get("content")), get_str(written, "name")
        if role != "assistant":
            return Message(read_role(role), parts, name)
        functions = [call for call in get_objects(written.get("tool_calls")) if get_str(call, "type") != "custom"]
        if not functions:  # before there were tools
            functions = [{"function": call} for call in get_objects([written.get("function_call")])]
        extras = [
            Item(kind, call[kind], number)
            for number, call in enumerate(functions)
            for kind in CALL_EXTRAS
            if isinstance(call.get(kind), Mapping)
        ]
        refusal = [Text(text)] if (text := get_str(written, "refusal")) else []
        said = [*self.read_thought(written), *parts, *refusal]
        return Message("assistant", [*said, *self.read_calls(functions), *extras, *read_extras(written)], name)

    def list_unread(self, written: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        if get_str(written, "role") in _RESULT_ROLES:
            yield from list_text_losses(read_blocks(written.get("content")), place)

    # -- the assistant's message -----------------------------------------------------------------------

    def has_place_for(self, item: Item, /) -> bool:
        """Whether an item of the assistant has a place in the message, other than next to its call."""
        return item.kind in EXTRA_KINDS

    def write_assistant(self, message: Message, lost: list[Loss], /) -> JSONObject:
        """Write the assistant's message."""
        parts = [part for part in message.parts if not isinstance(part, Item) or self.has_place_for(part)]
        calls = [*self._write_calls(message), *write_custom_calls(parts, self.traits.ids)]
        audio = write_audio(parts)
        content = {} if audio and not message.text else {"content": message.text or (None if calls else "")}
        thought = {**write_signed_thoughts(parts), **self.write_thought(message, lost)}
        return {"role": "assistant", **content, **audio, **thought, **drop_empty(tool_calls=calls)}

    def write_thought(self, message: Message, lost: list[Loss], /) -> JSONObject:
        """Write the fields of the assistant's message that hold its thought."""
        if message.thought and not write_signed_thoughts(message.parts):
            lost.append(Loss("assistant", "", "thought", "dropped: there is no place for it"))
        return {}

    def read_thought(self, written: Mapping[str, Any]) -> list[Part]:
        """Read the thought of a message, in whichever field it is."""
        parts = read_signed_thoughts(written)
        fields = ("reasoning_content", "reasoning", "reasoning_text")
        text = next((text for field in fields if (text := get_str(written, field))), "")
        is_read = not text or any(isinstance(part, Thought) for part in parts)
        return parts if is_read else [Thought(text), *parts]

    def _write_calls(self, message: Message) -> list[JSONObject]:
        """Write the calls, each with what its provider wants back with it."""
        extras: defaultdict[int | None, JSONObject] = defaultdict(dict)
        for part in filter(_is_extra, message.parts):
            extras[part.index][part.kind] = part.data
        calls = sorted(message.calls, key=lambda call: call.index)
        return [{**self.format_call(call), **extras[call.index]} for call in calls]

    def _lose_foreign_items(self, message: Message, lost: list[Loss]) -> None:
        for part in message.parts:
            if isinstance(part, Item) and not (_is_extra(part) or self.has_place_for(part)):
                lost.append(Loss("assistant", "", part.kind, "dropped: there is no place for it"))


def _is_extra(part: Part) -> TypeGuard[Item]:
    """Whether a part belongs to a call, as signatures of Gemini's thoughts do at Google's own server."""
    return is_item(part, *CALL_EXTRAS) and part.index is not None
