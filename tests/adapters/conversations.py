"""What the tests of the adapters send around: strategies for tools, calls and results, and a picture."""

from __future__ import annotations

import base64
import json
from typing import Any

from hypothesis import strategies as st

import streamparse as sp

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(16)).decode()

names = st.from_regex(r"[a-z_][a-z0-9_]{0,20}", fullmatch=True)
texts = st.text(st.characters(codec="utf-8"), max_size=20)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
objects = st.dictionaries(texts, values, max_size=4)
ids = st.from_regex(r"[a-zA-Z0-9]{9}", fullmatch=True)  # what every provider takes


def _leaves() -> st.SearchStrategy[dict[str, Any]]:
    described = {"description": texts.filter(bool)}
    return st.one_of(
        st.fixed_dictionaries(
            {"type": st.sampled_from(["string", "integer", "number", "boolean"])}, optional=described
        ),
        st.fixed_dictionaries(
            {"type": st.sampled_from([["string", "null"], ["null", "integer"], ["string", "integer"]])}
        ),
        st.fixed_dictionaries({"type": st.just("string"), "enum": st.lists(texts, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"type": st.just("integer"), "enum": st.just([1, 2]), "minimum": st.just(1)}),
        st.fixed_dictionaries({"const": scalars.filter(lambda value: value is not None)}),
        st.fixed_dictionaries({"type": st.just("string"), "format": st.sampled_from(["date-time", "uri", "uuid"])}),
        st.fixed_dictionaries({"type": st.just("integer"), "exclusiveMinimum": st.just(0), "default": st.just(3)}),
    )


def _compound(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    closed = {"additionalProperties": st.booleans(), "required": st.just([])}
    members = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}, optional={"minItems": st.just(1)}),
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(names, inner, max_size=3)}, optional=closed
        ),
        st.fixed_dictionaries({"anyOf": members}),
        st.fixed_dictionaries({"oneOf": members}),
        st.fixed_dictionaries({"anyOf": st.tuples(inner, st.just({"type": "null"})).map(list)}),
    )


schemas = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.dictionaries(names, st.recursive(_leaves(), _compound, max_leaves=4), max_size=4),
    },
    optional={"required": st.just([]), "additionalProperties": st.just(False)},
)

tools = st.builds(sp.Tool, names, texts, schemas)
calls = st.builds(sp.ToolCall, names, objects, ids)

_json_texts = values.map(json.dumps) | values.map(lambda value: json.dumps(value, separators=(",", ":")))
_error_texts = st.builds(
    lambda text, around: '{"output":' * around + json.dumps({"error": text}, separators=(",", ":")) + "}" * around,
    texts,
    st.integers(0, 3),
)
said = texts | _json_texts | _error_texts
"""What tools return and say of their failure: any text, also one that is JSON, or what is written for an error."""

results = st.one_of(
    st.builds(sp.ToolResult, ids, names, said.filter(lambda text: text == "" or text.strip())),
    st.builds(lambda id, name, error: sp.ToolResult(id, name, error=error), ids, names, said.filter(str.strip)),
)
value_results = st.builds(sp.ToolResult, ids, names, values)


def parsed(*events: dict[str, Any], wire: str) -> sp.ParsedResponse:
    """The answer that these messages of a wire are."""
    parser = sp.StreamParser(wire)
    for event in events:
        parser.feed(event)
    parser.close()
    return parser.response
