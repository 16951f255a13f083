"""Reads what a Python function takes: as a type to convert to, and as a JSON Schema.

The parameters become the fields of a msgspec Struct; msgspec writes its schema and, when a call comes,
checks the arguments and makes typed values of them.  What annotations say beyond it is read in `annotations`.
"""

from __future__ import annotations

import inspect
import json
import types
import typing
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec

from streamparse.schema.annotations import encoded, made, may_be_none, read_annotation, schema_of
from streamparse.schema.docstring import read_docstring
from streamparse.tools.context import is_context
from streamparse.tools.streamed import Streamed, is_streamed, read_streamed

__all__ = ["Described", "Signature", "check_streamed", "is_async", "join_definitions", "read_signature"]

NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Signature(msgspec.Struct, frozen=True):
    """What a function takes.

    `arguments` has a field for each parameter that can be given by name; `bound` are those that a model must
    not give: a `partial` has set them, or they take the `ToolContext`, as `context` does.  `streamed` are those that
    take a `Streamed`; `others` has a field for each of the rest.
    """

    arguments: type[msgspec.Struct]
    schema: dict[str, Any]
    description: str
    bound: frozenset[str] = frozenset()
    context: str | None = None
    streamed: frozenset[str] = frozenset()
    others: type[msgspec.Struct] | None = None

    def convert(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Make typed values of JSON ones; what is not given is left to the function's own defaults.

        Raises `msgspec.ValidationError` if they do not fit.
        """
        return self._convert(arguments, self.arguments)

    def convert_others(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Do the same with all arguments but those that are streamed."""
        return self._convert(arguments, self.others or self.arguments)

    def _convert(self, arguments: dict[str, Any], kind: type[msgspec.Struct]) -> dict[str, Any]:
        values = msgspec.convert(arguments, kind, str_keys=True, dec_hook=made)
        if replaced := self.bound & arguments.keys():  # a function with `**options` takes every name
            raise msgspec.ValidationError(f"Object contains unknown field `{min(replaced)}`")
        known = kind.__struct_fields__
        return {name: getattr(values, name) if name in known else value for name, value in arguments.items()}


class Described:
    """Something to call that brings its signature: its annotations are not read."""

    signature: Signature


def read_signature(function: Callable[..., Any]) -> Signature:
    """Read a function's annotations, defaults and docstring.

    Raises TypeError if no call by name can be made, or if an annotation has no JSON form.
    """
    if isinstance(function, Described):
        return function.signature
    name = getattr(function, "__name__", type(function).__name__)
    try:
        parameters = inspect.signature(function).parameters.values()
        takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters)
        hints = _hints(function)
        context = next((each.name for each in parameters if is_context(hints.get(each.name))), None)
        streamed = _find_streamed(function, hints)
        fields = list(_fields(function, parameters, hints | streamed, context))
        arguments = msgspec.defstruct("arguments", fields, kw_only=True, forbid_unknown_fields=not takes_any)
        rest = [field for field in fields if field[0] not in streamed]
        others = msgspec.defstruct("others", rest, kw_only=True, forbid_unknown_fields=not takes_any)
        schema = _schema(arguments)
    except (TypeError, ValueError, NameError) as error:
        raise TypeError(f"the function {name!r} cannot be a tool: {error}") from error
    documented = read_docstring(_annotated(function).__doc__)
    _describe(schema, parameters, documented.parameters)
    bound = _bound_names(function) | ({context} if context is not None else frozenset())
    taken = frozenset(streamed) & {name for name, _, _ in fields}
    return Signature(
        arguments, schema, documented.description, bound, context, taken, others if taken else None
    )  # fmt: skip


def check_streamed(function: Callable[..., Any]) -> None:
    """Raise TypeError for a streamed parameter that cannot be, where the annotations are not read for their schema."""
    annotations = getattr(_annotated(function), "__annotations__", {}).values()
    if not isinstance(function, Described) and any(Streamed.__name__ in str(each) for each in annotations):
        read_signature(function)


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling the function gives an awaitable at once."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _find_streamed(function: Callable[..., Any], hints: dict[str, Any]) -> dict[str, Any]:
    """The parameters that are streamed, with the annotations of their whole texts."""
    streamed = {name: read_streamed(hint) for name, hint in hints.items() if name != "return" and is_streamed(hint)}
    if streamed and not is_async(function):
        raise TypeError(f"its parameter {min(streamed)!r} is streamed, which only a coroutine function can read")
    return streamed


def _bound_names(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(function.keywords) if isinstance(function, partial) else frozenset()


def _annotated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Where the docstring is, and the annotations.

    That is the function itself, the class, what a partial or another object wraps, or an object's `__call__`.
    """
    while not (inspect.isroutine(function) or isinstance(function, type)):
        inner = function.func if isinstance(function, partial) else getattr(function, "__wrapped__", None)
        if inner is None:
            return type(function).__call__
        function = inner
    return function


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations by name; those that are text may name what is around the function."""
    annotated = _annotated(function)
    if isinstance(annotated, type):
        beside = annotated.__dict__.get("__init__")
        own = typing.get_type_hints(beside, include_extras=True) if inspect.isfunction(beside) else {}
        return typing.get_type_hints(annotated, include_extras=True) | own
    inmost = inspect.unwrap(annotated)
    around = _around(inmost) if inspect.isfunction(inmost) else None
    return typing.get_type_hints(annotated, localns=around, include_extras=True)


def _around(function: types.FunctionType) -> dict[str, Any]:
    """What the function itself has from around it, and the locals of the call in which it was defined, if that runs."""
    frame = inspect.currentframe()
    while frame is not None and not any(each is function.__code__ for each in frame.f_code.co_consts):
        frame = frame.f_back
    return {**(frame.f_locals if frame is not None else {}), **_taken_along(function)}


def _taken_along(function: types.FunctionType) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not yet assigned, as the function's own name while it is decorated
            continue
    return found


def _fields(
    function: Callable[..., Any],
    parameters: typing.ValuesView[inspect.Parameter],
    hints: dict[str, Any],
    context: str | None,
) -> Iterator[tuple[str, Any, Any]]:
    bound = _bound_names(function)
    for parameter in parameters:
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.default is parameter.empty:
            raise TypeError(f"its parameter {parameter.name!r} cannot be given by name")
        hidden = parameter.name in bound or parameter.name == context  # a model must not replace what was bound
        if parameter.kind not in NAMED or hidden:
            continue
        required = parameter.default is parameter.empty
        field = msgspec.field() if required else msgspec.field(default_factory=_unset)
        yield parameter.name, _hint(hints.get(parameter.name, Any), parameter.default), field


def _hint(annotation: Any, default: Any) -> Any:
    """The type of a parameter, which may be None where that is its default."""
    hint = read_annotation(annotation)
    return hint if default is not None or may_be_none(hint) else hint | None


def _unset() -> msgspec.UnsetType:
    return msgspec.UNSET


def _schema(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    brought: dict[str, Any] = {}

    def hook(kind: Any) -> dict[str, Any]:
        schema = schema_of(kind)
        join_definitions(brought, schema.pop("$defs", {}))  # references lead to the root of all
        return schema

    (root,), definitions = msgspec.json.schema_components([arguments], schema_hook=hook, ref_template="#/$defs/{name}")
    schema = definitions.pop(root["$ref"].removeprefix("#/$defs/"))
    del schema["title"]
    if not schema["required"]:
        del schema["required"]
    join_definitions(definitions, brought)
    return {**schema, "$defs": definitions} if definitions else schema


def join_definitions(definitions: dict[str, Any], more: dict[str, Any]) -> None:
    """Add definitions of types to others.  Raises TypeError if two types that differ have one name."""
    for name, definition in more.items():
        if definitions.setdefault(name, definition) != definition:
            raise TypeError(f"two of its types have the name {name!r}")


def _describe(schema: dict[str, Any], parameters: typing.ValuesView[inspect.Parameter], texts: dict[str, str]) -> None:
    """Add to the schema what msgspec does not know: the docstring's texts, and the defaults that JSON can hold."""
    for parameter in parameters:
        described = schema["properties"].get(parameter.name)
        if described is None:
            continue
        if texts.get(parameter.name):
            described.setdefault("description", texts[parameter.name])
        if parameter.default is not parameter.empty:
            try:
                default = msgspec.to_builtins(parameter.default, enc_hook=encoded)
                json.dumps(default, allow_nan=False)
            except (TypeError, ValueError, RecursionError, NotImplementedError):  # a sentinel object, say, or infinity
                continue
            described.setdefault("default", default)
