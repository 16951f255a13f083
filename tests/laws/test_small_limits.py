"""Law 1 at the limits: what is too long is found too long at the same character, however the text is cut."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path

import pytest
from cuts import assert_same_in_every_cut, cut_at, events_of, in_pieces, merged, reasoning_of, text_of
from subjects import ROWS, texts_of

import streamparse as sp
from streamparse.tools import Toolset

FOLDER = Path(__file__).parents[2] / "fixtures" / "dialects"
CASES = ("single", "nested_values", "malformed")
LIMITS = (
    *("max_call_args", "max_depth", "max_held_text", "max_id", "max_key", "max_markers", "max_name", "max_number"),
    "max_pending",
)
SIZES = (2, 20)


def _object(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties}


TOOLS = Toolset.of([
    sp.Tool(name="get_weather", description="", parameters=_object(city={"type": "string"}, days={"type": "integer"})),
    sp.Tool(name="configure", description="", parameters=_object(options=_object(), tags={"type": "array"})),
])  # fmt: skip


@cache
def _texts(name: str) -> list[str]:
    cases = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    return [cases[case]["text"] for case in CASES if "text" in cases[case]]


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.toml")))
def test_a_small_limit_is_met_at_the_same_place_in_every_cut(name: str, limit: str) -> None:
    for text in _texts(name):
        for size in SIZES:

            def parser(size: int = size) -> sp.TextParser:
                return sp.TextParser([name], tools=TOOLS, limits=sp.Limits(**{limit: size}))

            whole = parser()
            expected = merged(events_of(whole, [text]))
            for pieces in (in_pieces(text, 1), cut_at(text, [len(text) // 3, len(text) // 2])):
                cut = parser()
                assert merged(events_of(cut, pieces)) == expected, (text, size)
                assert cut.response == whole.response


@pytest.mark.parametrize("row", ROWS)
def test_what_may_be_held_is_half_of_a_text_and_every_cut_gives_the_same(row: str) -> None:
    for name, each in texts_of(row).items():
        limits = sp.Limits(max_held_text=max(1, len(each.data) // 2))
        whole, cut = each.parser(limits=limits), each.parser(limits=limits)
        assert merged(events_of(whole, [each.data])) == merged(events_of(cut, in_pieces(each.data, 5))), name
        assert whole.response == cut.response, name


def _call(name: str, id: str = "i", key: str = "city") -> str:
    return f'<tool_call>{{"name": "{name}", "id": "{id}", "arguments": {{"{key}": "P"}}}}</tool_call>.'


@pytest.mark.parametrize("limit", ["max_name", "max_id"])
def test_a_name_or_an_id_may_be_as_long_as_its_limit_and_no_longer(limit: str) -> None:
    for length in range(6, 11):
        word = "w" * length
        text = _call(word) if limit == "max_name" else _call("get_weather", word)
        for pieces in ([text], in_pieces(text, 1)):
            parser = sp.TextParser(["hermes"], limits=sp.Limits(**{limit: 8}))
            events_of(parser, pieces)
            errors = [error.code for error in parser.response.errors]
            assert errors == ([] if length <= 8 else [limit.replace("max", "limit")]), (length, pieces)


def test_a_start_cuts_a_long_name_and_a_long_id_and_its_call_is_an_error() -> None:
    message = {"tool_calls": [{"function": {"name": "n" * 70_000, "arguments": "{}"}, "id": "i" * 70_000}]}
    body = b"data: %s\n\n" % json.dumps({"choices": [{"index": 0, "delta": message}]}).encode()
    start, error, *_ = events_of(sp.StreamParser("openai-chat"), [body])
    assert start == sp.ToolCallStart(0, "i" * 200, "n" * 200)
    assert isinstance(error, sp.Error)
    assert error.code == "limit_name"


HALTS = {
    "limit_total": (sp.Limits(max_total=160), b": " + b"x" * 300 + b"\n\n"),
    "limit_line": (sp.Limits(max_line=150), b"data: " + b"x" * 300 + b"\n\n"),
    "limit_event": (sp.Limits(max_event=150), (b"data: " + b"x" * 100 + b"\n") * 2 + b"\n"),
}


@pytest.mark.parametrize("code", HALTS)
@pytest.mark.parametrize("text", ["a <tool_ca", '{"name": "now", ', "a `<tool_call>{", "<think>a</thi"])
def test_text_that_waits_for_more_is_told_before_a_limit_ends_the_parse(text: str, code: str) -> None:
    limits, beyond = HALTS[code]
    frame = b"data: " + json.dumps({"choices": [{"delta": {"content": text}}]}).encode() + b"\n\n"
    events = assert_same_in_every_cut(
        lambda: sp.StreamParser("openai-chat", tools=[{"name": "now"}], limits=limits), frame + beyond
    )
    assert reasoning_of(events) + text_of(events) == text.removeprefix("<think>")
    assert [(error.scope, error.code) for error in events if isinstance(error, sp.Error)] == [("stream", code)]
    assert isinstance(events[-2], sp.Error)
    if code != "limit_total":
        whole = sp.parse_response(frame + beyond, "openai-chat", limits=limits)
        assert (whole.reasoning + whole.content, whole.errors[0].code) == (text.removeprefix("<think>"), code)
