"""A call as models write it in their text, in the formats that several parsers read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from peers.streams import Json, cut

__all__ = ["FORMATS", "MARKERS", "cut_text", "write_call"]

MARKERS = (
    *("<tool_call>", "</tool_call>", "[TOOL_CALLS]", "[ARGS]", "<|python_tag|>", "<think>", "</think>"),
    *("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>", "<|tool_call_end|>"),
    *("<|tool_call_argument_begin|>", "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>"),
    *("<｜tool▁call▁end｜>", "<｜tool▁sep｜>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    *("<minimax:tool_call>", "</minimax:tool_call>"),
)
"""What is one token of these models: it always comes whole."""

_MARKER = re.compile(f"({'|'.join(map(re.escape, MARKERS))})")


def cut_text(text: str, size: int) -> Iterator[str]:
    """Cut a text as its model's tokens do: each marker by itself, the rest in pieces of `size` characters."""
    for part in _MARKER.split(text):
        yield from (part,) if part in MARKERS else cut(part, size)


def _hermes(name: str, arguments: Json) -> tuple[str, str]:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {json.dumps(arguments)}}}', "\n</tool_call>"


def _qwen3_coder(name: str, arguments: Json) -> tuple[str, str]:
    parameters = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in arguments.items())
    return f"<tool_call>\n<function={name}>\n{parameters}</function>", "\n</tool_call>"


def _kimi_k2(name: str, arguments: Json) -> tuple[str, str]:
    opened = f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{name}:0<|tool_call_argument_begin|>"
    return opened + json.dumps(arguments), "<|tool_call_end|><|tool_calls_section_end|>"


def _deepseek(name: str, arguments: Json) -> tuple[str, str]:
    opened = f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{name}<｜tool▁sep｜>"
    return opened + json.dumps(arguments), "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"


def _mistral(name: str, arguments: Json) -> tuple[str, str]:
    return f"[TOOL_CALLS]{name}[ARGS]{json.dumps(arguments)}", ""


def _llama3(name: str, arguments: Json) -> tuple[str, str]:
    return f'{{"name": "{name}", "parameters": {json.dumps(arguments)}}}', ""


def _glm(name: str, arguments: Json) -> tuple[str, str]:
    pairs = (f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n" for key, value in arguments.items())
    return f"<tool_call>{name}\n{''.join(pairs)}</tool_call>", ""


def _minimax(name: str, arguments: Json) -> tuple[str, str]:
    parameters = "".join(f'<parameter name="{key}">{value}</parameter>\n' for key, value in arguments.items())
    return f'<minimax:tool_call>\n<invoke name="{name}">\n{parameters}</invoke>', "\n</minimax:tool_call>"


def _pythonic(name: str, arguments: Json) -> tuple[str, str]:
    # A parenthesis alone proves no call: the bracket that closes the list does.
    return f"[{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})]", ""


FORMATS: dict[str, Callable[[str, Any], tuple[str, str]]] = {
    "hermes": _hermes,
    "qwen3-coder": _qwen3_coder,
    "kimi-k2": _kimi_k2,
    "deepseek-v3.1": _deepseek,
    "mistral-v11": _mistral,
    "llama3-json": _llama3,
    "glm-4.5": _glm,
    "minimax-m2": _minimax,
    "pythonic": _pythonic,
}
"""By its name in `streamparse.DIALECTS`, what writes a call: up to the character that closes it, and the rest."""


def write_call(format: str, arguments: Json) -> tuple[str, str]:
    """A call of `write_file`."""
    return FORMATS[format]("write_file", arguments)
