"""Amazon Bedrock's Converse: the messages, and whole requests.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html

The results of parallel calls are blocks of one user's message, each with its `status`.  A result that is an object is
sent as one, anything else as text.  Bytes (pictures, redacted thought) are base64, as on the wire; boto3 wants them
decoded.  A document must have a name, in few kinds of letters; one that has none is named after its content
(https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html).

**Requests.** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html

The path names the model (boto3 takes it as `modelId`), and the operation says whether it is a stream, so they are not
in the body.

A request whose messages hold calls or results must declare tools: https://github.com/vercel/ai/pull/7537
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import Any, Final

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.providers.bedrock.facts import SERVER_TOOL_KEYS
from streamparse.response import ToolCall
from streamparse.tools import Tool, ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.content import DOCUMENT_ENDINGS, VisiblePart, find_document_type, is_cited, make_text_document
from streamparse.writing.correlation import drop_last_thoughts
from streamparse.writing.definitions import DeclaredTool, has_keys
from streamparse.writing.json_access import drop_empty, get_at, get_object, get_objects, get_str
from streamparse.writing.parts import Document, Image, Item, Message, Part, Text, Thought, is_item, read_role
from streamparse.writing.request import Request
from streamparse.writing.request_format import RequestFormat, place_alike
from streamparse.writing.results import list_text_losses, make_result, show_result
from streamparse.writing.traits import NO_NAME, IdPolicy, MediaSupport, NamePolicy, ProviderTraits

_MESSAGE_ITEMS: Final = ("metrics", "trace", "additionalModelResponseFields")
"""Items that say how an answer went; no message has a place for them."""
_OWN_BLOCKS: Final = ("citationsContent", "toolResult")
_REFUSED_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9()\[\]-]+")
_LONGEST_NAME: Final = 200  # source: DocumentBlock.name of the Converse API


class Bedrock(Adapter):
    """The Converse API; `format_tools` gives the `tools` of its `toolConfig`."""

    traits: ProviderTraits = ProviderTraits(
        name="bedrock",
        tool={"toolSpec": {"name": "$name?", "description": "$description?", "inputSchema": {"json": "$schema"}}},
        call={"toolUse": {"toolUseId": "$id", "name": "$name", "input": "$arguments"}},
        dialect="anthropic-invoke",
        names=NamePolicy(r"[a-zA-Z0-9_-]{1,64}"),
        parameter_names=NamePolicy(r"[a-zA-Z0-9_.-]{1,64}"),  # of Claude
        ids=IdPolicy(r"[a-zA-Z0-9_-]+", 64),
        separate_system=True,
        media=MediaSupport(
            blank_texts=False,
            image_urls=False,
            image_types=frozenset(("image/jpeg", "image/png", "image/gif", "image/webp")),
            document_urls=False,
        ),
        is_server_tool=partial(has_keys, keys=SERVER_TOOL_KEYS),
    )

    def format_result(self, result: ToolResult) -> JSONObject:
        fields = {
            "toolUseId": self.traits.ids.normalize(result.call_id),
            "content": self._write_content(result),
            "status": "success" if result.error is None else "error",
        }
        return {"toolResult": fields}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        id, failed = get_str(written, "toolResult", "toolUseId"), _has_failed(written)
        parts = _read_result_parts(written)
        if len(parts) == 1 and isinstance(parts[0], Item) and parts[0].kind == "json" and not failed:
            return ToolResult(id, "", parts[0].data)
        return make_result(id, "", parts, failed)

    def write_message(self, message: Message, lost: list[Loss], /) -> list[JSONObject]:
        if message.role == "assistant":
            return [{"role": "assistant", "content": self._write_answer(message.parts, lost)}]
        return [{"role": "user", "content": self.write_user_blocks(message, lost)}]

    def write_visible(self, part: VisiblePart, /) -> JSONObject:
        if isinstance(part, Text):
            return {"text": part.text}
        if isinstance(part, Image):
            return {"image": {"format": part.media_type.removeprefix("image/"), "source": {"bytes": part.data}}}
        fields = {
            "format": DOCUMENT_ENDINGS[part.media_type],
            "name": _name_document(part),
            "source": {"bytes": part.data},
        }
        cited = {"enabled": True} if part.cited else None
        return {"document": {**fields, **drop_empty(context=part.context, citations=cited)}}

    def join_messages(self, written: list[JSONObject], /) -> list[JSONObject]:
        """Make a conversation; roles must alternate, so messages of one side that follow each other are one."""
        joined: list[JSONObject] = []
        for message in written:
            if joined and joined[-1]["role"] == message["role"]:
                message["content"] = [*joined.pop()["content"], *message["content"]]
            joined.append(message)
        return joined

    def read_message(self, written: Mapping[str, Any]) -> Message:
        role = get_str(written, "role")
        parts: list[Part] = []
        for block in get_objects(written.get("content")):
            if "toolUse" in block:
                parts.append(self.read_call(block))
            elif "toolResult" in block and role != "assistant":
                parts.append(self.read_result(block))
            else:
                parts += _read_block(block)
        return Message(read_role(role), parts)

    def list_unread(self, written: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        for block in get_objects(written.get("content")) if get_str(written, "role") != "assistant" else []:
            others = [part for part in _read_result_parts(block) if not is_item(part, "json")]
            yield from list_text_losses(others, place, _has_failed(block))

    def adapt_messages(self, messages: list[Message], _model: str, /, *, is_thinking: bool) -> list[Message]:  # noqa: ARG002
        return [*map(drop_last_thoughts, messages)]

    def _list_losses(self, message: Message, place: str) -> Iterator[Loss]:
        yield from super()._list_losses(message, place)
        for document in (*message.documents, *(part for result in message.results for part in show_result(result))):
            if isinstance(document, Document) and document.name and _name_document(document) != document.name:
                yield Loss(place, "", "name", f"written as {_name_document(document)!r}: the other is refused")

    def _write_content(self, result: ToolResult) -> list[JSONObject]:
        if result.error is not None:
            return [{"text": self.traits.media.fill_error(result.error)}]
        if isinstance(result.result, dict):
            return [{"json": result.result}]
        return [self.write_visible(part) for part in self.traits.media.filter(show_result(result))]

    def _write_answer(self, parts: list[Part], lost: list[Loss]) -> list[JSONObject]:
        blocks: list[JSONObject] = []
        thought = ""
        for part in parts:
            match part:
                case Thought():
                    thought += part.text
                case Item(kind="signature"):
                    blocks.append({"reasoningContent": {"reasoningText": {"text": thought, "signature": part.data}}})
                    thought = ""
                case Item(kind="redactedContent"):
                    blocks.append({"reasoningContent": {"redactedContent": part.data}})
                case Text() if part.text.strip():
                    blocks.append({"text": part.text})
                case ToolCall():
                    blocks.append(self.format_call(part))
                case Item() if part.kind in _OWN_BLOCKS:
                    blocks.append({part.kind: part.data})
                case Item() if part.kind not in _MESSAGE_ITEMS:
                    lost.append(Loss("assistant", "", part.kind, "dropped: another provider's own"))
        # Models that sign nothing (DeepSeek, gpt-oss) take their thought back as it came.
        return [{"reasoningContent": {"reasoningText": {"text": thought}}}, *blocks] if thought else blocks


def _has_failed(block: Mapping[str, Any]) -> bool:
    """Whether a block is the result of a tool that failed."""
    return get_str(block, "toolResult", "status") == "error"


def _read_result_parts(block: Mapping[str, Any]) -> list[Part]:
    """Read the parts of a result; nothing if the block is no result."""
    return [part for each in get_objects(get_at(block, "toolResult", "content")) for part in _read_block(each)]


def _name_document(document: Document) -> str:
    """Return a name in the letters that are allowed; each document must have one, and no two the same."""
    kept = " ".join(_REFUSED_IN_NAMES.sub(" ", document.name).split())[:_LONGEST_NAME]
    return kept or f"document-{sha256(document.data.encode()).hexdigest()[:8]}"


def _read_document(block: Mapping[str, Any]) -> Document | None:
    """Read a document of a known format whose bytes or text are there."""
    document = get_object(block, "document")
    kind, text = find_document_type(get_str(document, "format") or "txt"), get_str(document, "source", "text")
    data = make_text_document(text).data if text else _read_bytes(block, "document")
    if not data or not kind:
        return None
    found = Document(data, kind, context=get_str(document, "context"), cited=is_cited(document))
    name = get_str(document, "name")
    return found if name == _name_document(found) else replace(found, name=name)


def _read_bytes(block: Mapping[str, Any], kind: str) -> str:
    """Return the bytes of an image or document in base64; boto3 has them as they are."""
    data = get_at(block, kind, "source", "bytes")
    return b64encode(data).decode() if isinstance(data, bytes) else get_str(block, kind, "source", "bytes")


def _read_block(block: Mapping[str, Any]) -> list[Part]:
    """Read text, an image, a document, thought with its signature, or something that only Bedrock knows."""
    if isinstance(block.get("text"), str):
        return [Text(block["text"])]
    if data := _read_bytes(block, "image"):
        return [Image(data, "image/" + get_str(block, "image", "format"))]
    if (document := _read_document(block)) is not None:
        return [document]
    if "reasoningContent" not in block:
        return [Item(str(kind), value) for kind, value in block.items()]
    thought = block["reasoningContent"]
    text, signature = get_str(thought, "reasoningText", "text"), get_str(thought, "reasoningText", "signature")
    redacted = get_str(thought, "redactedContent")
    items = [Item(kind, value) for kind, value in (("signature", signature), ("redactedContent", redacted)) if value]
    return [*([Thought(text)] if text else []), *items]


# -- requests --------------------------------------------------------------------------------------

_NO_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
_MAX_SHOWN = 200  # bound: characters of a loss that names tools
_MODES = {"auto": "auto", "required": "any"}


def _restrict(request: Request, lost: list[Loss]) -> Request:
    """Declare the tools that the conversation calls, where the request declares none."""
    if request.tools:
        return request
    written = [block for message in request.written for block in message["content"]]
    called = [call.name for message in request.messages for call in message.calls]
    called += [block["toolUse"]["name"] for block in written if "toolUse" in block]
    answered = [NO_NAME for message in request.messages if message.results]
    names = dict.fromkeys(called or answered)
    if not names:
        return request
    outcome = f"declared, without schemas, for the messages call them: {', '.join(names)}"
    lost.append(Loss("request", "", "tools", outcome[:_MAX_SHOWN], warning=True))
    return replace(request, tools=[DeclaredTool(Tool(name, parameters=_NO_SCHEMA)) for name in names])


def _write_others(request: Request, lost: list[Loss]) -> dict[str, Any]:
    choice = request.choice
    if not request.tools:
        return {}
    if choice.name:
        return {"toolConfig.toolChoice": {"tool": {"name": choice.name}}}
    if choice.mode == "none":  # tools must be declared where the history has calls, so they stay
        lost.append(Loss("request", "", "tool_choice", "dropped: the model decides"))
    return {"toolConfig.toolChoice": {_MODES[choice.mode]: {}} if choice.mode in _MODES else None}


BEDROCK_REQUESTS = RequestFormat(
    fields=place_alike("messages", "system")
    | place_alike("temperature", section="inferenceConfig")
    | {
        "top_p": "inferenceConfig.topP",
        "max_tokens": "inferenceConfig.maxTokens",
        "stop": "inferenceConfig.stopSequences",
        "tools": "toolConfig.tools",
    },
    bounds={"temperature": (0, 1), "top_p": (0, 1)},
    dropped={
        "schema": ("response_format", "dropped: each model has other words for it here"),
        "think": ("thinking", "dropped: each model has other words for it here"),
    },
    restrict=_restrict,
    write_others=_write_others,
    write_system=lambda text: [{"text": text}],
)
