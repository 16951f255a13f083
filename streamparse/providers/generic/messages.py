"""Nobody's words: the plainest JSON, for logs, files and servers of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.loss import Loss
from streamparse.response import ToolCall
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.content import VisiblePart, read_blocks, write_document_block
from streamparse.writing.definitions import DeclaredTool
from streamparse.writing.json_access import drop_empty, get_objects, get_str, read_call
from streamparse.writing.parts import Document, Item, Part, Text, Thought, Turn, read_role
from streamparse.writing.traits import ProviderTraits


class Generic(Adapter):
    """A message is `{"role", "content", ...}`, a call `{"id", "name", "arguments"}`, a result beside its `call_id`."""

    traits = ProviderTraits(
        name="generic",
        assistant_images=True,
    )

    def write_tool(self, declared: DeclaredTool, _lost: list[Loss], /) -> JSONObject:
        tool = declared.tool
        return {**drop_empty(name=tool.name, description=tool.description), "parameters": declared.parameters}

    def format_call(self, call: ToolCall) -> JSONObject:
        return {**drop_empty(id=call.id), "name": call.name, "arguments": call.arguments}

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        return read_call(get_str(written, "name"), written.get("arguments"), get_str(written, "id"))

    def format_result(self, result: ToolResult) -> JSONObject:
        said = {"result": result.result} if result.error is None else {"error": result.error}
        return {"role": "tool", "call_id": result.call_id, "name": result.tool_name, **said}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        error = written.get("error")
        id, name = get_str(written, "call_id"), get_str(written, "name")
        return ToolResult(id, name, written.get("result"), error if isinstance(error, str) else None)

    def write_turn(self, turn: Turn, _lost: list[Loss], /) -> list[JSONObject]:
        results = [self.format_result(result) for result in turn.results]
        if results and len(results) == len(turn.parts):
            return results
        items = [{"kind": part.kind, "data": part.data} for part in turn.parts if isinstance(part, Item)]
        visible = [part for part in turn.parts if isinstance(part, VisiblePart)]
        media = turn.images or turn.documents
        content = [_visible(part) for part in visible] if media else turn.text
        calls = self.format_calls(turn.calls)
        fields = drop_empty(reasoning=turn.thought, tool_calls=calls, items=items)
        return [*results, {"role": turn.role, "content": content, **fields}]

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        role = get_str(message, "role")
        if role == "tool":
            return Turn("user", [self.read_result(message)])
        thought: list[Part] = [Thought(text)] if (text := get_str(message, "reasoning")) else []
        items = [Item(get_str(each, "kind"), each.get("data")) for each in get_objects(message.get("items"))]
        calls = self.read_calls(get_objects(message.get("tool_calls")))
        parts = [*thought, *items, *read_blocks(message.get("content")), *calls]
        return Turn(read_role(role), parts)


def _visible(part: VisiblePart) -> JSONObject:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Document):
        return write_document_block(part)
    if part.url:
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    return {"type": "image", "data": part.data, "mimeType": part.media_type}
