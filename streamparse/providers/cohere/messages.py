"""Cohere's chat, version 2: the messages, and whole requests.

https://docs.cohere.com/v2/docs/tool-use-overview

A result is one `tool` message that holds a document, which is an object; several of them, or texts with them, are read
as a list.  The plan that came with calls goes back with them, in place of the text.

**Requests.** https://docs.cohere.com/v2/reference/chat

One tool cannot be named as the one that must be called: it is then the only one that is declared, which has the same
effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.providers.openai_chat.messages import OpenAI
from streamparse.tools import ToolResult
from streamparse.writing.adapter import JSONObject
from streamparse.writing.json_access import drop_empty, get_object, get_objects, get_str
from streamparse.writing.parts import Item, Message, Part, Text, Thought, is_item
from streamparse.writing.request import SAMPLING_FIELDS, Choice, Request
from streamparse.writing.request_format import RequestFormat, place_alike
from streamparse.writing.results import show_result, unwrap_result, wrap_result
from streamparse.writing.traits import ANY_ID, MediaSupport, NamePolicy, ProviderTraits, is_no_server_tool


class Cohere(OpenAI):
    """The chat of Cohere."""

    traits: ProviderTraits = replace(
        OpenAI.traits,
        is_server_tool=is_no_server_tool,
        name="cohere",
        dialect="cohere-action",
        names=NamePolicy(r"[a-zA-Z_][a-zA-Z0-9_]*"),
        ids=ANY_ID,
        message_names=False,
        strict_schemas=False,
        write_custom_tool=None,
        own_blocks=(),
        forbidden_root_keywords=(),
        media=MediaSupport(document_types=frozenset()),
    )

    def format_result(self, result: ToolResult) -> JSONObject:
        has_media = result.error is None and any(not isinstance(part, Text) for part in show_result(result))
        data = wrap_result(result.result, result.error)
        if has_media:
            data = {"output": super().format_result(result)["content"]}
        document = {"type": "document", "document": {"data": data}}
        return {"role": "tool", "tool_call_id": result.call_id, "content": [document]}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        blocks = [block for block in get_objects(written.get("content")) if block.get("text") != ""]
        if not _has_document(blocks):
            return super().read_result(written)
        values = [_read_value(block) for block in blocks]
        value, error = unwrap_result(values[0]) if len(values) == 1 else (values, None)
        return ToolResult(get_str(written, "tool_call_id"), "", value, error)

    def read_message(self, written: Mapping[str, Any]) -> Message:
        message = super().read_message(written)
        plan = get_str(written, "tool_plan")
        return replace(message, parts=[Item("tool_plan", plan), *message.parts]) if plan else message

    def list_unread(self, written: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        blocks = get_objects(written.get("content")) if get_str(written, "role") == "tool" else []
        if not _has_document(blocks):
            yield from super().list_unread(written, place)
        for block in blocks:
            for key in get_object(block, "document"):
                if key != "data":
                    yield Loss(place, "", str(key), "dropped: a result has no more than its data elsewhere")

    def read_thought(self, written: Mapping[str, Any]) -> list[Part]:
        return [Thought(text) for block in get_objects(written.get("content")) if (text := get_str(block, "thinking"))]

    def adapt_messages(self, messages: list[Message], _model: str, /, *, is_thinking: bool) -> list[Message]:  # noqa: ARG002
        """Make a plan without calls an answer's text."""
        return [
            message if message.calls else replace(message, parts=[*map(_make_plan_text, message.parts)])
            for message in messages
        ]

    def has_place_for(self, item: Item) -> bool:
        return item.kind in ("tool_plan", "citation")

    def write_assistant(self, message: Message, _lost: list[Loss], /) -> JSONObject:
        plan = "".join(str(part.data) for part in message.parts if is_item(part, "tool_plan"))
        thought, text = message.thought, message.text
        content: Any = text
        if thought:
            content = [{"type": "thinking", "thinking": thought}, *([{"type": "text", "text": text}] if text else [])]
        calls = self.format_calls(message.calls)
        return {"role": "assistant", **drop_empty(tool_plan=plan, content=content, tool_calls=calls)}


def _make_plan_text(part: Part) -> Part:
    return Text(str(part.data)) if is_item(part, "tool_plan") else part


def _has_document(blocks: list[Mapping[str, Any]]) -> bool:
    return any(get_object(block, "document") for block in blocks)


def _read_value(block: Mapping[str, Any]) -> Any:
    if document := get_object(block, "document"):
        return document.get("data")
    return block["text"] if isinstance(block.get("text"), str) else dict(block)


# -- requests --------------------------------------------------------------------------------------

_MODES: dict[str, Any] = {"REQUIRED": "required", "NONE": "none"}
_WORDS = {mode: word for word, mode in _MODES.items()}


def _read_others(request: Mapping[str, Any], _lost: list[Loss]) -> dict[str, Any]:
    choice = Choice(_MODES.get(get_str(request, "tool_choice")))
    form = get_object(request, "response_format")
    schema = dict(get_object(form, "json_schema")) if form.get("type") == "json_object" else None
    return {"choice": choice, "schema": schema}


def _restrict(request: Request, _lost: list[Loss]) -> Request:
    only = [declared for declared in request.tools if declared.tool.name == request.choice.name]
    return replace(request, tools=only or request.tools)


def _write_others(request: Request, _lost: list[Loss]) -> dict[str, Any]:
    form = {"type": "json_object", **({"json_schema": request.schema} if request.schema else {})}
    return {
        "stream": request.stream,
        "tool_choice": _WORDS.get(request.choice.mode or "") if request.tools else None,
        "response_format": form if request.schema is not None else None,
    }


COHERE_REQUESTS = RequestFormat(
    fields=place_alike("model", "messages", "stream", "tools", "max_tokens", *SAMPLING_FIELDS)
    | {"stop": "stop_sequences", "top_p": "p", "top_k": "k", "think": "thinking.type"},
    other_places=("tool_choice", "response_format"),
    bounds={"top_p": (0.01, 0.99), "top_k": (0, 500), "presence_penalty": (0, 1), "frequency_penalty": (0, 1)},
    max_stops=5,
    read_others=_read_others,
    restrict=_restrict,
    write_others=_write_others,
)
