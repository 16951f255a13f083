"""Ollama's `/api/chat`.

https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion

Arguments are objects, pictures bare base64 beside the text, and a result names its tool.  Ids of calls are known to
newer versions; older ones pass them over.  Of a parameter's schema the server reads a few keywords
(`api.ToolProperty`); the others are sent, but never reach the model's prompt: each is told.  References are among
them, so what they name is put in their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.loss import Loss
from streamparse.response import ToolCall
from streamparse.schema.walk import inline_refs
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.definitions import DeclaredTool
from streamparse.writing.json_access import drop_empty, get_objects, get_str, read_call
from streamparse.writing.parts import Image, Item, Part, Text, Thought, Turn, read_role
from streamparse.writing.results import read_text_result, show_result, write_result_text
from streamparse.writing.traits import MediaSupport, ProviderTraits, guess_image_type

_READ = {"type", "description", "enum", "items", "anyOf", "properties", "required"}


class Ollama(Adapter):
    """The chat of Ollama."""

    traits = ProviderTraits(
        name="ollama",
        separate_media=True,
        media=MediaSupport(image_urls=False, document_types=frozenset()),
    )

    def write_tool(self, declared: DeclaredTool, lost: list[Loss], /) -> JSONObject:
        tool = declared.tool
        schema = inline_refs(declared.parameters, tool.name, lost)
        _tell_unread(schema, "", tool.name, lost)
        function = {**drop_empty(name=tool.name, description=tool.description), "parameters": schema}
        return {"type": "function", "function": function}

    def format_call(self, call: ToolCall) -> JSONObject:
        return {**drop_empty(id=call.id), "function": {"name": call.name, "arguments": call.arguments}}

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        function = written.get("function")
        arguments = function.get("arguments") if isinstance(function, Mapping) else None
        return read_call(get_str(function, "name"), arguments, get_str(written, "id"))

    def format_result(self, result: ToolResult) -> JSONObject:
        parts = [] if result.error is not None else self.traits.media.filter(show_result(result))
        images = _pictures(parts)
        texts = "".join(part.text for part in parts if isinstance(part, Text)) if images else write_result_text(result)
        fields = drop_empty(tool_name=result.tool_name, tool_call_id=result.call_id, images=images)
        return {"role": "tool", "content": texts, **fields}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        name = get_str(written, "tool_name") or get_str(written, "name")
        return read_text_result(get_str(written, "tool_call_id"), name, _visible(written))

    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        for part in turn.parts:
            if isinstance(part, Item):
                lost.append(Loss(turn.role, "", part.kind, "dropped: there is no place for it"))
        if turn.role == "assistant":
            fields = drop_empty(thinking=turn.thought, tool_calls=self.format_calls(turn.calls))
            return [{"role": "assistant", "content": turn.text, **fields}]
        results = [self.format_result(result) for result in turn.results]
        if len(turn.parts) == len(results):
            return results
        parts = self.traits.media.filter(turn.parts)
        text = "".join(part.text for part in parts if isinstance(part, Text))
        return [*results, {"role": turn.role, "content": text, **drop_empty(images=_pictures(parts))}]

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        role = get_str(message, "role")
        if role == "tool":
            return Turn("user", [self.read_result(message)])
        thought: list[Part] = [Thought(text)] if (text := get_str(message, "thinking")) else []
        calls = self.read_calls(get_objects(message.get("tool_calls")))
        parts = [*thought, *_visible(message), *calls]
        return Turn(read_role(role), parts)


def _visible(message: Mapping[str, Any]) -> list[Part]:
    """The text and the pictures of a message, whose media type the first characters tell."""
    text, images = get_str(message, "content"), message.get("images")
    pictures = [each for each in images if isinstance(each, str)] if isinstance(images, list) else []
    return [*([Text(text)] if text else []), *(Image(data, guess_image_type(data)) for data in pictures)]


def _pictures(parts: list[Any]) -> list[str]:
    return [part.data for part in parts if isinstance(part, Image) and part.data]


def _tell_unread(schema: Any, path: str, tool: str, lost: list[Loss]) -> None:
    """Tell of the keywords that the server does not read."""
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key not in _READ:
            lost.append(Loss(tool, path, key, "sent, but the server does not read it"))
        elif key == "properties" and isinstance(value, dict):
            for name, each in value.items():
                _tell_unread(each, f"{path}/properties/{name}", tool, lost)
        elif key == "anyOf" and isinstance(value, list):
            for number, each in enumerate(value):
                _tell_unread(each, f"{path}/anyOf/{number}", tool, lost)
