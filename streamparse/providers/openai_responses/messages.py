"""OpenAI Responses: a conversation is a list of items.

https://platform.openai.com/docs/api-reference/responses/create

A call is `function_call` and its result `function_call_output`, which takes pictures and documents.  Thought goes back
as the whole `reasoning` items that hold it encrypted; calls go back without their item's own id, so that the provider
does not look for a thought that it never stored.  `strict` is always said, for here its absence means true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from streamparse.loss import Loss
from streamparse.providers.openai_chat.extras import (
    CUSTOM_CALL,
    CUSTOM_OUTPUT,
    is_custom_output,
    write_item_call,
    write_item_tool,
)
from streamparse.providers.openai_chat.schema_rules import REFUSED_AT_ROOT, STRICT_CHECKS
from streamparse.response import ParsedResponse, ToolCall
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.answer_parts import read_answer
from streamparse.writing.content import VisiblePart, get_address, get_filename, read_blocks
from streamparse.writing.definitions import DeclaredTool, has_type
from streamparse.writing.json_access import drop_empty, get_str, read_call, write_arguments
from streamparse.writing.parts import Document, Item, Part, Text, Thought, Turn, read_role
from streamparse.writing.results import list_text_losses, read_text_result, show_result, write_result_text
from streamparse.writing.traits import IdPolicy, MediaSupport, NamePolicy, ProviderTraits

_KINDS = ("reasoning", "compaction", "mcp_list_tools", "mcp_approval_request", "program")
_ENDINGS = ("_call", "_output")
_SERVER_TOOLS = re.compile(
    r"(?:web_search|file_search|computer|computer_use|code_interpreter|image_generation|local_shell|shell|apply_patch"
    r"|mcp|tool_search|custom)(?:_preview)?(?:_20[0-9]{2}_[0-9]{2}_[0-9]{2})?"
)
"""https://platform.openai.com/docs/api-reference/responses/create#responses-create-tools"""
_PHASE = "phase"
_ABOUT_THE_TEXT = ("annotation",)
"""Items that come in the middle of a message, and have no place in one that is sent."""


def _is_server_tool(tool: Mapping[str, Any]) -> bool:
    return "custom" not in tool and has_type(tool, _SERVER_TOOLS)


class Responses(Adapter):
    """The Responses API."""

    traits = ProviderTraits(
        name="openai-responses",
        image_detail=True,
        names=NamePolicy(r"[a-zA-Z0-9_-]{1,64}"),
        ids=IdPolicy(r"(?s).*", 64),
        strict_schemas=True,
        custom_tools=True,
        schema_checks=STRICT_CHECKS,
        forbidden_root_keywords=REFUSED_AT_ROOT,
        media=MediaSupport(document_fields=frozenset(("name",))),
        is_server_tool=_is_server_tool,
    )

    def write_tool(self, declared: DeclaredTool, _lost: list[Loss], /) -> JSONObject:
        if declared.custom is not None:
            return write_item_tool(declared.custom)
        fields = drop_empty(type="function", name=declared.tool.name, description=declared.tool.description)
        return {**fields, "parameters": declared.parameters, "strict": declared.strict}

    def format_call(self, call: ToolCall) -> JSONObject:
        fields = {"type": "function_call", "call_id": self.traits.ids.normalize(call.id)}
        return {**fields, "name": call.name, "arguments": write_arguments(call)}

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        return read_call(get_str(written, "name"), written.get("arguments"), get_str(written, "call_id"))

    def format_result(self, result: ToolResult) -> JSONObject:
        parts = [] if result.error is not None else show_result(result)
        seen = any(not isinstance(part, Text) for part in parts)
        output = [_block(part) for part in parts] if seen else write_result_text(result)
        return {"type": "function_call_output", "call_id": self.traits.ids.normalize(result.call_id), "output": output}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        return read_text_result(get_str(written, "call_id"), "", read_blocks(written.get("output")))

    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        if turn.role == "assistant":
            return self._answer(turn, lost)
        written: list[JSONObject] = []
        for visible, group in groupby(
            self.traits.media.filter(turn.parts), key=lambda part: isinstance(part, VisiblePart)
        ):
            parts = list(group)
            written += [_message(turn.role, parts)] if visible else self._items(parts, turn.role, lost)
        return written

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        match get_str(message, "type"):
            case "function_call":
                return Turn("assistant", [self.read_call(message)])
            case "function_call_output":
                return Turn("user", [self.read_result(message)])
            case kind if kind == CUSTOM_OUTPUT:
                return Turn("user", [Item(kind, dict(message))])
            case "" | "message":
                phase = get_str(message, _PHASE)
                head: list[Part] = [Item(_PHASE, phase)] if phase else []
                return Turn(read_role(get_str(message, "role")), [*head, *read_blocks(message.get("content"))])
            case "reasoning" as kind:
                return Turn("assistant", [*_thoughts(message), Item(kind, dict(message))])
            case kind:
                return Turn("assistant", [Item(kind, dict(message))])

    def list_unread(self, message: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        if get_str(message, "type") == "function_call_output":
            yield from list_text_losses(read_blocks(message.get("output")), place)

    def is_same_turn(self, before: Turn, turn: Turn) -> bool:
        """Items of one side follow each other; of the user only results are one turn."""
        return before.role == turn.role and (turn.role == "assistant" or (_answers(before) and _answers(turn)))

    def _answer(self, turn: Turn, lost: list[Loss]) -> list[JSONObject]:
        """The items of the assistant: a phase begins a message, and so does a text behind anything else.

        Of a message only llama.cpp wants the type: https://github.com/ggml-org/llama.cpp/issues/26394
        """
        written: list[JSONObject] = []
        texts: list[str] = []
        phase: JSONObject = {}
        for part in [*turn.parts, Item(_PHASE, None)]:
            if isinstance(part, Text):
                texts += [part.text] if part.text else []
            elif isinstance(part, Item) and part.kind in _ABOUT_THE_TEXT:
                lost.append(Loss(turn.role, "", part.kind, "dropped: there is no place for it"))
            else:
                text = "".join(texts)
                message = {"type": "message", "role": turn.role, **phase, "content": text}
                written += [message] if text.strip() else []
                phase = {} if texts else phase
                texts = []
                if isinstance(part, Item) and part.kind == _PHASE:
                    phase = drop_empty(phase=part.data)
                else:
                    written += self._items([part], turn.role, lost)
        if turn.thought and not any(isinstance(part, Item) and part.kind == "reasoning" for part in turn.parts):
            lost.append(Loss(turn.role, "", "thought", "dropped: only encrypted thought goes back"))
        return written

    def _items(self, parts: list[Part], role: str, lost: list[Loss]) -> list[JSONObject]:
        written: list[JSONObject] = []
        for part in parts:
            if isinstance(part, ToolCall):
                written.append(self.format_call(part))
            elif isinstance(part, ToolResult):
                written.append(self.format_result(part))
            elif isinstance(part, Item) and part.kind == CUSTOM_CALL:
                written.append(write_item_call(part.data, self.traits.ids))
            elif isinstance(part, Item) and _is_ours(part):
                written.append(part.data)
            elif isinstance(part, Item):
                lost.append(Loss(role, "", part.kind, "dropped: another provider's own"))
        return written

    def read_calls(self, written: Any) -> list[ToolCall]:
        return super().read_calls(item for item in written if get_str(item, "type") == "function_call")

    def as_message(self, response: ParsedResponse) -> list[JSONObject]:
        """The items of the assistant's turn."""
        return self.write_turn(Turn("assistant", read_answer(response)), [])


def _answers(turn: Turn) -> bool:
    return turn.role == "user" and any(isinstance(part, ToolResult) or is_custom_output(part) for part in turn.parts)


def _message(role: str, parts: list[Part]) -> JSONObject:
    if len(parts) == 1 and isinstance(parts[0], Text):
        return {"role": role, "content": parts[0].text}
    return {"role": role, "content": [_block(part) for part in parts if isinstance(part, VisiblePart)]}


def _block(part: VisiblePart) -> JSONObject:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text}
    if isinstance(part, Document):
        held = {"file_url": part.url} if part.url else {"file_data": get_address(part)}
        return {"type": "input_file", **held, **drop_empty(filename=part.name if part.url else get_filename(part))}
    return {"type": "input_image", "image_url": part.address, "detail": part.detail or "auto"}


def _thoughts(item: Mapping[str, Any]) -> list[Part]:
    text = "".join(part.text for part in _summaries(item))
    return [Thought(text)] if text else []


def _summaries(item: Mapping[str, Any]) -> list[Text]:
    summary = item.get("summary") or item.get("content") or []
    blocks = summary if isinstance(summary, list) else []
    return [Text(text) for block in blocks if (text := get_str(block, "text"))]


def _is_ours(item: Item) -> bool:
    named = item.kind in _KINDS or item.kind.endswith(_ENDINGS)
    return named and isinstance(item.data, dict) and item.data.get("type") == item.kind
