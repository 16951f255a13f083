"""A call that may have left already waits only as long as its text can still be what another one said."""

from __future__ import annotations

import streamparse as sp
from streamparse.emitting.calls import HeldCall, spell_arguments

START = sp.ToolCallStart(1, "i", "f")
SAID = spell_arguments(sp.ToolCallComplete(0, "h", "f", {"a": "xy"}, "native", '{"a":"xy"}', "field"))


def _says_the_same(*fragments: str) -> list[bool]:
    held = HeldCall(START, [SAID])
    return [held.extend(sp.ToolCallDelta(1, fragment)) for fragment in fragments]


def test_it_waits_while_it_says_the_same_in_other_words() -> None:
    assert _says_the_same("{ ", '"a" :', ' "\\u00', '78y" ', "}") == [True] * 5


def test_it_waits_no_longer_once_a_word_differs() -> None:
    assert _says_the_same('{"a":"x', "z") == [True, False]


def test_it_waits_no_longer_once_it_cannot_be_json() -> None:
    assert _says_the_same('{"a":"', "\\qqqqqqqqqqqqq") == [True, False]
