"""What the tables of `docs/internals/performance.md` stand on: cut reads, and gates that are seen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from corpora import CORPORA
from measuring import Cell, Table
from minimal import find_minimal_floor
from performance import TABLES, TABLES_OF_OTHERS, replace_between
from reads import RECORDED, cut_by_bytes, cut_by_frames, deal_reads, take_frames

PAGE = (Path(__file__).parents[2] / "docs" / "internals" / "performance.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RECORDED)
def test_reads_as_a_server_sent_them_are_the_stream_cut_as_often_as_its_was(name: str) -> None:
    server = RECORDED[name]
    frames = take_frames(server.find_stream(name))
    reads = deal_reads(frames, server)
    assert b"".join(reads) == b"".join(frames)
    recorded = sum(server.reads_by_frames.values()) / server.frames
    assert len(reads) / len(frames) == pytest.approx(recorded, rel=0.1)


def test_the_numbers_of_a_server_fit_each_other() -> None:
    for server in RECORDED.values():
        assert server.frames == sum(int(count) * reads for count, reads in server.reads_by_frames.items())


@pytest.mark.parametrize("name", [name for name in CORPORA if "1 MB" not in name])
def test_the_minimal_floor_reads_every_stream_however_it_is_cut(name: str) -> None:
    corpus = CORPORA[name]
    frames = take_frames(corpus)
    for reads in (frames, cut_by_frames(frames, 8), cut_by_bytes(frames, 1400)):
        assert b"".join(reads) == b"".join(frames)
        find_minimal_floor(corpus)(reads)


def test_a_row_that_misses_a_gate_is_marked_and_stands_first() -> None:
    table = Table(
        "t", ("stream", "ratio"), {"a": lambda _: (Cell(3.0),), "b": lambda _: (Cell(2.0, 1.5),)}, gates="1.5."
    )
    table.measure(1, lambda _: None)
    assert [row.name for row in table.sort_rows()] == ["b", "a"]
    assert "| b | **2.00** (over 1.50) |" in table.write()
    assert "1 of 1 rows miss one." in table.write()
    assert table.sum_up() == "|  | **2.00** (b) | 3.00 (a) |"


def test_a_row_that_misses_by_little_is_measured_again_for_longer() -> None:
    table = Table("t", ("stream", "ratio"), {"a": lambda rounds: (Cell(1.1 if rounds == 3 else 0.9, 1.0),)})
    assert not table.measure_row("a", 3).fails


def test_the_page_has_a_place_for_every_table_and_no_other() -> None:
    assert set(re.findall(r"<!-- ([\w-]+) -->", PAGE)) == {*TABLES, *TABLES_OF_OTHERS, "run", "summary"}
    assert replace_between("<!-- a -->x<!-- /a -->y", "a", "z") == "<!-- a -->\n\nz\n\n<!-- /a -->y"
    with pytest.raises(ValueError, match="no <!-- b -->"):
        replace_between(PAGE, "b", "")
