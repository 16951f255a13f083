"""OpenAI Responses: the conversation, which is a list of items, and whole requests.

https://platform.openai.com/docs/api-reference/responses/create

A call is `function_call` and its result `function_call_output`, which takes images and documents.  Thought goes back
as the whole `reasoning` items that hold it encrypted; calls go back without their item's own id, so that the provider
does not look for a thought that it never stored.  `strict` is always written, because a schema is enforced without it.

**Requests.** A request holds its whole conversation, so nothing of it need be kept: `store` is false unless it was
asked for.  There are no stops, no seed and no penalties here.  Of a request that goes on from a stored response, what
is stored is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.providers.openai_chat import extras
from streamparse.providers.openai_chat import messages as chat
from streamparse.providers.openai_responses.facts import is_own_item
from streamparse.response import ParsedResponse, ToolCall
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.answer_parts import read_answer
from streamparse.writing.content import VisiblePart, get_filename, read_blocks
from streamparse.writing.definitions import has_type
from streamparse.writing.json_access import FUNCTION_FIELDS, drop_empty, get_at, get_object, get_objects, get_str
from streamparse.writing.parts import Image, Item, Message, Part, Text, Thought, is_item, read_role
from streamparse.writing.request import ACCOUNT_FIELDS, SCHEMA_NAME, Request
from streamparse.writing.request_format import RequestFormat, place_alike
from streamparse.writing.results import list_text_losses, read_text_result, show_result, write_result_text
from streamparse.writing.traits import IdPolicy, MediaSupport, ProviderTraits

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

    traits: ProviderTraits = replace(
        chat.OpenAI.traits,
        name="openai-responses",
        tool={"type": "function", **FUNCTION_FIELDS, "strict": "$strict"},
        call={"type": "function_call", "call_id": "$id", "name": "$name", "arguments": "$arguments"},
        ids=IdPolicy(r"(?s).*", 64),
        message_names=False,
        own_blocks=(),
        write_custom_tool=extras.write_item_tool,
        media=MediaSupport(document_fields=frozenset(("name",))),
        is_server_tool=_is_server_tool,
    )

    def format_result(self, result: ToolResult) -> JSONObject:
        parts = [] if result.error is not None else show_result(result)
        has_media = any(not isinstance(part, Text) for part in parts)
        output = [self.write_visible(part) for part in parts] if has_media else write_result_text(result)
        return {"type": "function_call_output", "call_id": self.traits.ids.normalize(result.call_id), "output": output}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        return read_text_result(get_str(written, "call_id"), "", read_blocks(written.get("output")))

    # -- items -----------------------------------------------------------------------------------------

    def write_message(self, message: Message, lost: list[Loss], /) -> list[JSONObject]:
        if message.role == "assistant":
            return self._write_answer(message, lost)
        written: list[JSONObject] = []
        parts = self.traits.media.filter(message.parts)
        for is_visible, group in groupby(parts, key=lambda part: isinstance(part, VisiblePart)):
            if is_visible:
                written.append({"role": message.role, "content": self.write_content(list(group), lost)})
            else:
                written += [item for part in group for item in self._write_item(part, message.role, lost)]
        return written

    def write_visible(self, part: VisiblePart, /) -> JSONObject:
        if isinstance(part, Text):
            return {"type": "input_text", "text": part.text}
        if isinstance(part, Image):
            return {"type": "input_image", "image_url": part.address, "detail": part.detail or "auto"}
        if part.url:
            return {"type": "input_file", "file_url": part.url, **drop_empty(filename=part.name)}
        return {"type": "input_file", "file_data": part.address, "filename": get_filename(part)}

    def _write_answer(self, message: Message, lost: list[Loss]) -> list[JSONObject]:
        """Write the items of the assistant: a phase begins a message, and so does a text after anything else.

        Only llama.cpp wants the type of a message: https://github.com/ggml-org/llama.cpp/issues/26394
        """
        written: list[JSONObject] = []
        texts: list[str] = []
        phase: JSONObject = {}
        for part in [*message.parts, Item(_PHASE, None)]:
            if isinstance(part, Text):
                texts += [part.text] if part.text else []
            elif is_item(part, *_ABOUT_THE_TEXT):
                lost.append(Loss(message.role, "", part.kind, "dropped: there is no place for it"))
            else:
                text = "".join(texts)
                if text.strip():
                    written.append({"type": "message", "role": message.role, **phase, "content": text})
                phase = {} if texts else phase
                texts = []
                if is_item(part, _PHASE):
                    phase = drop_empty(phase=part.data)
                else:
                    written += self._write_item(part, message.role, lost)
        if message.thought and not any(is_item(part, "reasoning") for part in message.parts):
            lost.append(Loss(message.role, "", "thought", "dropped: only encrypted thought goes back"))
        return written

    def _write_item(self, part: Any, role: str, lost: list[Loss]) -> Iterator[JSONObject]:
        if isinstance(part, ToolCall):
            yield self.format_call(part)
        elif isinstance(part, ToolResult):
            yield self.format_result(part)
        elif is_item(part, extras.CUSTOM_CALL):
            yield extras.write_item_call(part.data, self.traits.ids)
        elif isinstance(part, Item) and is_own_item(part.kind, part.data):
            yield part.data
        elif isinstance(part, Item):
            lost.append(Loss(role, "", part.kind, "dropped: another provider's own"))

    def read_message(self, written: Mapping[str, Any]) -> Message:
        match get_str(written, "type"):
            case "function_call":
                return Message("assistant", [self.read_call(written)])
            case "function_call_output":
                return Message("user", [self.read_result(written)])
            case extras.CUSTOM_OUTPUT as kind:
                return Message("user", [Item(kind, dict(written))])
            case "" | "message":
                phase = get_str(written, _PHASE)
                head: list[Part] = [Item(_PHASE, phase)] if phase else []
                return Message(read_role(get_str(written, "role")), [*head, *read_blocks(written.get("content"))])
            case "reasoning" as kind:
                return Message("assistant", [*_read_thought(written), Item(kind, dict(written))])
            case kind:
                return Message("assistant", [Item(kind, dict(written))])

    def list_unread(self, written: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        if get_str(written, "type") == "function_call_output":
            yield from list_text_losses(read_blocks(written.get("output")), place)

    def is_same_message(self, before: Message, message: Message) -> bool:
        """Whether items are parts of one message: those of one side are, but of the user only results."""
        are_results = _has_results(before) and _has_results(message)
        return before.role == message.role and (message.role == "assistant" or are_results)

    def read_calls(self, written: Any) -> list[ToolCall]:
        return super().read_calls(item for item in written if get_str(item, "type") == "function_call")

    def as_message(self, response: ParsedResponse) -> list[JSONObject]:
        """Return the items of the assistant's message."""
        return self.write_message(Message("assistant", read_answer(response)), [])


def _has_results(message: Message) -> bool:
    has_result = any(isinstance(part, ToolResult) or extras.is_custom_output(part) for part in message.parts)
    return message.role == "user" and has_result


def _read_thought(item: Mapping[str, Any]) -> list[Part]:
    text = "".join(get_str(block, "text") for block in get_objects(item.get("summary") or item.get("content")))
    return [Thought(text)] if text else []


# -- requests --------------------------------------------------------------------------------------


def _normalize(request: Mapping[str, Any]) -> Mapping[str, Any]:
    text = request.get("input")
    return {**request, "input": [{"role": "user", "content": text}]} if isinstance(text, str) else request


def _read_others(request: Mapping[str, Any], lost: list[Loss]) -> dict[str, Any]:
    section = get_object(request, "text", "format")
    return {
        "choice": chat.read_choice(request, "name"),
        **chat.read_answer_format(get_at(request, "text", "format"), section, lost),
        **chat.read_effort(get_str(request, "reasoning", "effort")),
    }


def _write_others(request: Request, lost: list[Loss]) -> dict[str, Any]:
    others = {"store": request.account.get("store") or False, "text.format": _write_format(request, lost)}
    return chat.write_choice(request, {"name": request.choice.name}) | others


def _write_format(request: Request, lost: list[Loss]) -> dict[str, Any] | None:
    if not request.schema:
        return {"type": "json_object"} if request.schema is not None else None
    name, strict = request.schema_name or SCHEMA_NAME, chat.can_enforce(request, lost)
    return {"type": "json_schema", "name": name, "schema": request.schema, "strict": strict}


RESPONSES_REQUESTS = RequestFormat(
    fields=place_alike("model", "tools", "stream", "temperature", "top_p", *ACCOUNT_FIELDS)
    | {"messages": "input", "max_tokens": "max_output_tokens", "effort": "reasoning.effort"},
    read_only={"system": "instructions"},
    other_places=("tool_choice", "parallel_tool_calls", "text.format"),
    dropped={"stop": ("stop", "dropped: an answer ends by itself here")},
    others_written=("parallel", "schema_name"),
    normalize=_normalize,
    read_others=_read_others,
    write_others=_write_others,
)
