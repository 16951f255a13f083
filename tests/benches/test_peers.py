"""The comparison with other libraries judges as it says: right or wrong, and how late, on our own parser alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from peers import measure
from peers.clients import CLIENTS, Client, Found, Read
from peers.gates import LATE_BY_DESIGN, check_gates
from peers.judge import Late, Reader, Seen, compare, judge, measure_lateness
from peers.measure import judge_text_parser
from peers.quirks import make_quirks
from peers.report import write_report
from peers.results import OURS, OURS_OVER_HTTP, ClientRow, PartialRow, QuirkRow, Results, TextRow
from peers.source import Source
from peers.streams import Call, Stream, make_anthropic, make_chat, make_ollama, make_responses
from peers.text_parsers import TEXT_PARSERS

OUR_READERS = [Reader(client) for client in CLIENTS if client.name in {OURS, OURS_OVER_HTTP}]
QUIRKS = make_quirks()
DOCUMENTED = [make([400, 400]) for make in (make_chat, make_anthropic, make_responses, make_ollama)]


def _name(value: object) -> str | None:
    return f"{value.wire}, {value.name}" if isinstance(value, Stream) else getattr(value, "name", None)


# -- the streams ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [*QUIRKS, *DOCUMENTED], ids=_name)
def test_a_stream_knows_in_which_read_each_of_its_calls_closes(stream: Stream) -> None:
    assert len(stream.tokens) == len(stream.reads)
    assert stream.size == sum(map(len, stream.reads))
    for call in stream.calls:
        assert call.closed_at in {sum(map(len, stream.reads[:reads])) for reads in range(1, len(stream.reads) + 1)}
    assert not (stream.is_cut and stream.calls)


def test_there_are_quirks_enough_and_each_has_its_own_name() -> None:
    assert len({(stream.wire, stream.name) for stream in QUIRKS}) == len(QUIRKS) >= 28


# -- what ours makes of them ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", QUIRKS, ids=_name)
@pytest.mark.parametrize("reader", OUR_READERS, ids=_name)
def test_ours_is_right_in_every_quirk_and_late_only_by_design(reader: Reader, stream: Stream) -> None:
    verdict = judge(reader, stream)
    assert verdict.is_right
    assert (verdict.late_bytes > 0) == ((stream.wire, stream.name) in LATE_BY_DESIGN)


@pytest.mark.parametrize("stream", DOCUMENTED, ids=_name)
@pytest.mark.parametrize("reader", OUR_READERS, ids=_name)
def test_ours_gives_out_a_call_at_its_closing_byte(reader: Reader, stream: Stream) -> None:
    assert measure_lateness(reader, stream) == [Late(0, 0), Late(0, 0)]


@pytest.mark.parametrize(
    "parser", [parser for parser in TEXT_PARSERS if parser.name == OURS], ids=lambda each: each.format
)
def test_ours_reads_every_text_format_at_its_closing_character(parser: object) -> None:
    row = judge_text_parser(parser)  # type: ignore[arg-type]
    assert (row.word, row.late, row.is_late_to_the_end) == ("right", 0, False)


# -- the clock ------------------------------------------------------------------------------------------------------


def test_growth_is_the_least_of_some_runs_though_the_first_one_of_ours_was_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spent = {
        (OURS, 1): [0.3, 0.1, 0.2],
        (OURS, 2): [0.9, 0.5, 0.3, 0.4],
        ("other", 1): [0.2, 0.3, 0.1, 0.3],
        ("other", 2): [0.9, 0.1],
    }

    class Timed(NamedTuple):
        name: str

        def read(self, stream: Stream) -> list[float]:
            return spent[self.name, len(stream.reads)]

    def spend(run: Callable[[], list[float]]) -> float:
        left = run()
        return left.pop(0) if len(left) > 1 else left[0]

    monkeypatch.setattr(measure, "_spend", spend)
    monkeypatch.setattr(measure, "GROWTH_SIZES", (1, 2))
    monkeypatch.setattr(measure, "_make_large", lambda _, size: Stream("large", "openai-chat", reads=[b""] * size))
    growth = measure.measure_growth(make_chat, [Timed(OURS), Timed("other")])  # type: ignore[list-item]
    assert growth == {OURS: {1: 100_000, 2: 150_000}, "other": {1: 100_000, 2: 450_000}}


# -- the judge ------------------------------------------------------------------------------------------------------


def _at_the_end(change: Callable[[list[Found]], list[Found]]) -> Client:
    """A library that reads like ours, changes the calls, and gives them out when the stream is over."""
    ours = next(client for client in CLIENTS if client.name == OURS)

    def make(source: Source) -> Read:
        read_ours = ours.make(source)

        def read(wire: str) -> Iterator[Found]:
            yield from change(list(read_ours(wire)))

        return read

    return ours._replace(name="late", make=make)


def test_a_library_that_waits_for_the_end_is_late_by_what_comes_behind_each_call() -> None:
    stream = make_chat([400, 400])
    first, second = measure_lateness(Reader(_at_the_end(lambda calls: calls)), stream)
    behind = stream.reads[stream.calls[0].closed_in :]
    assert first.bytes == sum(map(len, behind))
    assert first.ms == 20 * (len(behind) - 2)  # usage and the end marker take the model no token
    assert second == Late(sum(map(len, stream.reads[-3:])), 20)


def test_a_library_that_reads_the_documented_stream_wrongly_has_no_lateness() -> None:
    with pytest.raises(AssertionError, match="late reads other calls"):
        measure_lateness(Reader(_at_the_end(lambda calls: calls[:1])), make_chat([400, 400]))


_CALL = Call("f", {"a": 1}, closed_at=10, closed_in=1)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ([Found("f", {"a": 1})], "right"),
        ([Found("f", '{"a": 1}')], "right"),
        ([], "lost"),
        ([Found("f", '{"a": 1')], "cut call"),
        ([Found("f", {"a": 2})], "wrong call"),
        ([Found("g", {"a": 1})], "wrong call"),
        ([Found("f", {"a": 1}), Found("f", {"a": 1})], "wrong call"),
        ([Found("f", {"a": 1}), Found("f", '{"a"')], "cut call"),
    ],
)
def test_what_is_given_out_is_held_beside_what_the_stream_has(given: list[Found], word: str) -> None:
    verdict = compare([Seen(found, 17, 2) for found in given], Stream("", "", calls=[_CALL]))
    assert (verdict.word, verdict.late_bytes) == (word, 7 if word == "right" else 0)


def _raising(_: list[Found]) -> list[Found]:
    raise KeyError("index")


def test_a_library_that_raises_has_lost_the_calls_but_may_raise_where_the_stream_is_cut() -> None:
    reader = Reader(_at_the_end(_raising))
    assert judge(reader, make_chat([50])).word == "raised"
    assert judge(reader, make_chat([50])).detail == "KeyError"
    assert all(judge(reader, stream).is_right for stream in QUIRKS if stream.is_cut)


# -- the gates and the page -----------------------------------------------------------------------------------------


def _client(name: str, cost: float, late: int = 0, grown: float = 1.0) -> ClientRow:
    kinds = ("call", "call, 1,400 bytes a read", "short call", "text")
    growth = {2**14: cost, 2**24: cost * grown}
    return ClientRow("openai-chat", name, dict.fromkeys(kinds, cost), 1000, [Late(late, late)] * 2, growth)


def _results() -> Results:
    """Of a run in which all is well."""
    stream = QUIRKS[0]
    verdicts = {reader.name: judge(reader, stream) for reader in OUR_READERS}
    sizes = (1024, 8192)
    return Results(
        rounds=1,
        clients=[_client(OURS, 1), _client(OURS_OVER_HTTP, 2), _client("other", 5, late=100, grown=9), _client("x", 3)],
        quirks=[QuirkRow(stream.wire, f"{number}", "", verdicts) for number in range(28)],
        text=[
            TextRow("hermes", name, dict.fromkeys(sizes, cost), "right", 0) for name, cost in ((OURS, 1.0), ("o", 2.0))
        ],
        partial=[PartialRow(OURS, {1024: 1.0})],
    )


def _find_failed(results: Results) -> list[str]:
    return [gate.name for gate in check_gates(results) if not gate.has_passed]


def test_every_gate_passes_where_all_is_well() -> None:
    assert _find_failed(_results()) == []


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        (
            {"clients": [_client(OURS, 1), _client(OURS_OVER_HTTP, 2), _client("x", 1.9)]},
            f"{OURS_OVER_HTTP}: the cheapest",
        ),
        ({"clients": [_client(OURS, 1), _client(OURS_OVER_HTTP, 0.5), _client("x", 0.9)]}, f"{OURS}: the cheapest"),
        ({"clients": [_client(OURS, 1), _client(OURS_OVER_HTTP, 2, late=1), _client("x", 9)]}, "0 bytes late"),
        ({"clients": [_client(OURS, 1, grown=1.3), _client(OURS_OVER_HTTP, 2), _client("x", 9)]}, "flat to 16 MB"),
        ({"quirks": []}, "right in every quirk"),
        (
            {"text": [TextRow("hermes", OURS, {1: 2.0}, "right", 0), TextRow("hermes", "o", {1: 1.0}, "lost", None)]},
            "the cheapest parser",
        ),
        (
            {"text": [TextRow("hermes", OURS, {1: 1.0}, "right", 1), TextRow("hermes", "o", {1: 2.0}, "right", 0)]},
            "0 bytes late",
        ),
        (
            {"text": [TextRow("hermes", OURS, {1: 1.0}, "lost", 0), TextRow("hermes", "o", {1: 2.0}, "right", 0)]},
            "right in every quirk",
        ),
        ({"missing": {"vLLM": "no wheel"}}, "every library could be used"),
    ],
)
def test_a_broken_promise_fails_its_gate_alone(change: dict[str, object], failed: str) -> None:
    names = _find_failed(replace(_results(), **change))  # type: ignore[arg-type]
    assert len(names) == 1
    assert names[0].startswith(failed)


def test_nothing_measured_passes_no_gate_of_cost_or_growth() -> None:
    assert len(_find_failed(Results(rounds=1))) == 5


def test_the_page_says_first_where_another_library_is_ahead_and_its_plots_are_xml(tmp_path: Path) -> None:
    results = _results()
    results.clients.append(_client("quick & <new>", 1.5))
    write_report(results, tmp_path)
    for page, first in (("internals/comparison.md", "## What a frame costs"), ("comparison.md", "## What they have")):
        written = (tmp_path / page).read_text(encoding="utf-8")
        assert "quick & <new> 1.5 µs a frame, streamparse over httpx 2.0" in written.split(first)[0]
        assert "**broken**" in written
    for name in ("cost", "lateness", "growth"):
        ElementTree.parse(tmp_path / "images" / f"peers_{name}.svg")
