"""Makes a tool of an output type: the model gives its final answer by calling it.

| type | the tool's parameters |
|---|---|
| a dataclass, `msgspec.Struct`, `TypedDict`, `NamedTuple`, a model of pydantic or attrs | its fields |
| any other: `list[int]`, `Literal["yes", "no"]`, `Invoice \\| Refund`, `str` | `answer`, of that type |

A type's docstring is the tool's description.  The fields get their descriptions from it, or from texts in `Annotated`.
A call with a field that the type does not have is refused.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from streamparse.schema.annotations import describe_annotation, is_union, make_value, read_annotation, read_schemas
from streamparse.schema.docstring import read_docstring
from streamparse.tools.declaration import Tool, bind
from streamparse.tools.signature import Described, Signature

JSONObject = dict[str, Any]

# The parameter of a type that has no fields of its own.
_ANSWER: Final = "answer"
_PURPOSE: Final = "Give the final answer. This ends the task."
_RECEIVED: Final = "The final answer was received."


def make_output_tool(output_type: Any, name: str = "final_answer", description: str = "") -> Tool:
    """Return the tool whose arguments are a value of the type; a call of it ends the agent's run.

    Its schema is that of the type, whole, and a call passes the gate like that of any tool; `read_output` makes the
    value of the arguments.  Without a `description` it is the type's docstring.

    Raises TypeError if the type has no JSON Schema.
    """
    return Tool(name, description, function=_Output(output_type), effect="read", ends=True, retries=0)


def read_output(tool: Tool, arguments: JSONObject) -> Any:
    """Return the value of the output type that the arguments of its tool are.

    Raises InvalidArguments if they do not fit it, and TypeError if the tool was not made by `make_output_tool`.
    """
    if not isinstance(tool.function, _Output):
        raise TypeError(f"the tool {tool.name!r} was not made of an output type")
    return bind(tool, arguments)["output"]


class _Output(Described):
    """The function of such a tool.  The agent reads the value itself; the model reads that it has arrived."""

    def __init__(self, output_type: Any) -> None:
        self.signature = _read_output_type(output_type)

    async def __call__(self, output: Any) -> str:  # noqa: ARG002 - made of the arguments, to see that it can be
        return _RECEIVED


class _Member(NamedTuple):
    """A type to convert to, a function that makes the user's value of the result, and the fields that there may be."""

    kind: Any
    finish: Callable[[Any], Any] | None = None
    fields: frozenset[str] | None = None

    def convert(self, value: Any) -> Any:
        """Raise `msgspec.ValidationError` if the JSON value does not fit this type."""
        if self.fields is not None and isinstance(value, dict):
            unknown = next((key for key in value if key not in self.fields), None)
            if unknown is not None:
                raise msgspec.ValidationError(f"Object contains unknown field `{unknown}`")
        converted = msgspec.convert(value, self.kind, str_keys=True, dec_hook=make_value)
        return converted if self.finish is None else self.finish(converted)


class _OutputSignature(Signature, frozen=True):
    """The signature of an `_Output`; several `members` make a choice that msgspec cannot."""

    members: tuple[_Member, ...] = ()
    is_wrapped: bool = False

    def convert(self, arguments: JSONObject, **_: bool) -> JSONObject:  # none of them is streamed
        """Make the value, under the name `output`.  Raises `msgspec.ValidationError` if the arguments do not fit."""
        value = msgspec.convert(arguments, _Wrapper).answer if self.is_wrapped else arguments
        return {"output": _choose(value, self.members)}


class _Wrapper(msgspec.Struct, forbid_unknown_fields=True):
    """The arguments of a type that has no fields of its own."""

    answer: Any


def _choose(value: Any, members: tuple[_Member, ...]) -> Any:
    """The value as the first of the members that it fits."""
    problems = []
    for member in members:
        try:
            return member.convert(value)
        except msgspec.ValidationError as error:
            problems.append(str(error))
    raise msgspec.ValidationError("; or ".join(problems))


def _read_output_type(output_type: Any) -> _OutputSignature:
    try:
        members = _read_members(output_type)
        roots, definitions = read_schemas([member.kind for member in members])
        objects = [_find_object(root, definitions) for root in roots]
        if len(members) == 1 and objects[0] is not None:
            schema = {"additionalProperties": False, **objects[0]}
            definitions = _drop_unused(definitions, roots[0], schema)
            _describe_fields(schema["properties"], output_type)
        else:
            schema = _write_wrapper(roots)
    except (TypeError, NotImplementedError, NameError, RecursionError) as error:
        raise TypeError(f"{output_type!r} cannot be an output type: {error}") from error
    members = tuple(member._replace(fields=_find_fields(found)) for member, found in zip(members, objects, strict=True))
    text = read_docstring(_find_docstring(output_type)).description or describe_annotation(output_type)
    description = f"{text}\n\n{_PURPOSE}" if text else _PURPOSE
    if definitions:
        schema["$defs"] = definitions
    is_wrapped = len(members) > 1 or objects[0] is None
    return _OutputSignature(msgspec.Struct, schema, description, members=members, is_wrapped=is_wrapped)


def _write_wrapper(roots: list[JSONObject]) -> JSONObject:
    """The schema of an object whose one field is a value of one of these."""
    answer = roots[0] if len(roots) == 1 else {"anyOf": roots}
    return {"type": "object", "properties": {_ANSWER: answer}, "required": [_ANSWER], "additionalProperties": False}


def _read_members(output_type: Any) -> tuple[_Member, ...]:
    """The type itself, or the members of a choice that msgspec cannot convert to: several types with fields, say."""
    kind = read_annotation(output_type)
    plain = kind
    while typing.get_origin(plain) is typing.Annotated:
        plain = plain.__origin__
    if _is_named_tuple(plain):
        return (_read_named_tuple(plain),)
    if is_union(plain) and not _is_native(kind):
        return tuple(member for each in typing.get_args(plain) for member in _read_members(each))
    return (_Member(kind),)


def _is_native(union: Any) -> bool:
    """Whether msgspec can tell apart the types of a choice, and reads each as it should be."""
    try:
        msgspec.inspect.type_info(union)
    except TypeError:
        return False
    return not any(map(_is_named_tuple, typing.get_args(union)))


def _is_named_tuple(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def _read_named_tuple(kind: Any) -> _Member:
    """A NamedTuple by its fields' names: msgspec reads it as a list."""
    hints = typing.get_type_hints(kind, include_extras=True)
    fields = [(name, read_annotation(hints.get(name, Any)), _make_field(kind, name)) for name in kind._fields]
    struct = msgspec.defstruct(kind.__name__, fields, kw_only=True)
    return _Member(struct, lambda value: kind(**msgspec.structs.asdict(value)))


def _make_field(kind: Any, name: str) -> Any:
    if name not in kind._field_defaults:
        return msgspec.field()
    default = kind._field_defaults[name]
    is_plain = default is None or isinstance(default, (str, int, float))
    return msgspec.field(default=default) if is_plain else msgspec.field(default_factory=lambda: default)


def _find_object(root: JSONObject, definitions: JSONObject) -> JSONObject | None:
    """The schema of a type that is an object with fields, without title and description; None for other types."""
    schema = definitions.get(root.get("$ref", "").removeprefix("#/$defs/"), root)
    if schema.get("type") != "object" or "properties" not in schema:
        return None
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


def _find_fields(schema: JSONObject | None) -> frozenset[str] | None:
    """The fields that an object may have; None if it may have any, or if it is not an object."""
    is_open = schema is None or schema.get("additionalProperties", False) is not False
    return None if schema is None or is_open else frozenset(schema["properties"])


def _drop_unused(definitions: JSONObject, root: JSONObject, schema: JSONObject) -> JSONObject:
    """The definitions without the type's own, unless something refers to it."""
    reference = root.get("$ref", "")
    others = {name: each for name, each in definitions.items() if f"#/$defs/{name}" != reference}
    is_recursive = reference and msgspec.json.encode(reference) in msgspec.json.encode([schema, others])
    return definitions if is_recursive else others


def _describe_fields(properties: JSONObject, output_type: Any) -> None:
    texts = read_docstring(_find_docstring(output_type)).parameters
    kind = _find_class(output_type)
    hints = {} if kind is None else typing.get_type_hints(kind, include_extras=True)
    is_struct = isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    names = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)) if is_struct else {}
    for name in {**hints, **texts}:
        text = describe_annotation(hints.get(name)) or texts.get(name)
        field = properties.get(names.get(name, name))
        if text and field is not None:
            field.setdefault("description", text)


def _find_class(output_type: Any) -> Any:
    """The user's class that an annotation names; None if it names no such class."""
    while typing.get_origin(output_type) is typing.Annotated:
        output_type = output_type.__origin__
    kind = typing.get_origin(output_type) or output_type
    is_users = isinstance(kind, type) and kind.__module__.partition(".")[0] not in sys.stdlib_module_names
    return kind if is_users else None


def _find_docstring(output_type: Any) -> str | None:
    """What the author of a class wrote; dataclasses and named tuples without a docstring make one of their own."""
    kind = _find_class(output_type)
    text = None if kind is None else vars(kind).get("__doc__")
    return text if isinstance(text, str) and not text.startswith(f"{kind.__name__}(") else None
