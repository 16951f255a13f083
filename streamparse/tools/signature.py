"""Reads what a Python function takes: as a type to convert to, and as a JSON Schema.

The parameters become the fields of a msgspec Struct; msgspec writes its schema and, when a call comes,
checks the arguments and makes typed values of them.  What annotations say beyond msgspec is read in
`streamparse.schema.annotations`.
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

from streamparse.schema.annotations import can_be_none, encode_value, make_value, read_annotation, read_schemas
from streamparse.schema.docstring import read_docstring
from streamparse.tools.context import Streamed, is_context, read_streamed

# Keywords by which a schema may have more properties than it lists
_COMPOUND = ("$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Signature(msgspec.Struct, frozen=True):
    """What a function takes.

    `arguments` has a field for each parameter that can be given by name; `bound` are those that a model must
    not give: a `partial` has set them, or they take the `ToolContext`, as `context` does.  `streamed` are those that
    take a `Streamed`; `others` has a field for each of the rest.  `keywords` is the type of what `**options` takes.
    """

    arguments: type[msgspec.Struct]
    schema: dict[str, Any]
    description: str
    bound: frozenset[str] = frozenset()
    context: str | None = None
    streamed: frozenset[str] = frozenset()
    others: type[msgspec.Struct] | None = None
    keywords: Any = Any

    def convert(self, arguments: dict[str, Any], *, without_streamed: bool = False) -> dict[str, Any]:
        """Make typed values of JSON ones; missing arguments are left to the function's own defaults.

        With `without_streamed` the arguments that are streamed are neither required nor known.
        Raises `msgspec.ValidationError` if they do not fit.
        """
        kind = self.others if without_streamed and self.others is not None else self.arguments
        values = msgspec.convert(arguments, kind, str_keys=True, dec_hook=make_value)
        if replaced := self.bound & arguments.keys():  # a function with `**options` takes every name
            raise msgspec.ValidationError(f"Object contains unknown field `{min(replaced)}`")
        known = kind.__struct_fields__
        return {
            name: getattr(values, name) if name in known else self._convert_keyword(name, value)
            for name, value in arguments.items()
        }

    def _convert_keyword(self, name: str, value: Any) -> Any:
        if self.keywords is Any:
            return value
        try:
            return msgspec.convert(value, self.keywords, str_keys=True, dec_hook=make_value)
        except msgspec.ValidationError as error:
            raise msgspec.ValidationError(f"{error} - at `$.{name}`") from None


class Described:
    """A callable that brings its signature: its annotations are not read."""

    signature: Signature


def read_signature(function: Callable[..., Any]) -> Signature:
    """Read a function's annotations, defaults and docstring.

    Raises TypeError if no call by name can be made, or if an annotation has no JSON form.
    """
    if isinstance(function, Described):
        return function.signature
    name = getattr(function, "__name__", type(function).__name__)
    bound = frozenset(function.keywords) if isinstance(function, partial) else frozenset[str]()
    try:
        parameters = inspect.signature(function).parameters.values()
        hints = _read_hints(function)
        context = next((each.name for each in parameters if is_context(hints.get(each.name))), None)
        bound |= {context} if context is not None else set()
        streamed = _find_streamed(function, hints)
        fields = list(_make_fields(parameters, hints | streamed, bound))
        is_closed = all(each.kind is not each.VAR_KEYWORD for each in parameters)
        arguments, others = (
            msgspec.defstruct("arguments", some, kw_only=True, forbid_unknown_fields=is_closed)
            for some in (fields, [field for field in fields if field[0] not in streamed])
        )
        keywords = _find_keywords(parameters, hints)
        schema = _write_schema(arguments, keywords)
    except (TypeError, ValueError, NameError, RuntimeError) as error:  # msgspec has no field with a name like `__x`
        raise TypeError(f"the function {name!r} cannot be a tool: {error}") from error
    documented = read_docstring(_find_annotated(function).__doc__)
    _describe(schema, parameters, documented.parameters)
    taken = frozenset(streamed) & set(arguments.__struct_fields__)
    rest = others if taken else None
    return Signature(arguments, schema, documented.description, bound, context, taken, rest, keywords)


def check_streamed(function: Callable[..., Any]) -> None:
    """Raise TypeError for a streamed parameter that cannot be, where the annotations are not read for their schema."""
    annotations = getattr(_find_annotated(function), "__annotations__", {}).values()
    if not isinstance(function, Described) and any(Streamed.__name__ in str(each) for each in annotations):
        read_signature(function)


def find_misfit(function: Callable[..., Any], schema: dict[str, Any]) -> str | None:
    """Say why a function cannot be called with what a JSON Schema of its arguments describes; None if it can.

    A schema whose properties are not all known (`$ref`, `anyOf`, none at all) fits.
    """
    properties = schema.get("properties")
    if not isinstance(properties, dict) or isinstance(function, Described):
        return None
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # of C
        return None
    try:
        bound = read_signature(function).bound
    except TypeError:  # annotations that JSON does not have: its arguments are passed as they come
        bound = frozenset(function.keywords) if isinstance(function, partial) else frozenset()
    named = {name: each for name, each in parameters.items() if each.kind in _NAMED and name not in bound}
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    unknown = [name for name in properties if name not in named and not takes_any]
    is_closed = all(keyword not in schema for keyword in _COMPOUND)
    required = [name for name, each in named.items() if each.default is each.empty and is_closed]
    missing = [name for name in required if name not in properties]
    if unknown:
        return f"its function takes no {', '.join(map(repr, unknown))}, which the schema has"
    if missing:
        hint = "; a context is annotated ToolContext" if missing == ["ctx"] else ""
        return f"its function needs {', '.join(map(repr, missing))}, which the schema does not have{hint}"
    return None


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling the function gives an awaitable at once."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _find_streamed(function: Callable[..., Any], hints: dict[str, Any]) -> dict[str, Any]:
    """The parameters that are streamed, with the annotations of their whole texts."""
    texts = {name: read_streamed(hint) for name, hint in hints.items() if name != "return"}
    streamed = {name: text for name, text in texts.items() if text is not None}
    if streamed and not is_async(function):
        raise TypeError(f"its parameter {min(streamed)!r} is streamed, which only a coroutine function can read")
    return streamed


def _find_annotated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what has the docstring and the annotations.

    It is the function itself, the class, what a partial or another object wraps, or an object's `__call__`.
    """
    while not (inspect.isroutine(function) or isinstance(function, type)):
        inner = function.func if isinstance(function, partial) else getattr(function, "__wrapped__", None)
        if inner is None:
            return type(function).__call__
        function = inner
    return function


def _read_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations by name; those that are text may name local variables around the function."""
    annotated = _find_annotated(function)
    if isinstance(annotated, type):
        init = annotated.__dict__.get("__init__")
        own = typing.get_type_hints(init, include_extras=True) if inspect.isfunction(init) else {}
        return typing.get_type_hints(annotated, include_extras=True) | own
    inmost = inspect.unwrap(annotated)
    around = _read_locals(inmost) if inspect.isfunction(inmost) else None
    return typing.get_type_hints(annotated, localns=around, include_extras=True)


def _read_locals(function: types.FunctionType) -> dict[str, Any]:
    """The variables that the function closes over, and the locals of the call that defines it, if that still runs."""
    frame = inspect.currentframe()
    while frame is not None and not any(each is function.__code__ for each in frame.f_code.co_consts):
        frame = frame.f_back
    return {**(frame.f_locals if frame is not None else {}), **_read_closure(function)}


def _read_closure(function: types.FunctionType) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not yet assigned, as the function's own name while it is decorated
            continue
    return found


def _make_fields(
    parameters: typing.ValuesView[inspect.Parameter], hints: dict[str, Any], bound: frozenset[str]
) -> Iterator[tuple[str, Any, Any]]:
    for parameter in parameters:
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.default is parameter.empty:
            raise TypeError(f"its parameter {parameter.name!r} cannot be given by name")
        if parameter.kind not in _NAMED or parameter.name in bound:  # a model must not replace a bound argument
            continue
        required = parameter.default is parameter.empty
        field = msgspec.field() if required else msgspec.field(default_factory=lambda: msgspec.UNSET)
        hint = read_annotation(hints.get(parameter.name, Any))
        can_be_missing = parameter.default is not None or can_be_none(hint)
        yield parameter.name, hint if can_be_missing else hint | None, field


def _find_keywords(parameters: typing.ValuesView[inspect.Parameter], hints: dict[str, Any]) -> Any:
    """Find the type of each argument that `**options` takes; Any where there is none that JSON can hold."""
    hint = next((hints.get(each.name, Any) for each in parameters if each.kind is each.VAR_KEYWORD), Any)
    if hint is Any:
        return Any
    kind = read_annotation(hint)
    try:
        read_schemas([kind])
    except (TypeError, NotImplementedError):  # also `Unpack[...]`, which is no type of one of them
        return Any
    return kind


def _write_schema(arguments: type[msgspec.Struct], keywords: Any) -> dict[str, Any]:
    (root, *more), definitions = read_schemas([arguments, *([] if keywords is Any else [keywords])])
    schema = definitions.pop(root["$ref"].removeprefix("#/$defs/"))
    del schema["title"]
    if not schema["required"]:
        del schema["required"]
    if any(more):
        schema["additionalProperties"] = more[0]
    return {**schema, "$defs": definitions} if definitions else schema


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
                default = msgspec.to_builtins(parameter.default, enc_hook=encode_value)
                json.dumps(default, allow_nan=False, ensure_ascii=False).encode()
            except (TypeError, ValueError, RecursionError, NotImplementedError):
                continue  # a sentinel, infinity, half a surrogate
            described.setdefault("default", default)
