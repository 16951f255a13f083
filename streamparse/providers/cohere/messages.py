"""Cohere's chat, version 2.

https://docs.cohere.com/v2/docs/tool-use-overview

A result is one `tool` message that holds a document, each an object; what holds several, or texts beside, is read as
the list of them.  The plan that came with calls goes back beside
them, and takes the place of the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.providers.openai_chat.messages import OpenAI
from streamparse.tools import ToolResult
from streamparse.writing.adapter import JSONObject
from streamparse.writing.json_access import drop_empty, get_objects, get_str
from streamparse.writing.parts import Item, Part, Text, Thought, Turn
from streamparse.writing.results import show_result, unwrap_result, wrap_result
from streamparse.writing.traits import ANY_ID, MediaSupport, NamePolicy, is_no_server_tool


class Cohere(OpenAI):
    """The chat of Cohere."""

    traits = replace(
        OpenAI.traits,
        is_server_tool=is_no_server_tool,
        name="cohere",
        dialect="cohere-action",
        names=NamePolicy(r"[a-zA-Z_][a-zA-Z0-9_]*"),
        ids=ANY_ID,
        message_names=False,
        strict_schemas=False,
        custom_tools=False,
        forbidden_root_keywords=(),
        media=MediaSupport(document_types=frozenset()),
    )
    blocks = ()

    def format_result(self, result: ToolResult) -> JSONObject:
        seen = result.error is None and any(not isinstance(part, Text) for part in show_result(result))
        data = (
            {"output": super().format_result(result)["content"]} if seen else wrap_result(result.result, result.error)
        )
        document = {"type": "document", "document": {"data": data}}
        return {"role": "tool", "tool_call_id": result.call_id, "content": [document]}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        blocks = [block for block in get_objects(written.get("content")) if block.get("text") != ""]
        if not any(map(_document, blocks)):
            return super().read_result(written)
        values = [_value(block) for block in blocks]
        value, error = unwrap_result(values[0]) if len(values) == 1 else (values, None)
        return ToolResult(get_str(written, "tool_call_id"), "", value, error)

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        turn = super().read_message(message)
        plan = get_str(message, "tool_plan")
        return replace(turn, parts=[Item("tool_plan", plan), *turn.parts]) if plan else turn

    def list_unread(self, message: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        blocks = get_objects(message.get("content")) if get_str(message, "role") == "tool" else []
        if not any(map(_document, blocks)):
            yield from super().list_unread(message, place)
        for block in blocks:
            for key in _document(block):
                if key != "data":
                    yield Loss(place, "", str(key), "dropped: a result has no more than its data elsewhere")

    def read_thought(self, message: Mapping[str, Any]) -> list[Part]:
        return [Thought(text) for block in get_objects(message.get("content")) if (text := get_str(block, "thinking"))]

    def adapt_turns(self, turns: list[Turn], _model: str, /) -> list[Turn]:
        """A plan without calls is an answer's text."""
        return [turn if turn.calls else replace(turn, parts=[*map(_plan_as_text, turn.parts)]) for turn in turns]

    def has_place_for(self, item: Item) -> bool:
        return item.kind in ("tool_plan", "citation")

    def write_assistant(self, turn: Turn, _lost: list[Loss], /) -> JSONObject:
        plan = "".join(str(part.data) for part in turn.parts if isinstance(part, Item) and part.kind == "tool_plan")
        thought = [{"type": "thinking", "thinking": turn.thought}] if turn.thought else []
        content = [*thought, {"type": "text", "text": turn.text}] if thought and turn.text else thought or turn.text
        calls = self.format_calls(turn.calls)
        return {"role": "assistant", **drop_empty(tool_plan=plan, content=content, tool_calls=calls)}


def _plan_as_text(part: Part) -> Part:
    return Text(str(part.data)) if isinstance(part, Item) and part.kind == "tool_plan" else part


def _document(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """The document that a block is; nothing if it is none."""
    document = block.get("document")
    return document if isinstance(document, Mapping) else {}


def _value(block: Mapping[str, Any]) -> Any:
    """What a block of a result says."""
    if document := _document(block):
        return document.get("data")
    return block["text"] if isinstance(block.get("text"), str) else dict(block)
