"""Counts what each rule of quotation saves in echoes and costs in genuine calls: `python tests/trust/quotation.py`.

Each rule is switched off by itself.  An echo is a call in one of `contexts.CONTEXTS`, which visible text follows, or in
a quoted place of `places.PLACES`.  The first column counts those that are reported as a call, the second those that run
a tool with effects.  A genuine call is one of `genuine.GENUINE`; the third column counts those that run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from contexts import CONTEXTS
from corpus import read_samples, read_tools
from genuine import FORMATS, name_contexts
from places import PLACES, flatten
from running import make_frames, note_begun
from samples import BARE

import streamparse as sp
from streamparse.dialects import CATALOGUE
from streamparse.dialects.engine import quotes
from streamparse.dialects.engine.quotes import Quotes
from streamparse.patterns import lazy_re

__all__ = ["RULES", "does_run", "fill_in", "print_table", "switch_off"]

_NEVER: Any = lazy_re(r"(?!)")


def do_nothing(**arguments: Any) -> None:
    """Do nothing."""


def fill_in(context: str, name: str) -> str:
    """The markup of a format in its context."""
    call = read_samples()[name].text.strip("\n")
    return context.replace("CALL", call).replace("LINE", flatten(call))


def _read(text: str, name: str) -> tuple[list[str], set[str]]:
    called = read_samples()[name].name
    tool = next(tool for tool in read_tools() if tool.name == called)
    return note_begun(make_frames([text]), [sp.Tool(called, "", tool.parameters, do_nothing, "write")])


def does_run(text: str, name: str) -> bool:
    """Whether an answer runs the tool with effects that the sample of a format calls."""
    return bool(_read(text, name)[0])


def _list_echoes() -> Iterator[tuple[str, str]]:
    quoted = [place.wrap for place in PLACES.values() if place.kind == "quoted"]
    for name in (name for name in sp.DIALECTS if name not in BARE):
        yield from ((fill_in(context, name), name) for context in CONTEXTS.values())
        yield from ((wrap(read_samples()[name].text), name) for wrap in quoted)


def _list_genuine() -> Iterator[tuple[str, str]]:
    return ((fill_in(text, name), name) for text in name_contexts().values() for name in FORMATS)


RULES: dict[str, Callable[[], list[tuple[Any, str, Any]]]] = {
    "none of them": list,
    "fence": lambda: [(quotes, "_FENCE", _NEVER)],
    "code span": lambda: [(Quotes, "_is_span_open", lambda _: False)],
    "block quotation": lambda: [(quotes, "_QUOTATION", _NEVER)],
    "indented block": lambda: [(Quotes, "_is_code", lambda *_: False)],
    "mark right before": lambda: [(Quotes, "_is_after_mark", lambda _: False)],
    'odd `"`': lambda: [(Quotes, "_is_odd", property(lambda _: False, lambda *_: None))],
    "a fence that is all of the answer": lambda: [(CATALOGUE, "make_fence", None)],
}
"""What is replaced to switch each rule off."""


@contextmanager
def switch_off(rule: str) -> Iterator[None]:
    """Read without a rule."""
    changes = RULES[rule]()
    before = [(where, name, where.__dict__.get(name)) for where, name, _ in changes]
    for where, name, value in changes:
        setattr(where, name, value)
    CATALOGUE._known = ()  # what was selected before has the other markers
    try:
        yield
    finally:
        for where, name, value in before:
            delattr(where, name) if value is None else setattr(where, name, value)
        CATALOGUE._known = ()


def print_table() -> None:
    """Print what is reported and what runs with all rules, and without each of them."""
    print("without".ljust(44), "reported", "echoes run", "genuine run", sep="\t")
    for rule in RULES:
        with switch_off(rule):
            echoes = [_read(*echo) for echo in _list_echoes()]
            reported, run = sum(bool(told) for _, told in echoes), sum(bool(begun) for begun, _ in echoes)
            genuine = [does_run(*call) for call in _list_genuine()]
        print(rule.ljust(44), f"{reported} of {len(echoes)}", run, f"{sum(genuine)} of {len(genuine)}", sep="\t")


if __name__ == "__main__":
    print_table()
