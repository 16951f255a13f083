"""Anthropic Messages.

https://docs.anthropic.com/en/api/messages

The results of parallel calls are blocks of one user's message, before anything else in it.  Thought goes back with its
signature and in its place, or not at all: a block without one is refused.  So are texts of blanks alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from streamparse.loss import Loss
from streamparse.response import ToolCall
from streamparse.schema.strict import find_open_objects, forbid
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.answer_parts import complete_block
from streamparse.writing.content import PDF, PLAIN_TEXT, VisiblePart, join_text, read_blocks, write_document_block
from streamparse.writing.correlation import drop_last_thoughts
from streamparse.writing.definitions import DeclaredTool, has_type
from streamparse.writing.json_access import drop_empty, get_objects, get_str, read_call
from streamparse.writing.parts import CITATION, Document, Image, Item, Part, Text, Thought, Turn, read_role
from streamparse.writing.results import list_text_losses, make_result, show_result
from streamparse.writing.traits import IdPolicy, MediaSupport, NamePolicy, ProviderTraits

_BOUNDS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems",
    "uniqueItems", "minProperties", "maxProperties",
)  # fmt: skip
"""What Anthropic does not enforce; its own library says these in descriptions."""
_KINDS = ("redacted_thinking", "server_tool_use", "mcp_tool_use", "container_upload", "compaction", "fallback")
_USER_KINDS = ("document", "search_result")
_SERVER_TOOLS = re.compile(r"\w+_20[0-9]{6}|mcp_toolset")
"""The types of tools that Anthropic itself brings: they end with a date (`web_search_20250305`, `bash_20250124`).

https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview
"""
_OURS = "anthropic-claude"
"""In the `format` of OpenRouter's `reasoning_details`: the thought is ours."""
_OF_THE_TURN = ("stop_sequence", "stop_details", "container", "context_management")
"""Items that tell how a turn went; no message has a place for them."""


class Anthropic(Adapter):
    """The Messages API."""

    traits = ProviderTraits(
        name="anthropic",
        dialect="anthropic-invoke",
        names=NamePolicy(r"[a-zA-Z0-9_-]{1,64}"),
        ids=IdPolicy(r"[a-zA-Z0-9_-]+", 128),
        separate_system=True,
        strict_schemas=True,
        schema_checks=(find_open_objects, forbid(*_BOUNDS)),
        forbidden_root_keywords=("anyOf", "oneOf", "allOf"),
        media=MediaSupport(
            blank_texts=False,
            image_types=frozenset(("image/jpeg", "image/png", "image/gif", "image/webp")),
            document_types=frozenset((PDF, PLAIN_TEXT)),
        ),
        is_server_tool=partial(has_type, pattern=_SERVER_TOOLS),
    )

    def write_tool(self, declared: DeclaredTool, _lost: list[Loss], /) -> JSONObject:
        fields = drop_empty(name=declared.tool.name, description=declared.tool.description)
        return {**fields, "input_schema": declared.parameters, **({"strict": True} if declared.strict else {})}

    def format_call(self, call: ToolCall) -> JSONObject:
        return {
            "type": "tool_use",
            "id": self.traits.ids.normalize(call.id),
            "name": call.name,
            "input": call.arguments,
        }

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        return read_call(get_str(written, "name"), written.get("input"), get_str(written, "id"))

    def format_result(self, result: ToolResult) -> JSONObject:
        block: JSONObject = {"type": "tool_result", "tool_use_id": self.traits.ids.normalize(result.call_id)}
        if result.error is not None:
            return {**block, "content": self.traits.media.fill_error(result.error), "is_error": True}
        parts = self.traits.media.filter(show_result(result))
        seen = any(not isinstance(part, Text) for part in parts)
        return {**block, "content": [_visible(part) for part in parts] if seen else join_text(parts)}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        failed = written.get("is_error") is True
        return make_result(get_str(written, "tool_use_id"), "", read_blocks(written.get("content")), failed)

    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        if turn.role == "assistant":
            return [{"role": "assistant", "content": self._answer(turn.parts, lost)}]
        blocks = [self.format_result(result) for result in turn.results]
        others = self.traits.media.filter(part for part in turn.parts if not isinstance(part, ToolResult))
        if not blocks and len(others) == 1 and isinstance(others[0], Text):
            return [{"role": "user", "content": others[0].text}]
        blocks += [block for part in others if (block := _told(part, lost)) is not None]
        return [{"role": "user", "content": blocks}]

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        parts = [part for block in _blocks(message.get("content")) for part in self._read(block)]
        return Turn(read_role(get_str(message, "role")), parts)

    def list_unread(self, message: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        for block in get_objects(message.get("content")):
            if get_str(block, "type") == "tool_result":
                yield from list_text_losses(read_blocks(block.get("content")), place, block.get("is_error") is True)

    def adapt_turns(self, turns: list[Turn], _model: str, /) -> list[Turn]:
        return [*map(drop_last_thoughts, turns)]

    # -- inside ----------------------------------------------------------------------------------------

    def _answer(self, parts: list[Part], lost: list[Loss]) -> list[JSONObject]:
        """The blocks of the assistant: a signature ends the thought before it, citations stand before their text."""
        blocks: list[JSONObject] = []
        cited: list[Any] = []
        thought = ""
        for part in parts:
            match part:
                case Thought():
                    thought += part.text
                case Item() if signature := _signature(part):
                    blocks.append({"type": "thinking", "thinking": thought, "signature": signature})
                    thought = ""
                case Item(kind="thinking_blocks", data=dict(block)):
                    blocks.append(complete_block(block, thought))
                    thought = ""
                case Item(kind="reasoning.encrypted", data={"format": str(form), "data": str(data)}) if _OURS in form:
                    blocks.append({"type": "redacted_thinking", "data": data})
                case Item() if part.kind == CITATION:
                    cited.append(part.data)
                case Text():
                    if part.text.strip():
                        blocks.append({"type": "text", "text": part.text, **drop_empty(citations=cited)})
                    cited = []
                case ToolCall():
                    blocks.append(self.format_call(part))
                case Item() if _is_ours(part):
                    blocks.append(part.data)
                case Item() if part.kind not in _OF_THE_TURN:
                    lost.append(Loss("assistant", "", part.kind, "dropped: another provider's own"))
        if thought:
            lost.append(Loss("assistant", "", "thought", "dropped: it has no signature"))
        return blocks

    def _read(self, block: Mapping[str, Any]) -> list[Part]:
        match get_str(block, "type"):
            case "tool_use":
                return [self.read_call(block)]
            case "tool_result":
                return [self.read_result(block)]
            case "thinking":
                thought, signature = get_str(block, "thinking"), get_str(block, "signature")
                return [Thought(thought), *([Item("signature", signature)] if signature else [])]
            case "text":
                citations = block.get("citations")
                cited = citations if isinstance(citations, list) else []
                return [*(Item(CITATION, each) for each in cited), Text(get_str(block, "text"))]
            case _:
                return read_blocks([block])


def _blocks(content: Any) -> list[Mapping[str, Any]]:
    """The blocks of a content; a bare text counts as one."""
    blocks = content if isinstance(content, (list, tuple)) else [content]
    spelled = [{"type": "text", "text": block} if isinstance(block, str) and block else block for block in blocks]
    return get_objects(spelled)


def _visible(part: VisiblePart) -> JSONObject:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Document):
        return write_document_block(part)
    if part.url:
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    return {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": part.data}}


def _told(part: Part, lost: list[Loss]) -> JSONObject | None:
    """A block of the user."""
    if isinstance(part, (Image, Document)) or (isinstance(part, Text) and part.text.strip()):
        return _visible(part)
    if isinstance(part, Item) and part.kind in _USER_KINDS and part.is_block:
        return dict(part.data)
    if isinstance(part, Item):
        lost.append(Loss("user", "", part.kind, "dropped: there is no place for it"))
    return None


def _signature(item: Item) -> Any:
    """What signs a thought, by itself or as an entry of OpenRouter's `reasoning_details`; None for other items."""
    match item:
        case Item(kind="signature"):
            return item.data
        case Item(kind="reasoning.text", data={"format": str(form), "signature": signature}) if _OURS in form:
            return signature
    return None


def _is_ours(item: Item) -> bool:
    named = item.kind in _KINDS or item.kind.endswith("_tool_result")
    return named and item.is_block
