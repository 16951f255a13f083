"""What a client asks for: a request of one of the wires that a client may speak, and what the server is asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

import msgspec

from streamparse.emit import EMITTERS, Emitter
from streamparse.parser import StreamParser
from streamparse.proxy.rewriter import Rewriter
from streamparse.proxy.settings import Settings
from streamparse.proxy.translation import dialect_to_teach, for_server, speaks_of_tools

__all__ = ["CLIENT_WIRES", "Asked", "asked_of"]

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
    tools: list[Any]
    streamed: bool
    changed: bool
    """Whether the answer is read and written anew; if not it is the server's own, byte for byte."""
    lost: frozenset[str] = frozenset()
    """What the server's wire could not be told, by name."""

    def emitter(self, settings: Settings) -> Emitter:
        """A writer for one answer to the client."""
        model = str(self.request.get("model") or "")
        return EMITTERS[self.wire](model=model, call_id=_distinct(), signed=settings.wire == "anthropic")

    def rewriter(self, settings: Settings) -> Rewriter:
        """A reader and a writer for one answer.

        Without tools the client expects no call, and text is not looked into.
        """
        dialects = settings.dialects if self.tools else ()
        parser = StreamParser(settings.wire, dialects=dialects, tools=self.tools, limits=settings.limits)
        return Rewriter(parser, self.emitter(settings))


def asked_of(wire: str, body: bytes, settings: Settings) -> Asked | None:
    """Read a client's request; None if it is none that is understood here, and the server has to tell."""
    try:
        request = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(request, dict):
        return None
    tools = _tools(request)
    stream = request.get("stream")
    streamed = wire == "ollama-chat" if stream is None else bool(stream)  # Ollama streams unless told not to
    same = wire == settings.wire
    # Several answers at once, or the probabilities of tokens, are nothing that an event could tell.
    beyond = request.get("n", 1) not in (None, 1) or bool(request.get("logprobs"))
    dialect = dialect_to_teach(settings.dialects) if settings.tools == "prompt" and speaks_of_tools(request) else None
    if same and (beyond or not (tools or dialect)):
        return Asked(wire=wire, request=request, body=body, tools=[], streamed=streamed, changed=False)
    sent, lost = for_server(request, wire, settings.wire, dialect)
    content = body if same and dialect is None else _encode(sent)
    names = frozenset(loss.keyword for loss in lost)
    return Asked(wire=wire, request=request, body=content, tools=tools, streamed=streamed, changed=True, lost=names)


def _distinct() -> Callable[[str], str]:
    """Tell ids that count anew in each answer, as those of calls from text do, from those of the answers before.

    A conversation that goes on holds the calls of all of them, and clients tie results to calls by the id alone.
    """
    answer = uuid4().hex[:12]
    return lambda id: f"{id}_{answer}" if _COUNTED.fullmatch(id) else id


def _encode(value: Any) -> bytes:
    return msgspec.json.encode(value)


def _tools(request: dict[str, Any]) -> list[Any]:
    """The tools that the model may call."""
    tools = request.get("tools")
    none = request.get("tool_choice") in ("none", {"type": "none"})
    if none or not isinstance(tools, list):
        return []
    try:
        StreamParser("openai-chat", tools=tools)
    except (ValueError, TypeError):  # the server may know such tools
        return [tool for tool in tools if _known(tool)]
    return tools


def _known(tool: Any) -> bool:
    try:
        StreamParser("openai-chat", tools=[tool])
    except (ValueError, TypeError):
        return False
    return True
