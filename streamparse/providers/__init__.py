"""What is known of each provider: a folder for each, and the tables of what they offer.

| module | what |
|---|---|
| `wires` | reads answers: `WIRES`, by the wire's name |
| `adapters` | writes and reads tools, calls, results, messages and whole requests: `ADAPTERS`, by the provider's name |
| `emitters` | writes answers: `EMITTERS`, by the wire's name |
| `names` | what providers and servers are called, and which wire each speaks |
| `quirks` | what servers do that their protocol does not say |
| `endpoints` | where servers are asked, and where they look for the key |

A provider imports the engines (`reading`, `writing`, `emitting`) and at most one API shape that several speak, never
another provider.  The shapes are `openai_chat` and `anthropic`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamparse.lazy import export_lazily

if TYPE_CHECKING:
    from streamparse.loss import Loss, Translation
    from streamparse.providers.adapters import (
        ADAPTERS,
        adapter_for,
        as_message,
        to_anthropic,
        to_gemini,
        to_generic,
        to_ollama,
        to_openai,
        translate_messages,
        translate_request,
        translate_tools,
        write_request,
    )
    from streamparse.providers.emitters import EMITTERS
    from streamparse.providers.names import PROVIDERS, Provider
    from streamparse.providers.quirks import Profile, profile
    from streamparse.providers.wires import WIRES, WireName, find_wire, register_wire

__all__ = [
    "ADAPTERS", "EMITTERS", "PROVIDERS", "WIRES", "Loss", "Profile", "Provider", "Translation", "WireName",
    "adapter_for", "as_message", "find_wire", "profile", "register_wire", "to_anthropic", "to_gemini", "to_generic",
    "to_ollama", "to_openai", "translate_messages", "translate_request", "translate_tools", "write_request",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = export_lazily(
        globals(),
        {
            "adapters": (
                *("ADAPTERS", "Loss", "Translation", "adapter_for", "as_message", "translate_messages"),
                *("translate_tools", "translate_request", "write_request"),
                *("to_anthropic", "to_gemini", "to_generic", "to_ollama", "to_openai"),
            ),
            "emitters": ("EMITTERS",),
            "names": ("PROVIDERS", "Provider"),
            "quirks": ("Profile", "profile"),
            "wires": ("WIRES", "WireName", "register_wire", "find_wire"),
        },
    )
