# ruff: noqa: ARG005 - only the parameters of these functions matter
"""A schema and a function that do not fit are a mistake of the program, and said when the tool is made."""

from functools import partial
from typing import Any

import pytest

from streamparse.tools import Tool, ToolContext

TWO = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a"]}


class Client:
    """A type that JSON does not have."""


def misfits() -> dict[str, tuple[Any, str]]:
    return {
        "takes too little": (lambda a: 1, "takes no 'b'"),
        "needs too much": (lambda a, b, c: 1, "needs 'c'"),
        "its context is not annotated": (lambda a, b, ctx: 1, "needs 'ctx'.*ToolContext"),
        "takes them by place": (lambda a, b, /: 1, "takes no 'a', 'b'"),
        "a partial has set one": (partial(lambda a, b: 1, b=2), "takes no 'b'"),
    }


@pytest.mark.parametrize("name", misfits())
def test_a_function_that_no_call_would_fit_is_refused(name):
    function, words = misfits()[name]
    with pytest.raises(TypeError, match=words):
        Tool("f", "d", TWO, function)


def with_context(a: int, b: int, ctx: ToolContext[Client]) -> int:
    return a


def with_client(a: int, b: int, client: Client | None = None) -> int:
    return a


FITTING = {
    "the same": lambda a, b: 1,
    "with defaults": lambda a, b=1, c=2: 1,
    "any keyword": lambda **given: 1,
    "a context": with_context,
    "a type that JSON does not have": with_client,
    "a partial": partial(lambda a, b, c: 1, c=2),
    "one of C, whose signature is not known": dict,
}


@pytest.mark.parametrize("name", FITTING)
def test_one_that_takes_them_all_is_a_tool(name):
    assert Tool("f", "d", TWO, FITTING[name]).parameters == TWO


@pytest.mark.parametrize("schema", [{"type": "object"}, {**TWO, "anyOf": [{"required": ["c"]}]}])
def test_a_schema_whose_properties_are_not_all_known_fits(schema):
    assert Tool("f", "d", schema, lambda a, b, c: 1).parameters == schema
