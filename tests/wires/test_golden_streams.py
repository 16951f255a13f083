"""Each stream of `fixtures/streams` gives the events beside it, in every cut; its name is the sentence it proves.

`--update-golden -k NAME` writes the events of one stream.  A stream that the index lacks gets its line there, if its
name begins with that of its wire; whatever else its parser is to know is written by hand.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, plain
from fixture_streams import FOLDER, NAMES, golden_of, make_parser, read_body, read_golden, read_index, read_lines


def _as_lines(events: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(json.dumps(event, ensure_ascii=False) for event in events) + "\n]\n"


def _add_to_index(name: str) -> None:
    with (FOLDER / "index.toml").open("a", encoding="utf-8") as index:
        index.write(f'"{name}" = {{ wire = "{read_index()[name]["wire"]}" }}\n')


def test_every_stream_is_in_the_index() -> None:
    assert set(NAMES) == set(read_lines())


@pytest.mark.parametrize("name", NAMES)
def test_golden_stream(name: str, update_golden: bool) -> None:
    if update_golden and name not in read_lines():
        _add_to_index(name)
    events = plain(assert_same_in_every_cut(partial(make_parser, name), read_body(name)))
    if update_golden:
        golden_of(name).write_text(_as_lines(events), encoding="utf-8")
    assert events == read_golden(name)
