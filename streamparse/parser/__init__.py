"""Answers in, events out: streams, text, and whole bodies.

bytes ─ frames ─▶ wire ──verbs──▶ [ in-band ] ──verbs──▶ assembler ─▶ list[Event]

`StreamParser` takes bytes cut anywhere, `TextParser` text, `iter_events` and `aiter_events` any source of chunks, and
`parse_response` a whole response of any type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamparse.dialects import Dialects, Quoted, Reasoning
from streamparse.lazy import export_lazily
from streamparse.parser.loops import AsyncEventStream, EventStream, aiter_events, iter_events
from streamparse.parser.sources import AsyncSource, Chunk, Source
from streamparse.parser.stream import StreamParser
from streamparse.parser.text import TextParser

if TYPE_CHECKING:
    from streamparse.parser.composite import (
        CompositeParser,
        JSONContentParser,
        MarkupParser,
        NativeParser,
        parse_response,
    )
    from streamparse.parser.intents import HeuristicParser
    from streamparse.parser.registry import parser_for, register_parser

__all__ = [
    "AsyncEventStream", "AsyncSource", "Chunk", "CompositeParser", "Dialects", "EventStream",
    "HeuristicParser", "JSONContentParser", "MarkupParser", "NativeParser", "Quoted", "Reasoning", "Source",
    "StreamParser", "TextParser", "aiter_events", "iter_events", "parse_response", "parser_for",
    "register_parser",
]  # fmt: skip

if not TYPE_CHECKING:  # most programs need none of these
    __getattr__ = export_lazily(
        globals(),
        {
            "composite": ("CompositeParser", "JSONContentParser", "MarkupParser", "NativeParser", "parse_response"),
            "intents": ("HeuristicParser",),
            "registry": ("parser_for", "register_parser"),
        },
    )
