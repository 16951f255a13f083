"""Steps around any client: each may change the request on its way out and the answer on its way in."""

from __future__ import annotations

from streamparse.middleware.chain import Middleware, MiddlewareChain
from streamparse.middleware.steps import (
    LearnFormats,
    NormaliseTools,
    ParseAnswer,
    Transform,
    TranslateTools,
    ValidateCalls,
)
from streamparse.middleware.stream import ReadStream

__all__ = [
    "LearnFormats",
    "Middleware",
    "MiddlewareChain",
    "NormaliseTools",
    "ParseAnswer",
    "ReadStream",
    "Transform",
    "TranslateTools",
    "ValidateCalls",
]
