"""Anthropic Messages.

https://docs.anthropic.com/en/api/messages

The results of parallel calls are blocks of one user's message, before anything else in it.  Thought goes back with its
signature and in its place, or not at all: a block without one is refused.  So are texts of white space alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamparse.loss import Loss
from streamparse.providers.anthropic.facts import TURN_ITEMS, is_own_block, to_own_item
from streamparse.response import ToolCall, block_of
from streamparse.schema.strict import forbids, left_open
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.content import Shown, read_blocks, result_of, retold, shown, text_of
from streamparse.writing.definitions import Declared
from streamparse.writing.documents import PDF, PLAIN, as_block
from streamparse.writing.json_access import mappings, present, read_call, string
from streamparse.writing.media_support import Visible
from streamparse.writing.naming import Ids, Names
from streamparse.writing.paired_parts import drop_last_thoughts
from streamparse.writing.parts import CITATION, Document, Image, Item, Part, Text, Thought, Turn, role_of

_BOUNDS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems",
    "uniqueItems", "minProperties", "maxProperties",
)  # fmt: skip
"""What Anthropic does not enforce; its own library puts these into descriptions."""
_USER_KINDS = ("document", "search_result")
_OF_THE_TURN = (*TURN_ITEMS, "context_management")
"""Items that say how a turn went; no message has a place for them."""


class Anthropic(Adapter):
    """The Messages API."""

    name = "anthropic"
    dialect = "anthropic-invoke"
    names = Names(r"[a-zA-Z0-9_-]{1,64}")
    ids = Ids(r"[a-zA-Z0-9_-]+", 128)
    system_apart = True
    strict = True
    checks = (left_open, forbids(*_BOUNDS))
    top = ("anyOf", "oneOf", "allOf")
    visible = Visible(
        blanks=False,
        kinds=frozenset(("image/jpeg", "image/png", "image/gif", "image/webp")),
        documents=frozenset((PDF, PLAIN)),
    )

    def definition(self, declared: Declared, _lost: list[Loss], /) -> JSONObject:
        fields = present(name=declared.tool.name, description=declared.tool.description)
        return {**fields, "input_schema": declared.parameters, **({"strict": True} if declared.strict else {})}

    def format_call(self, call: ToolCall) -> JSONObject:
        return {"type": "tool_use", "id": self.ids.fit(call.id), "name": call.name, "input": call.arguments}

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        return read_call(string(written, "name"), written.get("input"), string(written, "id"))

    def format_result(self, result: ToolResult) -> JSONObject:
        block: JSONObject = {"type": "tool_result", "tool_use_id": self.ids.fit(result.call_id)}
        if result.error is not None:
            return {**block, "content": self.visible.error(result.error), "is_error": True}
        parts = self.visible.fit(shown(result))
        seen = any(not isinstance(part, Text) for part in parts)
        return {**block, "content": [_write_shown(part) for part in parts] if seen else text_of(parts)}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        failed = written.get("is_error") is True
        return result_of(string(written, "tool_use_id"), "", read_blocks(written.get("content")), failed)

    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        if turn.role == "assistant":
            return [{"role": "assistant", "content": self._write_answer(turn.parts, lost)}]
        blocks = [self.format_result(result) for result in turn.results]
        others = self.visible.fit(part for part in turn.parts if not isinstance(part, ToolResult))
        if not blocks and len(others) == 1 and isinstance(others[0], Text):
            return [{"role": "user", "content": others[0].text}]
        blocks += [block for part in others if (block := _write_part(part, lost)) is not None]
        return [{"role": "user", "content": blocks}]

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        parts = [part for block in _list_blocks(message.get("content")) for part in self._read(block)]
        return Turn(role_of(string(message, "role")), parts)

    def unread(self, message: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        for block in mappings(message.get("content")):
            if string(block, "type") == "tool_result":
                yield from retold(read_blocks(block.get("content")), place, block.get("is_error") is True)

    def adopt(self, turns: list[Turn], _model: str, /) -> list[Turn]:
        return [*map(drop_last_thoughts, turns)]

    # -- inside ----------------------------------------------------------------------------------------

    def _write_answer(self, parts: list[Part], lost: list[Loss]) -> list[JSONObject]:
        """The blocks of the assistant: a signature ends the thought before it, citations stand before their text."""
        blocks: list[JSONObject] = []
        cited: list[Any] = []
        thought = ""
        for part in parts:
            match part:
                case Thought():
                    thought += part.text
                case Item(kind="thinking_blocks", data=dict(block)):
                    blocks.append(block_of(block, thought))
                    thought = ""
                case Item() if part.kind == CITATION:
                    cited.append(part.data)
                case Text():
                    if part.text.strip():
                        blocks.append({"type": "text", "text": part.text, **present(citations=cited)})
                    cited = []
                case ToolCall():
                    blocks.append(self.format_call(part))
                case Item():
                    kind, data = to_own_item(part.kind, part.data)
                    if kind == "signature" and data:
                        blocks.append({"type": "thinking", "thinking": thought, "signature": data})
                        thought = ""
                    elif is_own_block(kind, data) and data.get("type") == kind:
                        blocks.append(data)
                    elif kind not in _OF_THE_TURN:
                        lost.append(Loss("assistant", "", part.kind, "dropped: another provider's own"))
        if thought:
            lost.append(Loss("assistant", "", "thought", "dropped: it has no signature"))
        return blocks

    def _read(self, block: Mapping[str, Any]) -> list[Part]:
        match string(block, "type"):
            case "tool_use":
                return [self.read_call(block)]
            case "tool_result":
                return [self.read_result(block)]
            case "thinking":
                thought, signature = string(block, "thinking"), string(block, "signature")
                return [Thought(thought), *([Item("signature", signature)] if signature else [])]
            case "text":
                citations = block.get("citations")
                cited = citations if isinstance(citations, list) else []
                return [*(Item(CITATION, each) for each in cited), Text(string(block, "text"))]
            case _:
                return read_blocks([block])


def _list_blocks(content: Any) -> list[Mapping[str, Any]]:
    """Return the blocks of a content; a bare text counts as one."""
    blocks = content if isinstance(content, (list, tuple)) else [content]
    spelled = [{"type": "text", "text": block} if isinstance(block, str) and block else block for block in blocks]
    return mappings(spelled)


def _write_shown(part: Shown) -> JSONObject:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Document):
        return as_block(part)
    if part.url:
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    return {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": part.data}}


def _write_part(part: Part, lost: list[Loss]) -> JSONObject | None:
    """Write a block of the user; None if there is no place for the part."""
    if isinstance(part, (Image, Document)) or (isinstance(part, Text) and part.text.strip()):
        return _write_shown(part)
    if isinstance(part, Item) and part.kind in _USER_KINDS and part.is_block:
        return dict(part.data)
    if isinstance(part, Item):
        lost.append(Loss("user", "", part.kind, "dropped: there is no place for it"))
    return None
