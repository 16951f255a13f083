"""Amazon Bedrock's Converse.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html

The results of parallel calls are blocks of one user's message, each with its `status`.  A result that is an object is
sent as one, anything else as text.  Bytes (pictures, redacted thought) are base64, as on the wire; boto3 wants them
decoded.  A document must have a name, in few kinds of letters; one that has none is named after its content
(https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html).
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.response import ToolCall
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.content import Shown, result_of, retold, shown
from streamparse.writing.definitions import Declared
from streamparse.writing.documents import FORMATS, is_cited, media_type_of, of_text
from streamparse.writing.json_access import mappings, present, read_call, string
from streamparse.writing.media_support import Visible
from streamparse.writing.naming import Ids, Names
from streamparse.writing.paired_parts import drop_last_thoughts
from streamparse.writing.parts import Document, Image, Item, Part, Text, Thought, Turn, role_of

_OF_THE_TURN = ("metrics", "trace", "additionalModelResponseFields")
_OURS = ("citationsContent", "toolResult")
_REFUSED: Final = re.compile(r"[^a-zA-Z0-9()\[\]-]+")
_LONGEST: Final = 200


class Bedrock(Adapter):
    """The Converse API; `format_tools` gives the `tools` of its `toolConfig`."""

    name = "bedrock"
    dialect = "anthropic-invoke"
    names = Names(r"[a-zA-Z0-9_-]{1,64}")
    ids = Ids(r"[a-zA-Z0-9_-]+", 64)
    system_apart = True
    visible = Visible(
        blanks=False,
        urls=False,
        kinds=frozenset(("image/jpeg", "image/png", "image/gif", "image/webp")),
        document_urls=False,
    )

    def definition(self, declared: Declared, _lost: list[Loss], /) -> JSONObject:
        fields = present(name=declared.tool.name, description=declared.tool.description)
        return {"toolSpec": {**fields, "inputSchema": {"json": declared.parameters}}}

    def format_call(self, call: ToolCall) -> JSONObject:
        return {"toolUse": {"toolUseId": self.ids.fit(call.id), "name": call.name, "input": call.arguments}}

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        use = written.get("toolUse")
        arguments = use.get("input") if isinstance(use, Mapping) else None
        return read_call(string(use, "name"), arguments, string(use, "toolUseId"))

    def format_result(self, result: ToolResult) -> JSONObject:
        status = "success" if result.error is None else "error"
        fields = {"toolUseId": self.ids.fit(result.call_id), "content": self._write_content(result), "status": status}
        return {"toolResult": fields}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        id, failed = string(written, "toolResult", "toolUseId"), _has_failed(written)
        parts = _read_shown(written)
        if len(parts) == 1 and isinstance(parts[0], Item) and parts[0].kind == "json" and not failed:
            return ToolResult(id, "", parts[0].data)
        return result_of(id, "", parts, failed)

    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        if turn.role == "assistant":
            return [{"role": "assistant", "content": self._write_answer(turn.parts, lost)}]
        blocks = [self.format_result(result) for result in turn.results]
        for part in self.visible.fit(turn.parts):
            if isinstance(part, Shown):
                blocks.append(_write(part))
            elif isinstance(part, Item):
                lost.append(Loss("user", "", part.kind, "dropped: there is no place for it"))
        return [{"role": "user", "content": blocks}]

    def write_messages(self, turns: Iterable[Turn], lost: list[Loss]) -> list[JSONObject]:
        """Write the messages of a conversation; roles must alternate, so turns of one side are one message."""
        written: list[JSONObject] = []
        for message in super().write_messages(turns, lost):
            if written and written[-1]["role"] == message["role"]:
                message["content"] = [*written.pop()["content"], *message["content"]]
            written.append(message)
        return written

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        parts: list[Part] = []
        for block in mappings(message.get("content")):
            if "toolUse" in block:
                parts.append(self.read_call(block))
            elif "toolResult" in block and string(message, "role") != "assistant":
                parts.append(self.read_result(block))
            else:
                parts += _read(block)
        return Turn(role_of(string(message, "role")), parts)

    def unread(self, message: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        for block in mappings(message.get("content")) if string(message, "role") != "assistant" else []:
            others = [part for part in _read_shown(block) if not (isinstance(part, Item) and part.kind == "json")]
            yield from retold(others, place, _has_failed(block))

    def adopt(self, turns: list[Turn], _model: str, /) -> list[Turn]:
        return [*map(drop_last_thoughts, turns)]

    # -- inside ----------------------------------------------------------------------------------------

    def _unsaid(self, turn: Turn, place: str) -> Iterator[Loss]:
        yield from super()._unsaid(turn, place)
        for document in (*turn.documents, *(part for result in turn.results for part in shown(result))):
            if isinstance(document, Document) and document.name and _name(document) != document.name:
                yield Loss(place, "", "name", f"written as {_name(document)!r}: the other is refused")

    def _write_content(self, result: ToolResult) -> list[JSONObject]:
        if result.error is not None:
            return [{"text": self.visible.error(result.error)}]
        if isinstance(result.result, dict):
            return [{"json": result.result}]
        return [_write(part) for part in self.visible.fit(shown(result))]

    def _write_answer(self, parts: list[Part], lost: list[Loss]) -> list[JSONObject]:
        blocks: list[JSONObject] = []
        thought = ""
        for part in parts:
            match part:
                case Thought():
                    thought += part.text
                case Item(kind="signature"):
                    blocks.append(_write_reasoning({"text": thought, "signature": part.data}))
                    thought = ""
                case Item(kind="redactedContent"):
                    blocks.append({"reasoningContent": {"redactedContent": part.data}})
                case Text() if part.text.strip():
                    blocks.append({"text": part.text})
                case ToolCall():
                    blocks.append(self.format_call(part))
                case Item() if part.kind in _OURS:
                    blocks.append({part.kind: part.data})
                case Item() if part.kind not in _OF_THE_TURN:
                    lost.append(Loss("assistant", "", part.kind, "dropped: another provider's own"))
        # Models that sign nothing (DeepSeek, gpt-oss) take their thought back as it came.
        return blocks if not thought else [_write_reasoning({"text": thought}), *blocks]


def _write_reasoning(text: JSONObject) -> JSONObject:
    return {"reasoningContent": {"reasoningText": text}}


def _write(part: Shown) -> JSONObject:
    if isinstance(part, Text):
        return {"text": part.text}
    if isinstance(part, Document):
        return {"document": _write_document(part)}
    return {"image": {"format": part.media_type.removeprefix("image/"), "source": {"bytes": part.data}}}


def _has_failed(block: Mapping[str, Any]) -> bool:
    """Whether a block is the result of a tool that failed."""
    return string(block, "toolResult", "status") == "error"


def _read_shown(block: Mapping[str, Any]) -> list[Part]:
    """Return what a result shows; nothing if the block is no result."""
    result = block.get("toolResult")
    blocks = mappings(result.get("content")) if isinstance(result, Mapping) else []
    return [part for each in blocks for part in _read(each)]


def _write_document(document: Document) -> JSONObject:
    cited = {"citations": {"enabled": True}} if document.cited else {}
    fields = {"format": FORMATS[document.media_type], "name": _name(document), "source": {"bytes": document.data}}
    return {**fields, **present(context=document.context), **cited}


def _name(document: Document) -> str:
    """Return a name in the letters that are allowed; each document must have one that no other has."""
    kept = " ".join(_REFUSED.sub(" ", document.name).split())[:_LONGEST]
    return kept or f"document-{sha256(document.data.encode()).hexdigest()[:8]}"


def _read_document(block: Mapping[str, Any]) -> Document | None:
    """Return a document of a known format whose bytes or text are there."""
    document = block.get("document")
    kind, text = media_type_of(string(document, "format") or "txt"), string(document, "source", "text")
    data = of_text(text).data if text else _read_bytes(block, "document")
    if not isinstance(document, Mapping) or not data or not kind:
        return None
    found = Document(data, kind, context=string(document, "context"), cited=is_cited(document))
    name = string(document, "name")
    return found if name == _name(found) else replace(found, name=name)


def _read_bytes(block: Mapping[str, Any], kind: str) -> str:
    """Return the bytes of a picture or document in base64; boto3 takes them as they are."""
    source = block[kind].get("source") if isinstance(block.get(kind), Mapping) else None
    data = source.get("bytes") if isinstance(source, Mapping) else None
    return b64encode(data).decode() if isinstance(data, bytes) else string(source, "bytes")


def _read(block: Mapping[str, Any]) -> list[Part]:
    """Read text, a picture, a document, thought with its signature, or something that only Bedrock knows."""
    if isinstance(block.get("text"), str):
        return [Text(block["text"])]
    if data := _read_bytes(block, "image"):
        return [Image(data, "image/" + string(block, "image", "format"))]
    if (document := _read_document(block)) is not None:
        return [document]
    if "reasoningContent" in block:
        thought = block["reasoningContent"]
        text, signature = string(thought, "reasoningText", "text"), string(thought, "reasoningText", "signature")
        redacted = string(thought, "redactedContent")
        return [
            *([Thought(text)] if text else []),
            *([Item("signature", signature)] if signature else []),
            *([Item("redactedContent", redacted)] if redacted else []),
        ]
    return [Item(str(kind), value) for kind, value in block.items()]
