"""Steps around any client: each may change the request on its way out and the answer on its way in."""

from streamparse.middleware.chain import Middleware, MiddlewareChain
from streamparse.middleware.steps import (
    LearnFormats,
    NormaliseTools,
    ParseAnswer,
    ReadStream,
    Transform,
    TranslateTools,
    ValidateCalls,
)

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
