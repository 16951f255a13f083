"""What a parser makes of an input: its events, and what it holds of the answer at the end."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from cuts import events_of
from hypothesis import strategies as st
from subjects import Input, fixtures_of, inputs

import streamparse as sp

__all__ = ["Run", "draw_run", "read", "runs_of_fixtures"]


class Run(NamedTuple):
    """An input, the events of it, and the response."""

    input: Input
    events: list[sp.Event]
    response: sp.ParsedResponse


def read(each: Input) -> Run:
    """Feed an input whole."""
    parser = each.parser()
    return Run(each, events_of(parser, [each.data]), parser.response)


@cache
def runs_of_fixtures(subject: str) -> list[Run]:
    """All fixtures of a wire or of a row, read once for all laws."""
    return [read(each) for each in fixtures_of(subject).values()]


def draw_run(data: st.DataObject, subject: str) -> Run:
    """A drawn input, read."""
    return read(data.draw(inputs(subject)))
