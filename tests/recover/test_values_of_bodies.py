"""A whole answer of any types is read up to a depth and a number of values; what is no message in it is said."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

import streamparse as sp
from streamparse.parser import to_builtins

MESSAGE = {"role": "assistant", "content": "Yes."}
BODY = {"object": "chat.completion", "choices": [{"message": MESSAGE, "finish_reason": "stop"}]}
WRAPPERS: dict[str, tuple[Callable[[Any], Any], int]] = {  # and how many levels each takes
    "dict": (lambda value: {"é": value}, 1),
    "list": (lambda value: [value], 1),
    "tuple": (lambda value: (value,), 1),
    "mapping": (lambda value: MappingProxyType({"a": value}), 1),
    "user's dict": (lambda value: UserDict({"a": value}), 1),
    "object": (lambda value: SimpleNamespace(a=value), 2),
}


def _read(body: Any) -> tuple[str, list[str]]:
    response = sp.parse_response(body, "openai-chat")
    return response.content, [error.code for error in response.errors]


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_value_in_an_answer_may_be_so_deep_whatever_it_is_made_of(
    wrapper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(to_builtins, "_MOST_DEPTH", 21)
    wrap, levels = WRAPPERS[wrapper]
    value: Any = 1
    for depth in range(1, 25):
        value = wrap(value)
        for inner in (value, [value]):
            is_read = 1 + depth * levels + (inner is not value) <= 21
            assert _read({**BODY, "x": inner}) == (("Yes.", []) if is_read else ("", ["unexpected_shape"]))


def test_an_answer_may_hold_so_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    for most in range(7, 11):
        monkeypatch.setattr(to_builtins, "_MOST_VALUES", most)
        assert _read(BODY) == (("Yes.", []) if most >= 8 else ("", ["unexpected_shape"])), most


@pytest.mark.parametrize("other", [None, 1, True, 1.5])
def test_what_is_no_message_is_said_wherever_it_stands_in_a_list(other: Any) -> None:
    for messages in ([BODY, other], [other, BODY]):
        assert _read(messages) == ("Yes.", ["unexpected_shape"])
