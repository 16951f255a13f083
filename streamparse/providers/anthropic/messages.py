"""Anthropic Messages: the messages, and whole requests.

https://docs.anthropic.com/en/api/messages

The results of parallel calls are blocks of one user's message, before anything else in it.  Thought goes back with its
signature and in its place, or not at all: a block without one is refused.  So are texts of white space alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.providers.anthropic.facts import TURN_ITEMS, is_own_block, to_own_item
from streamparse.response import ToolCall
from streamparse.schema.strict import as_warnings, find_open_objects, forbid
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.answer_parts import complete_block
from streamparse.writing.content import PDF, PLAIN_TEXT, VisiblePart, join_text, read_blocks, write_block
from streamparse.writing.correlation import drop_last_thoughts
from streamparse.writing.definitions import has_type
from streamparse.writing.json_access import drop_empty, get_at, get_objects, get_str
from streamparse.writing.parts import CITATION, Image, Item, Message, Part, Text, Thought, read_role
from streamparse.writing.request import Choice, Request
from streamparse.writing.request_format import RequestFormat, pick, place_alike, read_object
from streamparse.writing.results import list_text_losses, make_result, show_result
from streamparse.writing.traits import IdPolicy, MediaSupport, NamePolicy, ProviderTraits

_BOUNDS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems",
    "uniqueItems", "minProperties", "maxProperties",
)  # fmt: skip
"""What Anthropic does not enforce; its own library writes these into descriptions."""
_SERVER_TOOLS = re.compile(r"\w+_20[0-9]{6}|mcp_toolset")
"""The types of tools that Anthropic itself brings: they end with a date (`web_search_20250305`, `bash_20250124`).

https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview
"""
_MESSAGE_ITEMS = (*TURN_ITEMS, "context_management")
"""Items that say how an answer went; no message has a place for them."""


class Anthropic(Adapter):
    """The Messages API."""

    traits: ProviderTraits = ProviderTraits(
        name="anthropic",
        tool={"name": "$name?", "description": "$description?", "input_schema": "$schema", "strict": "$strict?"},
        call={"type": "tool_use", "id": "$id", "name": "$name", "input": "$arguments"},
        dialect="anthropic-invoke",
        names=NamePolicy(r"[a-zA-Z0-9_-]{1,128}"),  # https://github.com/github/copilot-cli/issues/1879
        # https://github.com/beautyfree/appstore-connect-mcp/issues/2
        parameter_names=NamePolicy(r"[a-zA-Z0-9_.-]{1,64}"),
        ids=IdPolicy(r"[a-zA-Z0-9_-]+", 128),
        separate_system=True,
        own_blocks=("document", "search_result"),
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

    def format_result(self, result: ToolResult) -> JSONObject:
        block: JSONObject = {"type": "tool_result", "tool_use_id": self.traits.ids.normalize(result.call_id)}
        if result.error is not None:
            return {**block, "content": self.traits.media.fill_error(result.error), "is_error": True}
        parts = self.traits.media.filter(show_result(result))
        has_media = any(not isinstance(part, Text) for part in parts)
        return {**block, "content": [self.write_visible(part) for part in parts] if has_media else join_text(parts)}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        failed = written.get("is_error") is True
        return make_result(get_str(written, "tool_use_id"), "", read_blocks(written.get("content")), failed)

    def write_message(self, message: Message, lost: list[Loss], /) -> list[JSONObject]:
        if message.role == "assistant":
            return [{"role": "assistant", "content": self._write_answer(message.parts, lost)}]
        if message.results:
            return [{"role": "user", "content": self.write_user_blocks(message, lost)}]
        return [{"role": "user", "content": self.write_content(self.traits.media.filter(message.parts), lost)}]

    def write_visible(self, part: VisiblePart, /) -> JSONObject:
        if isinstance(part, Image) and not part.url:
            return {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": part.data}}
        return write_block(part)

    def read_message(self, written: Mapping[str, Any]) -> Message:
        parts = [part for block in _list_blocks(written.get("content")) for part in self._read_block(block)]
        return Message(read_role(get_str(written, "role")), parts)

    def list_unread(self, written: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        for block in get_objects(written.get("content")):
            if get_str(block, "type") == "tool_result":
                yield from list_text_losses(read_blocks(block.get("content")), place, block.get("is_error") is True)

    def adapt_messages(self, messages: list[Message], _model: str, /, *, is_thinking: bool) -> list[Message]:  # noqa: ARG002
        return [*map(drop_last_thoughts, messages)]

    def _write_answer(self, parts: list[Part], lost: list[Loss]) -> list[JSONObject]:
        """Write the blocks of the assistant: a signature ends the thought before it, citations precede their text."""
        blocks: list[JSONObject] = []
        citations: list[Any] = []
        thought = ""
        for part in parts:
            match part:
                case Thought():
                    thought += part.text
                case Item(kind="thinking_blocks", data=dict(block)):
                    blocks.append(complete_block(block, thought))
                    thought = ""
                case Item() if part.kind == CITATION:
                    citations.append(part.data)
                case Text():
                    if part.text.strip():
                        blocks.append({"type": "text", "text": part.text, **drop_empty(citations=citations)})
                    citations = []
                case ToolCall():
                    blocks.append(self.format_call(part))
                case Item():
                    kind, data = to_own_item(part.kind, part.data)
                    if kind == "signature" and data:
                        blocks.append({"type": "thinking", "thinking": thought, "signature": data})
                        thought = ""
                    elif is_own_block(kind, data) and data.get("type") == kind:
                        blocks.append(data)
                    elif kind not in _MESSAGE_ITEMS:
                        lost.append(Loss("assistant", "", part.kind, "dropped: another provider's own"))
        if thought:
            lost.append(Loss("assistant", "", "thought", "dropped: it has no signature"))
        return blocks

    def _read_block(self, block: Mapping[str, Any]) -> list[Part]:
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


def _list_blocks(content: Any) -> list[Mapping[str, Any]]:
    """List the blocks of a content; a bare text counts as one."""
    blocks = content if isinstance(content, (list, tuple)) else [content]
    return get_objects(
        [{"type": "text", "text": block} if isinstance(block, str) and block else block for block in blocks]
    )


# -- requests --------------------------------------------------------------------------------------

DEFAULT_MAX_TOKENS = 4096  # source: what every model of this API can write
"""The limit where none is given: this API wants one."""

_SAMPLING = ("temperature", "top_p", "top_k")
_MODES: dict[str, Any] = {"auto": "auto", "any": "required", "tool": "required", "none": "none"}


def _read_others(request: Mapping[str, Any], lost: list[Loss]) -> dict[str, Any]:
    if _is_cached(request):
        lost.append(Loss("messages", "", "cache_control", "dropped: no setting elsewhere"))
    schema = read_object(get_at(request, "output_config", "format", "schema"))
    # A schema is always enforced here.
    return {"choice": _read_choice(request.get("tool_choice")), "schema": schema, "strict": True}


def _is_cached(request: Mapping[str, Any]) -> bool:
    """Whether blocks are marked for the cache, which no other provider has; marks on tools are read with these."""
    contents = [request.get("system"), *(message.get("content") for message in get_objects(request.get("messages")))]
    blocks = [block for content in contents for block in get_objects(content)]
    within = [block for result in blocks for block in get_objects(result.get("content"))]
    return any("cache_control" in block for block in (*blocks, *within))


def _read_choice(choice: Any) -> Choice:
    is_serial = get_at(choice, "disable_parallel_tool_use")
    mode = get_str(choice, "type")
    name = get_str(choice, "name") if mode == "tool" else ""
    return Choice(_MODES.get(mode), name, not is_serial if isinstance(is_serial, bool) else None)


def _restrict(request: Request, lost: list[Loss]) -> Request:
    stop = [each for each in request.stop if each.strip()]
    if len(stop) < len(request.stop):
        lost.append(Loss("request", "", "stop", "dropped: one of white space alone is refused"))
    if request.max_tokens is None:
        lost.append(Loss("request", "", "max_tokens", f"set to {DEFAULT_MAX_TOKENS}: it is required"))
    return replace(request, stop=stop, max_tokens=request.max_tokens or DEFAULT_MAX_TOKENS)


def _write_others(request: Request, lost: list[Loss]) -> dict[str, Any]:
    # Newer versions of the official SDK leave these out.
    outcome = "sent, but newer versions of the API do without it"
    lost += [Loss("request", "", name, outcome, warning=True) for name in pick(request.sampling, _SAMPLING)]
    if request.schema:
        lost += as_warnings("request", find_open_objects(request.schema))
    elif request.schema is not None:
        lost.append(Loss("request", "", "response_format", "dropped: JSON needs a schema here"))
    if request.think:
        lost.append(Loss("request", "", "thinking", "dropped: it needs a budget"))
    form = {"type": "json_schema", "schema": request.schema} if request.schema else None
    return {"tool_choice": _write_choice(request), "output_config.format": form}


def _write_choice(request: Request) -> dict[str, Any] | None:
    choice = request.choice
    if not request.tools or (choice.mode is None and choice.parallel is None):
        return None
    names = {"auto": "auto", "none": "none", "required": "tool" if choice.name else "any"}
    written = drop_empty(type=names[choice.mode or "auto"], name=choice.name)
    says_serial = choice.parallel is not None and choice.mode != "none"
    return {**written, "disable_parallel_tool_use": not choice.parallel} if says_serial else written


ANTHROPIC_REQUESTS = RequestFormat(
    fields=place_alike("model", "max_tokens", "system", "messages", "tools", "stream", *_SAMPLING)
    | {"stop": "stop_sequences"},
    read_only=place_alike("seed", "presence_penalty", "frequency_penalty") | {"think": "thinking.type"},
    other_places=("tool_choice", "output_config.format"),
    bounds={"temperature": (0, 1)},
    others_written=("parallel",),
    read_others=_read_others,
    restrict=_restrict,
    write_others=_write_others,
)
