"""Wires: each knows one provider's JSON and turns its frames into verbs, nothing else.

A new wire is one module with a class of the shape of `Wire`, and one row in `WIRES`.  A wire is named by its own name,
or by that of a provider that speaks it.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, cast

from streamparse.plugins import load, register_group
from streamparse.providers.bedrock import facts as bedrock
from streamparse.providers.gemini import facts as gemini
from streamparse.providers.names import PROVIDERS, find_provider, normalize_name
from streamparse.reading.wire import UNDECIDED_FRAMES, WIRES, MinimalWire, Wire
from streamparse.tools.definitions import register_server_tools
from streamparse.unknown_names import list_known

__all__ = ["DEFAULT_WIRE", "UNDECIDED_FRAMES", "WIRES", "WireName", "find_wire", "find_wire_name", "register_wire"]

WireName: TypeAlias = Literal[
    "auto", "openai-chat", "openai-responses", "openai-completions", "anthropic", "gemini", "ollama-chat",
    "ollama-generate", "bedrock-converse", "cohere",
] | str  # fmt: skip
"""The name of a wire: one of ours, which editors complete, one that was registered, or a provider that speaks it."""

WIRES.declare(
    {
        "openai-chat": "streamparse.providers.openai_chat.wire:OpenAIChat",
        "openai-completions": "streamparse.providers.openai_chat.completions:OpenAICompletions",
        "openai-responses": "streamparse.providers.openai_responses.wire:OpenAIResponses",
        "ollama-chat": "streamparse.providers.ollama.wire:OllamaChat",
        "ollama-generate": "streamparse.providers.ollama.wire:OllamaGenerate",
        "anthropic": "streamparse.providers.anthropic.wire:Anthropic",
        "gemini": "streamparse.providers.gemini.wire:Gemini",
        "cohere": "streamparse.providers.cohere.wire:Cohere",
        "bedrock-converse": "streamparse.providers.bedrock.wire:BedrockConverse",
    }
)

DEFAULT_WIRE: Final = "openai-chat"
"""The wire of a body that shows none: most servers speak it."""

_GROUP: Final = "streamparse.wires"
_MEMBERS: Final = ("claims", "take", "frame", "close")


def register_wire(name: str, wire: type[MinimalWire]) -> None:
    """Add a wire to `WIRES`: by its name, and for "auto", which asks it after all others.

    Raises TypeError for anything but a class of the shape of `Wire`, ValueError if a wire or a provider has the name.
    """
    if normalize_name(name) in ("", "auto") or _find_own_name(name) is not None:
        raise ValueError(f"there is a wire {name!r} already")
    if find_provider(name) is not None:
        raise ValueError(f"{name!r} is the name of a provider")
    missing = [member for member in _MEMBERS if not hasattr(wire, member)] if isinstance(wire, type) else _MEMBERS
    if missing:
        raise TypeError(f"a wire must be a class with {', '.join(_MEMBERS)}, got {wire!r}")
    WIRES[name] = cast("type[Wire]", wire)


def find_wire(name: str) -> type[Wire]:
    """Return a wire by its name, or by that of a provider; raises ValueError for an unknown name."""
    return WIRES[find_wire_name(name)]


def find_wire_name(name: str) -> str:
    """Return the name of the wire that a name means: a wire's own name first, then that of a provider.

    A wire that an installed distribution offers counts, too.  Case, blanks, dots, dashes and underscores do not.
    Raises ValueError, with the nearest name, for an unknown one.
    """
    if (wire := _find_own_name(name)) is not None:
        return wire
    if (provider := find_provider(name)) is not None:
        return PROVIDERS[provider].wire
    load(_GROUP, name)
    if name not in WIRES:
        raise ValueError(f"unknown wire {name!r}; {list_known(name, ('auto', *WIRES), PROVIDERS)}")
    return name


def _find_own_name(name: str) -> str | None:
    key = normalize_name(name)
    return name if name in WIRES else next((each for each in WIRES if normalize_name(each) == key), None)


register_group(_GROUP, register_wire)
register_server_tools(gemini.SERVER_TOOL_KEYS, bedrock.SERVER_TOOL_KEYS)
