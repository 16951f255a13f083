"""Frames: cuts the bytes of a body into messages, however they arrive.

A framer holds only what is incomplete, does not look at a byte more often because chunks are small, and never decodes:
a frame is bytes.  `AutoFramer` finds out from the first bytes which framer a body needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamparse.frames.frame import (
    Chunk,
    Frame,
    Framer,
    FramingError,
)
from streamparse.frames.json_framers import NDJSON, JSONArray, JSONBody, ValueScanner
from streamparse.frames.sniff import FRAMERS, AutoFramer, Format, Sniffer
from streamparse.frames.sse import SSE
from streamparse.frames.template import FrameTemplate
from streamparse.lazy import export_lazily

if TYPE_CHECKING:
    from streamparse.frames.aws import AWSEventStream

__all__ = [
    "FRAMERS", "NDJSON", "SSE", "AWSEventStream", "AutoFramer", "Chunk", "Format", "Frame", "FrameTemplate", "Framer",
    "FramingError", "JSONArray", "JSONBody", "Sniffer", "ValueScanner",
]  # fmt: skip

if not TYPE_CHECKING:  # one provider's alone
    __getattr__ = export_lazily(globals(), {"aws": ("AWSEventStream",)})
