"""The plainest JSON, which is no provider's: for logs, files and servers of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.loss import Loss
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.content import VisiblePart, read_blocks, write_block
from streamparse.writing.json_access import FUNCTION_FIELDS, drop_empty, get_objects, get_str
from streamparse.writing.parts import Item, Message, Part, Thought, read_role
from streamparse.writing.traits import ProviderTraits


class Generic(Adapter):
    """A message is `{"role", "content", ...}`, a call `{"id", "name", "arguments"}`, a result has its `call_id`."""

    traits: ProviderTraits = ProviderTraits(
        name="generic",
        tool=FUNCTION_FIELDS,
        call={"id": "$id?", "name": "$name", "arguments": "$arguments"},
        assistant_images=True,
    )

    def format_result(self, result: ToolResult) -> JSONObject:
        outcome = {"result": result.result} if result.error is None else {"error": result.error}
        return {"role": "tool", "call_id": result.call_id, "name": result.tool_name, **outcome}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        error = written.get("error")
        id, name = get_str(written, "call_id"), get_str(written, "name")
        return ToolResult(id, name, written.get("result"), error if isinstance(error, str) else None)

    def write_message(self, message: Message, _lost: list[Loss], /) -> list[JSONObject]:
        results = [self.format_result(result) for result in message.results]
        if results and len(results) == len(message.parts):
            return results
        items = [{"kind": part.kind, "data": part.data} for part in message.parts if isinstance(part, Item)]
        content: Any = message.text
        if message.images or message.documents:
            content = [write_block(part) for part in message.parts if isinstance(part, VisiblePart)]
        calls = self.format_calls(message.calls)
        fields = drop_empty(reasoning=message.thought, tool_calls=calls, items=items)
        return [*results, {"role": message.role, "content": content, **fields}]

    def read_message(self, written: Mapping[str, Any]) -> Message:
        role = get_str(written, "role")
        if role == "tool":
            return Message("user", [self.read_result(written)])
        thought: list[Part] = [Thought(text)] if (text := get_str(written, "reasoning")) else []
        items = [Item(get_str(each, "kind"), each.get("data")) for each in get_objects(written.get("items"))]
        calls = self.read_calls(get_objects(written.get("tool_calls")))
        return Message(read_role(role), [*thought, *items, *read_blocks(written.get("content")), *calls])
