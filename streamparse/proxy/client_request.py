"""A client's request for an answer, on one of the wires that a client may speak, and the server's request for it.

In the server's own wire a request stays as it is.  With `tools="prompt"` the tools move to its system prompt
(`teach_tools`): its conversation is read, changed and written in one wire, and what need not change is kept as it came.
Chat servers have many fields for thought (`reasoning_content`, `reasoning`, `reasoning_details` with its signatures,
`thinking_blocks`), and each server knows its own: they are neither read nor written anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from streamparse.dialects import Dialects
from streamparse.emitting import Emitter
from streamparse.json.json_safety import NotJSON, try_decode
from streamparse.loss import Loss
from streamparse.parser import StreamParser
from streamparse.providers.adapters import ADAPTERS, READERS, write_request
from streamparse.providers.emitters import EMITTERS
from streamparse.providers.names import ADAPTER_OF_WIRE
from streamparse.providers.ollama.emitter import OllamaGenerateEmitter
from streamparse.providers.ollama.messages import read_generate
from streamparse.providers.openai_chat.messages import OpenAI
from streamparse.providers.openai_responses.client_tools import ClientTool, flatten_tools
from streamparse.proxy.asgi import Headers, RequestRefused
from streamparse.proxy.rewriter import Rewriter
from streamparse.proxy.settings import Settings, choose_dialect_to_teach
from streamparse.proxy.turns import arrange_turns
from streamparse.tools import Toolset
from streamparse.writing.adapter import Adapter
from streamparse.writing.json_access import get_object, get_str
from streamparse.writing.parts import Item, Message, Part
from streamparse.writing.prompts import teach_tools
from streamparse.writing.request import Request
from streamparse.writing.request_format import join_system_text

CLIENT_WIRES: Final = {
    "/v1/chat/completions": "openai-chat",
    "/chat/completions": "openai-chat",
    "/v1/responses": "openai-responses",
    "/responses": "openai-responses",
    "/v1/messages": "anthropic",
    "/api/chat": "ollama-chat",
    "/api/generate": "ollama-generate",
}
"""The wire that a client speaks, by the path it asks."""

_STREAMED_BY_DEFAULT: Final = ("ollama-chat", "ollama-generate")
_WRITERS: Final[Mapping[str, type[Emitter]]] = {**EMITTERS, "ollama-generate": OllamaGenerateEmitter}
_TOKEN_LIMITS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_SECTION_LIMITS: Final = {"options": "num_predict", "generationConfig": "maxOutputTokens"}
"""The limits of Ollama and of Gemini, by the object that they are in."""

_LEAST_ROOM: Final = 8  # bound: the part of a context that an answer has, however long its prompt seems

_STORED: Final = ("previous_response_id", "conversation", "background", "prompt")
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])
_IMAGE: Final = re.compile(rb'"(?:data:image/[\w.+-]+;base64,|iVBORw0KGgo|/9j/|R0lGOD|UklGR)[A-Za-z0-9+/]*={0,2}"')
"""A string that is an image in base64: PNG, JPEG, GIF and WebP by their first bytes, which no wire puts elsewhere."""
_IMAGE_TOKENS: Final = 1500  # bound: 1.15 megapixels, the most that Anthropic advises, at its 750 pixels a token
"""What a large image takes (docs.anthropic.com/en/docs/vision)."""
_COUNTING_PATHS: Final = ("/count_tokens", ":countTokens", "/input_tokens", "/tokenize", "/apply-template")
"""The ends of paths where a conversation with tools is sent, and no model answers."""
_COUNTED_ID: Final = re.compile(r"call_[0-9]{1,4}")


class ClientRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request for an answer."""

    wire: str
    """The client's."""
    request: dict[str, Any]
    body: bytes
    """What the server is sent."""
    tools: Toolset
    streamed: bool
    changed: bool
    """Whether the answer is read and written anew; if not it is the server's own, byte for byte."""
    lost: frozenset[str] = frozenset()
    """The names of what the server's wire has no place for."""
    declared: dict[str, ClientTool] = {}
    """How the client declared tools that the model knows under another name, by that name."""
    is_unread: bool = False
    """Whether there are tools, and yet no calls are looked for in the text of the answer."""

    @property
    def model(self) -> str:
        """The model that is asked, in the client's word; "" if it names none."""
        model = self.request.get("model")
        return model if isinstance(model, str) else ""

    def make_rewriter(self, settings: Settings) -> Rewriter:
        """Return a reader and writer for one answer.

        Without tools the client expects no call, and the text is not searched for any.
        """
        dialects = _choose_dialects_to_read(settings.dialects, settings.tools == "prompt") if self.tools else ()
        parser = StreamParser(settings.wire, dialects=dialects, tools=self.tools, limits=settings.limits)
        options = self.request.get("stream_options")
        own: dict[str, Any] = {"declared": self.declared} if self.declared else {}
        emitter = _WRITERS[self.wire](
            model=self.model,
            call_id=_make_call_ids(),
            signed=settings.wire == "anthropic",
            usage="apart" if isinstance(options, dict) and options.get("include_usage") else "end",
            **own,
        )
        return Rewriter(parser, emitter)


def read_client_request(wire: str, body: bytes, settings: Settings) -> ClientRequest | None:
    """Read a client's request; None if it cannot be understood here, and the server has to answer it.

    Raises `RequestRefused` for one that cannot be translated for a server of another wire, because it is no JSON object
    or nested too deeply, for one that asks for several answers where only one can be read, and for one that goes on
    from what its server should have kept.
    """
    request = try_decode(_OBJECT.decode, body)
    if request is None:
        if wire != settings.wire:
            raise RequestRefused("the body of the request is no JSON object")
        return None
    try:
        return _read_request(wire, request, body, settings)
    except (RecursionError, NotJSON) as error:
        raise RequestRefused("the request is nested too deeply") from error


def _read_request(wire: str, request: dict[str, Any], body: bytes, settings: Settings) -> ClientRequest:
    streamed = _is_streamed(wire, request)
    dialect = choose_dialect_to_teach(settings.dialects) if settings.tools == "prompt" and _has_tools(request) else None
    is_same = wire == settings.wire or (wire, settings.wire) == ("ollama-generate", "ollama-chat")
    understood = is_same and dialect is None
    several = _is_for_several(wire, request)
    lost: list[Loss] = []
    came, declared = request, dict[str, ClientTool]()
    if wire == "openai-responses":
        request, declared = flatten_tools(came, lost)
    tools = _read_tools(request)
    # Events have no place for several answers at once, or for the probabilities of tokens.
    if understood and (several or request.get("logprobs") or not tools or _parses_calls_itself(settings)):
        return ClientRequest(
            wire=wire,
            request=came,
            body=_fit(came, settings, body),
            tools=Toolset(),
            streamed=streamed,
            changed=False,
            is_unread=bool(tools),
        )
    if several:
        raise RequestRefused("n: this server is asked in other words, of which one answer at a time can be read")
    if wire == "openai-responses":
        _refuse_stored(request)
    if understood:
        sent = _fit(request, settings, body if request == came else None)
    else:
        sent = _translate(request, wire, settings, dialect, lost)
    return ClientRequest(
        wire=wire,
        request=request,
        body=sent,
        tools=tools,
        streamed=streamed,
        changed=True,
        lost=frozenset(loss.keyword for loss in lost if not loss.warning),
        declared=declared,
    )


def _fit(sent: dict[str, Any], settings: Settings, body: bytes | None = None) -> bytes:
    """Return a request for the model and the context that the server has; `body` is the same request as it came."""
    # The path of Gemini's requests names the model.
    if settings.model and settings.wire != "gemini" and sent.get("model") != settings.model:
        sent, body = {**sent, "model": settings.model}, None
    if body is not None and not settings.context:
        return body
    encoded = msgspec.json.encode(sent)
    if settings.context:
        # The estimate may be far too large: an answer of one token would tell nobody why.
        room = max(settings.context // _LEAST_ROOM, settings.context - estimate_tokens(encoded))
        if cut := _cut_limits(sent, room):
            return msgspec.json.encode(sent | cut)
    return encoded if body is None else body


def _cut_limits(sent: Mapping[str, Any], room: int) -> dict[str, Any]:
    """Return the fields of a request that limit its answer to more tokens than there is room for, cut to that."""
    cut: dict[str, Any] = {name: room for name in _TOKEN_LIMITS if _is_above(sent.get(name), room)}
    for name, limit in _SECTION_LIMITS.items():
        section = get_object(sent, name)
        if _is_above(section.get(limit), room):
            cut[name] = {**section, limit: room}
    return cut


def _is_above(limit: Any, room: int) -> bool:
    return isinstance(limit, int) and limit > room


def estimate_tokens(body: bytes) -> int:
    """Estimate the tokens of a request, rather too many than too few: a token for each three bytes of its JSON.

    An image in it counts as 1,500 tokens, whatever its size.
    """
    text, images = _IMAGE.subn(b"", body)
    return len(text) // 3 + images * _IMAGE_TOKENS


def declares_tools(path: str, body: bytes) -> bool:
    """Whether a request on a path that no client's wire has is for an answer, and has tools."""
    if b'"tools"' not in body or path.endswith(_COUNTING_PATHS):
        return False
    request = try_decode(_OBJECT.decode, body)
    return request is not None and bool(request.get("tools"))


def _parses_calls_itself(settings: Settings) -> bool:
    """Whether the server is asked as Responses, and no calls are looked for in its text: it knows its own items."""
    return settings.wire == "openai-responses" and settings.dialects in ("auto", "reasoning", ())


def _refuse_stored(request: Mapping[str, Any]) -> None:
    """Refuse what goes on from something that an earlier answer left at the server: nothing is kept here."""
    items = request.get("input")
    has_reference = isinstance(items, list) and any(get_str(item, "type") == "item_reference" for item in items)
    named = [name for name in _STORED if request.get(name)] + ["item_reference"] * has_reference
    if named:
        raise RequestRefused(f"{named[0]}: nothing is stored here, so send the whole conversation as `input`")


def make_error_response(wire: str | None, status: int, code: str, reason: str) -> tuple[Headers, bytes]:
    """Return the headers and the body of an error, in the words of the client's wire if it is known."""
    if wire is None:
        return [(b"content-type", b"text/plain; charset=utf-8")], reason.encode() + b"\n"
    return [(b"content-type", b"application/json")], _WRITERS[wire]().write_error_body(code, reason, status)


def _is_streamed(wire: str, request: dict[str, Any]) -> bool:
    stream = request.get("stream")
    return wire in _STREAMED_BY_DEFAULT if stream is None else bool(stream)


def _is_for_several(wire: str, request: dict[str, Any]) -> bool:
    """Whether a client asks for several answers: one that got a single one would look for the others."""
    number = request.get("n") if wire == "openai-chat" else None
    return isinstance(number, int) and number > 1


def _make_call_ids() -> Callable[[str], str]:
    """Return a function that makes ids unique which count anew in each answer, as those of calls from text do.

    A conversation that goes on holds the calls of all of them, and clients tie results to calls by the id alone.
    """
    answer = uuid4().hex[:12]
    return lambda id: f"{id}_{answer}" if _COUNTED_ID.fullmatch(id) else id


def _read_tools(request: dict[str, Any]) -> Toolset:
    """Return the tools that the model may call; of two with one name the first."""
    declared = request.get("tools")
    none = request.get("tool_choice") in ("none", {"type": "none"})
    if none or not isinstance(declared, list):
        return Toolset()
    found = [tool for each in reversed(declared) for tool in _read_tool(each).values()]
    return Toolset({tool.name: tool for tool in found}.values())


def _read_tool(tool: Any) -> Toolset:
    """Return the tools of a declaration; none if it is not understood, for the server may know it."""
    try:
        return Toolset.of([tool])
    except (ValueError, TypeError, RecursionError):
        return Toolset()


# -- in the words of the server's wire --------------------------------------------------------------

_REWRITTEN: Final = ("tools", "tool_choice", "parallel_tool_calls", "logprobs", "top_logprobs")
"""The settings that are kept from a server without tools."""
_TEMPLATED: Final = ("openai-chat", "ollama-chat")
"""The wires whose servers write a conversation with the template of the model."""
_TURN_FIELDS: Final = ("messages", "system")
_CALL_FIELDS: Final = ("tool_calls", "function_call", "tool_call_id", "tool_name")
_CALL_BLOCKS: Final = ("tool_use", "tool_result")
_THOUGHT: Final = "thought as it came"
_THOUGHT_FIELDS: Final = (
    "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "reasoning_text", "reasoning_opaque"
)  # fmt: skip


def _choose_dialects_to_read(dialects: Dialects, teaches: bool) -> Dialects:
    """Return the dialects to look for: a model that was taught one writes it, whatever its server's wire is."""
    chosen = (dialects,) if isinstance(dialects, str) else tuple(dialects)
    return (choose_dialect_to_teach(chosen), *chosen) if teaches else dialects


def _has_tools(request: Mapping[str, Any]) -> bool:
    """Whether a request declares tools, or has calls in its history: a server without tools knows neither."""
    messages = request.get("messages") or request.get("input")
    history = messages if isinstance(messages, list) else []
    return bool(request.get("tools")) or any(map(_has_calls, history))


def _has_calls(message: Any) -> bool:
    if not isinstance(message, dict):
        return False
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    is_call = get_str(message, "type").startswith(("function_call", "custom_tool_call"))  # an item of Responses
    return (
        is_call
        or any(message.get(key) for key in _CALL_FIELDS)
        or any(block.get("type") in _CALL_BLOCKS for block in blocks)
    )


def _translate(
    request: Mapping[str, Any], source: str, settings: Settings, dialect: str | None, lost: list[Loss]
) -> bytes:
    """Return the body in the words of the server's wire, and add what it does not say.

    With a `dialect` the tools are taught in it, and not handed over; without, the two wires differ.
    """
    target = settings.wire
    if source == "ollama-generate":
        source, request = "ollama-chat", read_generate(request, lost)
    unread: list[Loss] = []
    read = READERS[ADAPTER_OF_WIRE[source]](request, unread)
    if source == target and dialect is not None and source in _ADAPTERS:
        sent = _teach_in_place(request, read, source, dialect, unread)
        lost += [loss for loss in unread if loss.place != "request" or loss.keyword in _REWRITTEN]
        return _fit(sent, settings)
    lost += unread
    if target in _TEMPLATED:
        read = replace(read, messages=arrange_turns(read.messages, settings.system_messages, lost))
    asked = read if dialect is None else teach_tools(read, dialect, lost)
    sent = write_request(asked, ADAPTER_OF_WIRE[target], lost)
    if target == "openai-chat" and asked.stream:
        sent["stream_options"] = {"include_usage": True}  # other wires always send the counts
    return _fit(sent, settings)


def _teach_in_place(
    request: Mapping[str, Any], read: Request, wire: str, dialect: str, lost: list[Loss]
) -> dict[str, Any]:
    """Return a request in its own wire whose tools are taught in a dialect; only its turns are written anew."""
    adapter = _ADAPTERS[wire]
    if wire == "openai-chat":
        read = replace(read, messages=adapter.read_messages(request.get("messages"), []))
    asked = teach_tools(read, dialect, lost)
    # The probabilities would belong to the tokens of a text with calls in it, and not to the answer.
    taught = {key: value for key, value in request.items() if key not in (*_REWRITTEN, *_TURN_FIELDS)}
    turns = asked.messages
    if adapter.traits.separate_system:
        turns = [turn for turn in turns if turn.role != "system"]
        if system := join_system_text(asked, lost):
            taught["system"] = system
    return taught | {"messages": adapter.write_messages(turns, lost)}


class _Chat(OpenAI):
    """Chat completions between two sides that both know the fields of thought."""

    def has_place_for(self, item: Item, /) -> bool:
        return item.kind == _THOUGHT or super().has_place_for(item)

    def read_thought(self, message: Mapping[str, Any]) -> list[Part]:
        fields = {field: message[field] for field in _THOUGHT_FIELDS if message.get(field)}
        return [Item(_THOUGHT, fields)] if fields else []

    def write_thought(self, message: Message, _lost: list[Loss], /) -> dict[str, Any]:
        return next((part.data for part in message.parts if isinstance(part, Item) and part.kind == _THOUGHT), {})


_ADAPTERS: Final[Mapping[str, Adapter]] = {
    "openai-chat": _Chat(),
    "anthropic": ADAPTERS["anthropic"],
    "ollama-chat": ADAPTERS["ollama"],
}
"""What reads and writes the turns of a request, by the wire that both sides speak."""
