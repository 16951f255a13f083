"""The parsers that SGLang and vLLM run on a model's text, and ours, each fed with the model's tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

from peers.clients import Found
from peers.formats import FORMATS, MARKERS
from peers.results import OURS
from peers.stand_ins import import_from
from peers.streams import TOOLS

__all__ = ["TEXT_PARSERS", "Feed", "TextParser"]

Feed = Callable[[str], Iterator[Found]]
"""Takes the next piece of text (none at the end) and yields the calls that are whole now."""

_SGLANG = ("sglang.srt.function_call", "sglang.srt.environ")
_VLLM = ("vllm.tool_parsers", "vllm.parser", "vllm.reasoning", "vllm.entrypoints.generate.base.protocol")


class TextParser(NamedTuple):
    """A parser of one text format; `make` gives what is fed with pieces of text."""

    name: str
    distribution: str
    format: str
    make: Callable[[], Feed]


class _JoinedCalls:
    """The deltas of the calls, joined: a call is given out when what came of its arguments is a whole JSON value.

    That is kind to the parsers: their clients learn it only from the next call or the finish reason.
    """

    def __init__(self) -> None:
        self._calls: dict[int, list[str]] = {}

    def add(self, index: int, name: str | None, arguments: str | None) -> Iterator[Found]:
        call = self._calls.setdefault(index, ["", ""])
        call[0] += name or ""
        call[1] += arguments or ""
        if arguments and arguments.rstrip().endswith("}"):
            try:
                value = json.loads(call[1])
            except ValueError:
                return
            yield Found(call[0], value)


@cache
def _make_toolset() -> Any:
    """Our tools, made once, as a program does that reads many answers."""
    from streamparse.tools import Toolset

    return Toolset.of(TOOLS)


def _streamparse(dialect: str) -> Feed:
    import streamparse as sp

    parser = sp.TextParser([dialect], tools=_make_toolset())

    def feed(text: str) -> Iterator[Found]:
        for event in parser.feed(text) if text else parser.close():
            if isinstance(event, sp.ToolCallComplete):
                yield Found(event.name, event.arguments)

    return feed


def _sglang(module: str, name: str) -> Feed:
    detector = getattr(import_from("sglang", _SGLANG, f"sglang.srt.function_call.{module}"), name)()
    tools = [SimpleNamespace(type="function", function=SimpleNamespace(strict=None, **tool)) for tool in TOOLS]
    joined = _JoinedCalls()

    def feed(text: str) -> Iterator[Found]:
        if text:
            for call in detector.parse_streaming_increment(text, tools).calls:
                yield from joined.add(call.tool_index, call.name, call.parameters)
        elif detector.prev_tool_call_arr and detector.streamed_args_for_tool:
            # As its server does at the end: what was read and not sent yet.
            last = len(detector.prev_tool_call_arr) - 1
            arguments = detector.prev_tool_call_arr[last].get("arguments", {})
            whole = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            yield from joined.add(last, None, whole.removeprefix(detector.streamed_args_for_tool[last]))

    return feed


class _Tokenizer:
    """The parsers look up the markers among the tokens; any other piece is a token once it was met."""

    def __init__(self) -> None:
        self._tokens = list(MARKERS)
        self._ids = {token: number for number, token in enumerate(MARKERS)}
        self._markers = dict(self._ids)

    def get_vocab(self) -> dict[str, int]:
        return self._markers

    def encode(self, text: str, **_: Any) -> list[int]:
        if text not in self._ids:
            self._ids[text] = len(self._tokens)
            self._tokens.append(text)
        return [self._ids[text]]

    def decode(self, ids: Iterable[int], **_: Any) -> str:
        return "".join(self._tokens[number] for number in ids)


def _vllm(module: str, name: str) -> Feed:
    tokenizer = _Tokenizer()
    parser = getattr(import_from("vllm", _VLLM, f"vllm.tool_parsers.{module}"), name)(tokenizer)
    joined = _JoinedCalls()
    request = SimpleNamespace(tools=None, tool_choice="auto", skip_special_tokens=False, include_reasoning=False)
    text, ids_before, ids = "", list[int](), list[int]()

    def send(delta: Any) -> Iterator[Found]:
        for call in (delta.tool_calls or ()) if delta else ():
            yield from joined.add(call.index, call.function.name, call.function.arguments)

    def finish() -> Iterator[Found]:
        """As its server does at the end: what is held back, or was read and not sent yet."""
        if hasattr(parser, "finish_streaming"):
            yield from send(parser.finish_streaming())
        yield from joined.add(len(parser.prev_tool_call_arr) - 1, None, parser.get_remaining_unstreamed_args())

    def feed(piece: str) -> Iterator[Found]:
        nonlocal text
        if not piece:
            yield from finish()
            return
        before, text = text, text + piece
        new_ids = tokenizer.encode(piece)
        ids.extend(new_ids)
        yield from send(parser.extract_tool_calls_streaming(before, text, piece, ids_before, ids, new_ids, request))
        ids_before.extend(new_ids)

    return feed


_SGLANG_PARSERS = {
    "hermes": ("hermes_detector", "HermesDetector"),
    "qwen3-coder": ("qwen3_coder_detector", "Qwen3CoderDetector"),
    "kimi-k2": ("kimik2_detector", "KimiK2Detector"),
    "deepseek-v3.1": ("deepseekv31_detector", "DeepSeekV31Detector"),
    "mistral-v11": ("mistral_detector", "MistralDetector"),
    "llama3-json": ("llama32_detector", "Llama32Detector"),
    "glm-4.5": ("glm4_moe_detector", "Glm4MoeDetector"),
    "minimax-m2": ("minimax_m2", "MinimaxM2Detector"),
    "pythonic": ("pythonic_detector", "PythonicDetector"),
}
_VLLM_PARSERS = {
    "hermes": ("hermes_tool_parser", "Hermes2ProToolParser"),
    "qwen3-coder": ("qwen3_engine_tool_parser", "Qwen3EngineToolParser"),
    "kimi-k2": ("kimi_k2_tool_parser", "KimiK2ToolParser"),
    "deepseek-v3.1": ("deepseekv31_tool_parser", "DeepSeekV31ToolParser"),
    "mistral-v11": ("mistral_tool_parser", "MistralToolParser"),
    "llama3-json": ("llama_tool_parser", "Llama3JsonToolParser"),
    "glm-4.5": ("glm47_moe_tool_parser", "Glm47MoeModelToolParser"),
    "minimax-m2": ("minimax_m2_tool_parser", "MinimaxM2ToolParser"),
    "pythonic": ("pythonic_tool_parser", "PythonicToolParser"),
}

TEXT_PARSERS = [
    *(TextParser(OURS, "llm-streamparse", format, partial(_streamparse, format)) for format in FORMATS),
    *(TextParser("SGLang", "sglang", format, partial(_sglang, *place)) for format, place in _SGLANG_PARSERS.items()),
    TextParser("SGLang, qwen25", "sglang", "hermes", partial(_sglang, "qwen25_detector", "Qwen25Detector")),
    *(TextParser("vLLM", "vllm", format, partial(_vllm, *place)) for format, place in _VLLM_PARSERS.items()),
]
"""All of them, ours first."""
