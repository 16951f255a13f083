"""Frames: cuts the bytes of a body into messages, however they arrive.

Each framer holds only what is incomplete, looks at no byte twice as often because chunks are small, and never decodes:
a frame is bytes.  `AutoFramer` tells from the first bytes which framer a body needs.
"""

from __future__ import annotations

from streamparse.frames.aws import AWSEventStream
from streamparse.frames.base import BaseFramer
from streamparse.frames.frame import Chunk, Fault, Frame, Framer
from streamparse.frames.json_values import JSONArray, JSONBody
from streamparse.frames.ndjson import NDJSON
from streamparse.frames.sniff import FRAMERS, AutoFramer, Format, Sniffer
from streamparse.frames.sse import SSE
from streamparse.frames.template import Mould, mould_of

__all__ = [
    "FRAMERS",
    "NDJSON",
    "SSE",
    "AWSEventStream",
    "AutoFramer",
    "BaseFramer",
    "Chunk",
    "Fault",
    "Format",
    "Frame",
    "Framer",
    "JSONArray",
    "JSONBody",
    "Mould",
    "Sniffer",
    "mould_of",
]
