"""Amazon Bedrock's Converse.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html

The results of parallel calls are blocks of one user's message, each with its `status`.  A result that is an object is
sent as one, anything else as text.  Bytes (pictures, redacted thought) are base64, as on the wire; boto3 wants them
decoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from streamparse.loss import Loss
from streamparse.providers.bedrock.blocks import has_failed, name_of, read, reasoning, shown_by, write
from streamparse.providers.bedrock.facts import SERVER_TOOL_KEYS
from streamparse.response import ToolCall
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.content import VisiblePart
from streamparse.writing.correlation import drop_last_thoughts
from streamparse.writing.definitions import DeclaredTool, has_keys
from streamparse.writing.json_access import drop_empty, get_objects, get_str, read_call
from streamparse.writing.parts import Document, Item, Part, Text, Thought, Turn, read_role
from streamparse.writing.results import list_text_losses, make_result, show_result
from streamparse.writing.traits import IdPolicy, MediaSupport, NamePolicy, ProviderTraits

_OF_THE_TURN = ("metrics", "trace", "additionalModelResponseFields")
_OURS = ("citationsContent", "toolResult")


class Bedrock(Adapter):
    """The Converse API; `format_tools` gives the `tools` of its `toolConfig`."""

    traits = ProviderTraits(
        name="bedrock",
        dialect="anthropic-invoke",
        names=NamePolicy(r"[a-zA-Z0-9_-]{1,64}"),
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

    def write_tool(self, declared: DeclaredTool, _lost: list[Loss], /) -> JSONObject:
        fields = drop_empty(name=declared.tool.name, description=declared.tool.description)
        return {"toolSpec": {**fields, "inputSchema": {"json": declared.parameters}}}

    def format_call(self, call: ToolCall) -> JSONObject:
        return {
            "toolUse": {"toolUseId": self.traits.ids.normalize(call.id), "name": call.name, "input": call.arguments}
        }

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        use = written.get("toolUse")
        arguments = use.get("input") if isinstance(use, Mapping) else None
        return read_call(get_str(use, "name"), arguments, get_str(use, "toolUseId"))

    def format_result(self, result: ToolResult) -> JSONObject:
        status = "success" if result.error is None else "error"
        fields = {
            "toolUseId": self.traits.ids.normalize(result.call_id),
            "content": self._content(result),
            "status": status,
        }
        return {"toolResult": fields}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        id, failed = get_str(written, "toolResult", "toolUseId"), has_failed(written)
        parts = shown_by(written)
        if len(parts) == 1 and isinstance(parts[0], Item) and parts[0].kind == "json" and not failed:
            return ToolResult(id, "", parts[0].data)
        return make_result(id, "", parts, failed)

    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        if turn.role == "assistant":
            return [{"role": "assistant", "content": self._answer(turn.parts, lost)}]
        blocks = [self.format_result(result) for result in turn.results]
        for part in self.traits.media.filter(turn.parts):
            if isinstance(part, VisiblePart):
                blocks.append(write(part))
            elif isinstance(part, Item):
                lost.append(Loss("user", "", part.kind, "dropped: there is no place for it"))
        return [{"role": "user", "content": blocks}]

    def write_messages(self, turns: Iterable[Turn], lost: list[Loss]) -> list[JSONObject]:
        """The messages of a conversation; roles must alternate, so turns of one side are one message."""
        written: list[JSONObject] = []
        for message in super().write_messages(turns, lost):
            if written and written[-1]["role"] == message["role"]:
                message["content"] = [*written.pop()["content"], *message["content"]]
            written.append(message)
        return written

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        parts: list[Part] = []
        for block in get_objects(message.get("content")):
            if "toolUse" in block:
                parts.append(self.read_call(block))
            elif "toolResult" in block and get_str(message, "role") != "assistant":
                parts.append(self.read_result(block))
            else:
                parts += read(block)
        return Turn(read_role(get_str(message, "role")), parts)

    def list_unread(self, message: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        for block in get_objects(message.get("content")) if get_str(message, "role") != "assistant" else []:
            others = [part for part in shown_by(block) if not (isinstance(part, Item) and part.kind == "json")]
            yield from list_text_losses(others, place, has_failed(block))

    def adapt_turns(self, turns: list[Turn], _model: str, /) -> list[Turn]:
        return [*map(drop_last_thoughts, turns)]

    # -- inside ----------------------------------------------------------------------------------------

    def _list_losses(self, turn: Turn, place: str) -> Iterator[Loss]:
        yield from super()._list_losses(turn, place)
        for document in (*turn.documents, *(part for result in turn.results for part in show_result(result))):
            if isinstance(document, Document) and document.name and name_of(document) != document.name:
                yield Loss(place, "", "name", f"written as {name_of(document)!r}: the other is refused")

    def _content(self, result: ToolResult) -> list[JSONObject]:
        if result.error is not None:
            return [{"text": self.traits.media.fill_error(result.error)}]
        if isinstance(result.result, dict):
            return [{"json": result.result}]
        return [write(part) for part in self.traits.media.filter(show_result(result))]

    def _answer(self, parts: list[Part], lost: list[Loss]) -> list[JSONObject]:
        blocks: list[JSONObject] = []
        thought = ""
        for part in parts:
            match part:
                case Thought():
                    thought += part.text
                case Item(kind="signature"):
                    blocks.append(reasoning({"text": thought, "signature": part.data}))
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
        return blocks if not thought else [reasoning({"text": thought}), *blocks]
