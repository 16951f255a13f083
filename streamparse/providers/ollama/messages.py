"""Ollama's `/api/chat`.

https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion

Arguments are objects, pictures bare base64 beside the text, and a result names its tool.  Ids of calls are known to
newer versions; older ones ignore them.  Of a parameter's schema the server reads a few keywords
(`api.ToolProperty`); the others are sent, but never reach the model's prompt: each is a loss.  References are
among them, so what they name is put in their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.loss import Loss
from streamparse.response import ToolCall
from streamparse.schema.references import inlined
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.content import result_heard, shown, spoken
from streamparse.writing.definitions import Declared
from streamparse.writing.json_access import mappings, present, read_call, string
from streamparse.writing.media_support import Visible, media_type
from streamparse.writing.parts import Image, Item, Part, Text, Thought, Turn, role_of

_READ = {"type", "description", "enum", "items", "anyOf", "properties", "required"}


class Ollama(Adapter):
    """The chat of Ollama."""

    name = "ollama"
    media_apart = True
    visible = Visible(urls=False, documents=frozenset())

    def definition(self, declared: Declared, lost: list[Loss], /) -> JSONObject:
        tool = declared.tool
        schema = inlined(declared.parameters, tool.name, lost)
        _report_unread(schema, "", tool.name, lost)
        function = {**present(name=tool.name, description=tool.description), "parameters": schema}
        return {"type": "function", "function": function}

    def format_call(self, call: ToolCall) -> JSONObject:
        return {**present(id=call.id), "function": {"name": call.name, "arguments": call.arguments}}

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        function = written.get("function")
        arguments = function.get("arguments") if isinstance(function, Mapping) else None
        return read_call(string(function, "name"), arguments, string(written, "id"))

    def format_result(self, result: ToolResult) -> JSONObject:
        parts = [] if result.error is not None else self.visible.fit(shown(result))
        images = _list_images(parts)
        texts = "".join(part.text for part in parts if isinstance(part, Text)) if images else spoken(result)
        fields = present(tool_name=result.tool_name, tool_call_id=result.call_id, images=images)
        return {"role": "tool", "content": texts, **fields}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        name = string(written, "tool_name") or string(written, "name")
        return result_heard(string(written, "tool_call_id"), name, _read_shown(written))

    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        for part in turn.parts:
            if isinstance(part, Item):
                lost.append(Loss(turn.role, "", part.kind, "dropped: there is no place for it"))
        if turn.role == "assistant":
            fields = present(thinking=turn.thought, tool_calls=self.format_calls(turn.calls))
            return [{"role": "assistant", "content": turn.text, **fields}]
        results = [self.format_result(result) for result in turn.results]
        if len(turn.parts) == len(results):
            return results
        parts = self.visible.fit(turn.parts)
        text = "".join(part.text for part in parts if isinstance(part, Text))
        return [*results, {"role": turn.role, "content": text, **present(images=_list_images(parts))}]

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        role = string(message, "role")
        if role == "tool":
            return Turn("user", [self.read_result(message)])
        thought: list[Part] = [Thought(text)] if (text := string(message, "thinking")) else []
        calls = self.read_calls(mappings(message.get("tool_calls")))
        parts = [*thought, *_read_shown(message), *calls]
        return Turn(role_of(role), parts)


def _read_shown(message: Mapping[str, Any]) -> list[Part]:
    """Return the text and the pictures of a message; the first characters say their media type."""
    text, images = string(message, "content"), message.get("images")
    pictures = [each for each in images if isinstance(each, str)] if isinstance(images, list) else []
    return [*([Text(text)] if text else []), *(Image(data, media_type(data)) for data in pictures)]


def _list_images(parts: list[Any]) -> list[str]:
    return [part.data for part in parts if isinstance(part, Image) and part.data]


def _report_unread(schema: Any, path: str, tool: str, lost: list[Loss]) -> None:
    """Report the keywords that the server does not read."""
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key not in _READ:
            lost.append(Loss(tool, path, key, "sent, but the server does not read it"))
        elif key == "properties" and isinstance(value, dict):
            for name, each in value.items():
                _report_unread(each, f"{path}/properties/{name}", tool, lost)
        elif key == "anyOf" and isinstance(value, list):
            for number, each in enumerate(value):
                _report_unread(each, f"{path}/anyOf/{number}", tool, lost)
