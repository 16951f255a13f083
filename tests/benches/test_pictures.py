"""The pictures of the README are those that `make pictures` draws, and show what the figures say."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from pictures import IMAGES, RECORDED, ROOT, draw_lateness, draw_timeline, lay_out, read_lateness

DRAWN = {
    "timeline": lambda: draw_timeline(lay_out(RECORDED)),
    "lateness": lambda: draw_lateness(
        read_lateness((ROOT / "docs" / "internals" / "comparison.md").read_text(encoding="utf-8"))
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_of_the_readme_is_drawn_from_what_is_committed(name: str) -> None:
    drawn = DRAWN[name]()
    ElementTree.fromstring(drawn)
    assert "(prefers-color-scheme: dark)" in drawn
    assert IMAGES.joinpath(f"{name}.svg").read_text(encoding="utf-8") == drawn


def test_the_picture_of_the_timeline_tells_the_gain_of_each_call() -> None:
    timeline = lay_out(RECORDED)
    drawn = draw_timeline(timeline)
    gains = [call.find_gain("finish") for call in timeline.calls]
    assert len(gains) == 2
    assert all(gain and f"{gain * 1000:,.0f} ms earlier" in drawn for gain in gains)


def test_the_picture_of_the_lateness_has_every_library_and_ours_first() -> None:
    rows = [("slow & steady", 21_009, 1840), ("streamparse", 0, 0)]
    page = "".join(f"| openai-chat | {name} | {size:,} bytes, {ms:,} ms | 0 bytes, 0 ms |\n" for name, size, ms in rows)
    assert read_lateness(page) == rows
    drawn = draw_lateness(rows)
    assert drawn.index(">streamparse<") < drawn.index(">slow &amp; steady<")
    assert "1,840 ms, 21,009 bytes" in drawn
