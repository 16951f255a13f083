"""A client's request for an answer, on one of the wires that a client may speak, and the server's request for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

import msgspec

from streamparse.json.json_safety import NotJSON, try_decode
from streamparse.parser import StreamParser
from streamparse.providers.emitters import EMITTERS
from streamparse.proxy.asgi import Headers, RequestRefused
from streamparse.proxy.rewriter import Rewriter
from streamparse.proxy.settings import Settings
from streamparse.proxy.translation import choose_dialect_to_teach, choose_dialects_to_read, has_tools, translate_request
from streamparse.tools import Toolset

CLIENT_WIRES: Final = {
    "/v1/chat/completions": "openai-chat",
    "/chat/completions": "openai-chat",
    "/v1/messages": "anthropic",
    "/api/chat": "ollama-chat",
}
"""The wire that a client speaks, by the path it asks."""

_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])
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

    @property
    def model(self) -> str:
        """The model that is asked, in the client's word; "" if it names none."""
        model = self.request.get("model")
        return model if isinstance(model, str) else ""

    def make_rewriter(self, settings: Settings) -> Rewriter:
        """Return a reader and writer for one answer.

        Without tools the client expects no call, and the text is not searched for any.
        """
        dialects = choose_dialects_to_read(settings.dialects, settings.tools == "prompt") if self.tools else ()
        parser = StreamParser(settings.wire, dialects=dialects, tools=self.tools, limits=settings.limits)
        options = self.request.get("stream_options")
        emitter = EMITTERS[self.wire](
            model=self.model,
            call_id=_make_call_ids(),
            signed=settings.wire == "anthropic",
            usage="apart" if isinstance(options, dict) and options.get("include_usage") else "end",
        )
        return Rewriter(parser, emitter)


def read_client_request(wire: str, body: bytes, settings: Settings) -> ClientRequest | None:
    """Read a client's request; None if it cannot be understood here, and the server has to answer it.

    Raises `RequestRefused` for one that cannot be translated for a server of another wire, because it is no JSON object
    or nested too deeply, and for one that asks for several answers where only one can be read.
    """
    request = try_decode(_OBJECT.decode, body)
    if request is None:
        if wire != settings.wire:
            raise RequestRefused("the body of the request is no JSON object")
        return None
    tools = _read_tools(request)
    stream = request.get("stream")
    streamed = wire == "ollama-chat" if stream is None else bool(stream)  # Ollama streams by default
    dialect = choose_dialect_to_teach(settings.dialects) if settings.tools == "prompt" and has_tools(request) else None
    understood = wire == settings.wire and dialect is None
    several = _is_for_several(wire, request)
    # Events have no place for several answers at once, or for the probabilities of tokens.
    if understood and (several or request.get("logprobs") or not tools):
        return ClientRequest(wire=wire, request=request, body=body, tools=Toolset(), streamed=streamed, changed=False)
    if several:
        raise RequestRefused("n: this server is asked in other words, of which one answer at a time can be read")
    try:
        sent, lost = (body, frozenset[str]()) if understood else _translate(request, wire, settings.wire, dialect)
    except (RecursionError, NotJSON) as error:
        raise RequestRefused("the request is nested too deeply") from error
    return ClientRequest(wire=wire, request=request, body=sent, tools=tools, streamed=streamed, changed=True, lost=lost)


def make_error_response(wire: str | None, status: int, code: str, reason: str) -> tuple[Headers, bytes]:
    """Return the headers and the body of an error, in the words of the client's wire if it is known."""
    if wire is None:
        return [(b"content-type", b"text/plain; charset=utf-8")], reason.encode() + b"\n"
    return [(b"content-type", b"application/json")], EMITTERS[wire]().write_error_body(code, reason, status)


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


def _translate(request: dict[str, Any], wire: str, to: str, dialect: str | None) -> tuple[bytes, frozenset[str]]:
    """Return the body for the server, and the names of what it does not say."""
    sent, lost = translate_request(request, wire, to, dialect)
    return msgspec.json.encode(sent), frozenset(loss.keyword for loss in lost if not loss.warning)


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
