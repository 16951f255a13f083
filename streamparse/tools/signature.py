"""Reads what a Python function takes: as a type to convert to, and as a JSON Schema.

The parameters become the fields of a msgspec Struct; msgspec writes its schema and, when a call comes,
checks the arguments and makes typed values of them.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec

from streamparse.tools.docstring import read_docstring

__all__ = ["Signature", "read_signature"]

NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Signature(msgspec.Struct, frozen=True):
    """What a function takes.

    `arguments` has a field for each parameter that can be given by name.
    """

    arguments: type[msgspec.Struct]
    schema: dict[str, Any]
    description: str

    def convert(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Make typed values of JSON ones; what is not given is left to the function's own defaults.

        Raises `msgspec.ValidationError` if they do not fit.
        """
        values = msgspec.convert(arguments, self.arguments, str_keys=True)
        known = self.arguments.__struct_fields__
        return {name: getattr(values, name) if name in known else value for name, value in arguments.items()}


def read_signature(function: Callable[..., Any]) -> Signature:
    """Read a function's annotations, defaults and docstring.

    Raises TypeError if no call by name can be made, or if an annotation has no JSON form.
    """
    name = getattr(function, "__name__", type(function).__name__)
    try:
        parameters = inspect.signature(function).parameters.values()
        hints = typing.get_type_hints(_annotated(function), include_extras=True)
        takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters)
        fields = list(_fields(function, parameters, hints))
        arguments = msgspec.defstruct("arguments", fields, kw_only=True, forbid_unknown_fields=not takes_any)
        schema = _schema(arguments)
    except (TypeError, ValueError, NameError) as error:
        raise TypeError(f"the function {name!r} cannot be a tool: {error}") from error
    documented = read_docstring(_annotated(function).__doc__)
    _describe(schema, parameters, documented.parameters)
    return Signature(arguments, schema, documented.description)


def _annotated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Where the annotations are: on the function itself, on what a partial wraps, or on `__call__`."""
    while isinstance(function, partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


def _fields(
    function: Callable[..., Any], parameters: typing.ValuesView[inspect.Parameter], hints: dict[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    bound = function.keywords if isinstance(function, partial) else {}
    for parameter in parameters:
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise TypeError(f"its parameter {parameter.name!r} cannot be given by name")
        if parameter.kind not in NAMED or parameter.name in bound:  # a model must not replace what was bound
            continue
        required = parameter.default is parameter.empty
        field = msgspec.field() if required else msgspec.field(default_factory=_unset)
        yield parameter.name, hints.get(parameter.name, Any), field


def _unset() -> msgspec.UnsetType:
    return msgspec.UNSET


def _schema(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    (root,), definitions = msgspec.json.schema_components([arguments], ref_template="#/$defs/{name}")
    schema = definitions.pop(root["$ref"].removeprefix("#/$defs/"))
    del schema["title"]
    if not schema["required"]:
        del schema["required"]
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
                described.setdefault("default", msgspec.to_builtins(parameter.default))
            except (TypeError, RecursionError):  # a sentinel object, say
                continue
