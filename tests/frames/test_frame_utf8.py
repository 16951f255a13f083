"""Frames never damage bytes: text comes out as a decoder of the whole body would give it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from framing import cuts, rules, run

from streamparse.frames import NDJSON, SSE, Framer, JSONArray, JSONBody
from streamparse.limits import Limits

WRAPPINGS: list[tuple[Callable[[Limits], Framer], bytes, bytes]] = [
    (SSE, b"data: ", b"\n\n"),
    (SSE, b"event: x\r\ndata:", b"\r\n\r\n"),
    (NDJSON, b"", b"\n"),
    (JSONArray, b'["', b'"]'),
    (JSONBody, b"[", b"]"),
]


@pytest.mark.parametrize("rule", rules("utf8"), ids=lambda rule: str(rule["id"]))
@pytest.mark.parametrize(("make", "before", "after"), WRAPPINGS)
def test_good_and_bad_utf8_passes_unchanged_at_every_split(
    make: Callable[[Limits], Framer], before: bytes, after: bytes, rule: dict[str, Any]
) -> None:
    text = rule["input"].translate(None, b'\n"')  # what would end a line or a string is not the subject here
    expected = rule["expect"].replace("\n", "").replace('"', "")
    for chunks in cuts(before + text + after):
        data = b"".join(frame.data for frame in run(make(Limits()), chunks))
        assert text in data
        assert expected in data.decode(errors="replace")
