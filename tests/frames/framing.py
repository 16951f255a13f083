"""Ways to cut a body, and what a framer makes of it."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from streamparse.frames import Frame, Framer

RULES = Path(__file__).parents[2] / "fixtures" / "rules"


def rules(name: str) -> list[dict[str, Any]]:
    loaded = json.loads((RULES / f"{name}.json").read_text(encoding="utf-8"))["rules"]
    return [rule | {"input": base64.b64decode(rule["input_b64"])} for rule in loaded]


def cuts(body: bytes) -> Iterator[list[bytes]]:
    """Whole, byte by byte, in two at every offset (with an empty chunk between), and at random places."""
    yield [body]
    yield [body[i : i + 1] for i in range(len(body))]
    for i in range(len(body) + 1):
        yield [body[:i], b"", body[i:]]
    rng = random.Random(len(body))
    for _ in range(20):
        places = sorted(rng.randrange(len(body) + 1) for _ in range(rng.randrange(2, 9)))
        yield [body[a:b] for a, b in zip([0, *places], [*places, len(body)], strict=True)]


def feed_all(framer: Framer, chunks: Sequence[bytes]) -> list[Frame]:
    return [frame for chunk in chunks for frame in framer.feed(chunk)]


def run(framer: Framer, chunks: Sequence[bytes]) -> list[Frame]:
    """All the frames of a body that ends after its last chunk."""
    return feed_all(framer, chunks) + framer.close()
