"""What a client asks for: a request of one of the wires that a client may speak, and what the server is asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

import msgspec

from streamparse.emitting.emitter import Emitter, UsagePlace
from streamparse.json.json_safety import NotJSON
from streamparse.parser import StreamParser
from streamparse.providers.emitters import EMITTERS
from streamparse.proxy.headers import Headers
from streamparse.proxy.rewriter import Rewriter
from streamparse.proxy.settings import Settings
from streamparse.proxy.target import Refused
from streamparse.proxy.translation import dialect_to_teach, dialects_to_read, for_server, speaks_of_tools
from streamparse.tools import Toolset

__all__ = ["CLIENT_WIRES", "Asked", "asked_of", "refusal"]

CLIENT_WIRES: Final = {
    "/v1/chat/completions": "openai-chat",
    "/chat/completions": "openai-chat",
    "/v1/messages": "anthropic",
    "/api/chat": "ollama-chat",
}
"""The wire that a client speaks, by the path it asks."""


_COUNTED: Final = re.compile(r"call_[0-9]{1,4}")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
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
    """What the server's wire could not be told, by name."""

    @property
    def model(self) -> str:
        """The model that is asked, in the client's word; "" if it names none."""
        model = self.request.get("model")
        return model if isinstance(model, str) else ""

    def emitter(self, settings: Settings) -> Emitter:
        """A writer for one answer to the client."""
        options = self.request.get("stream_options")
        usage: UsagePlace = "apart" if isinstance(options, dict) and options.get("include_usage") else "end"
        signed = settings.wire == "anthropic"
        return EMITTERS[self.wire](model=self.model, call_id=_distinct(), signed=signed, usage=usage)

    def rewriter(self, settings: Settings) -> Rewriter:
        """A reader and a writer for one answer.

        Without tools the client expects no call, and text is not looked into.
        """
        dialects = dialects_to_read(settings.dialects, settings.tools == "prompt") if self.tools else ()
        parser = StreamParser(settings.wire, dialects=dialects, tools=self.tools, limits=settings.limits)
        return Rewriter(parser, self.emitter(settings))


def asked_of(wire: str, body: bytes, settings: Settings) -> Asked | None:
    """Read a client's request; None if it is none that is understood here, and the server has to tell.

    Raises `Refused` for one that a server of another wire cannot be told of, because it is no JSON object or nested too
    deeply, and for one that asks for several answers where only one can be read.
    """
    request = _object(body)
    if request is None:
        if wire != settings.wire:
            raise Refused("the body of the request is no JSON object")
        return None
    tools = _tools(request)
    stream = request.get("stream")
    streamed = wire == "ollama-chat" if stream is None else bool(stream)  # Ollama streams unless told not to
    dialect = dialect_to_teach(settings.dialects) if settings.tools == "prompt" and speaks_of_tools(request) else None
    understood = wire == settings.wire and dialect is None
    several = _several(wire, request)
    # Several answers at once, or the probabilities of tokens, are nothing that an event could tell.
    if understood and (several or request.get("logprobs") or not tools):
        return Asked(wire=wire, request=request, body=body, tools=Toolset(), streamed=streamed, changed=False)
    if several:
        raise Refused("n: this server is asked in other words, of which one answer at a time can be read")
    try:
        sent, lost = (body, frozenset[str]()) if understood else _translated(request, wire, settings.wire, dialect)
    except (RecursionError, NotJSON) as error:
        raise Refused("the request is nested too deeply") from error
    return Asked(wire=wire, request=request, body=sent, tools=tools, streamed=streamed, changed=True, lost=lost)


def refusal(wire: str | None, status: int, code: str, reason: str) -> tuple[Headers, bytes]:
    """The headers and the body that tell a client, in its own words if they are known, why there is no answer."""
    if wire is None:
        return [(b"content-type", b"text/plain; charset=utf-8")], reason.encode() + b"\n"
    return [(b"content-type", b"application/json")], EMITTERS[wire]().error_body(code, reason, status)


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        request = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return None
    return request if isinstance(request, dict) else None


def _several(wire: str, request: dict[str, Any]) -> bool:
    """Whether a client asks for several answers: one that got a single one would look for the others."""
    number = request.get("n") if wire == "openai-chat" else None
    return isinstance(number, int) and number > 1


def _distinct() -> Callable[[str], str]:
    """Tell ids that count anew in each answer, as those of calls from text do, from those of the answers before.

    A conversation that goes on holds the calls of all of them, and clients tie results to calls by the id alone.
    """
    answer = uuid4().hex[:12]
    return lambda id: f"{id}_{answer}" if _COUNTED.fullmatch(id) else id


def _translated(request: dict[str, Any], wire: str, to: str, dialect: str | None) -> tuple[bytes, frozenset[str]]:
    """The body for the server, and what it does not say."""
    sent, lost = for_server(request, wire, to, dialect)
    return msgspec.json.encode(sent), frozenset(loss.keyword for loss in lost if not loss.warning)


def _tools(request: dict[str, Any]) -> Toolset:
    """The tools that the model may call; of two with one name the first."""
    declared = request.get("tools")
    none = request.get("tool_choice") in ("none", {"type": "none"})
    if none or not isinstance(declared, list):
        return Toolset()
    found = [tool for each in reversed(declared) for tool in _read(each).values()]
    return Toolset({tool.name: tool for tool in found}.values())


def _read(tool: Any) -> Toolset:
    """The tools that a declaration is; none if it is not understood, for the server may know it."""
    try:
        return Toolset.of([tool])
    except (ValueError, TypeError, RecursionError):
        return Toolset()
