"""Checks arguments against a JSON Schema, with the jsonschema library (extra `schema`)."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from streamparse.repair.findings import Finding, pointer
from streamparse.repair.lossless import KEEP, converted
from streamparse.repair.validator import unresolvable, validator_of

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

__all__ = ["checked"]

_CODES: Final = {
    "required": "missing_parameter",
    "dependentRequired": "missing_parameter",
    "additionalProperties": "extra_parameter",
    "unevaluatedProperties": "extra_parameter",
    "type": "wrong_type",
}
_PASSES: Final = 4
"""A value that was text may hold text again."""
_SHOWN: Final = 200
_MOST: Final = 20
"""Findings of one call: more help no model."""


def checked(schema: dict[str, Any], arguments: dict[str, Any], *, coerce: bool) -> tuple[dict[str, Any], list[Finding]]:
    """Return the arguments, values of another type converted where nothing is lost, and what was found.

    The arguments that were given stay as they are.  Raises ModuleNotFoundError if jsonschema is not installed.
    """
    try:
        validator, unread = validator_of(schema)
    except ValueError as error:
        return arguments, [Finding("invalid_schema", f"the tool's schema cannot be read: {error}")]
    found: list[Finding] = []
    try:
        if coerce:
            arguments, found = _coerced(validator, arguments)
        problems = [_finding(error) for error, _ in zip(validator.iter_errors(arguments), range(_MOST), strict=False)]
    except RecursionError:
        problems = [Finding("invalid_value", "the arguments nest too deeply")]
    except OverflowError:  # of a number that `multipleOf` cannot divide
        problems = [Finding("invalid_value", "a number is too large")]
    except TimeoutError:
        problems = [Finding("invalid_value", "a text takes too long to compare with its pattern")]
    except re.error as error:  # `unevaluatedProperties` reads the patterns of properties itself
        problems = [_unread(str(error.pattern))]
    except unresolvable() as error:
        problems = [Finding("invalid_schema", f"the tool's schema refers to what is not there: {error}")]
    return arguments, [*found, *problems, *map(_unread, unread), *_undeclared(schema, arguments)]


def _unread(source: str) -> Finding:
    message = f"a pattern of the tool's schema cannot be read, and is not checked: {_shown(source)}"
    return Finding("unreadable_pattern", message, fatal=False)


def _coerced(validator: Validator, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
    """Convert, from the outside in, each value whose type is wrong and for which there is a lossless way."""
    found: list[Finding] = []
    for _ in range(_PASSES):
        changes = dict(_conversions(validator.iter_errors(arguments)))
        if not changes:
            break
        arguments = copy.deepcopy(arguments)
        for path, value in changes.items():
            parent: Any = arguments
            for step in path[:-1]:
                parent = parent[step]
            found.append(_coercion(path, parent[path[-1]], value))
            parent[path[-1]] = value
    return arguments, found


def _conversions(errors: Iterator[ValidationError]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield where a value can be converted, and to what; of the branches of a choice the first that works."""
    for error in errors:
        path = tuple(error.absolute_path)
        if error.context:
            first = next(((at, value) for at, value in _conversions(iter(error.context))), None)
            if first is not None:
                yield first
        elif error.validator == "type" and path:
            names: Any = error.validator_value
            names = [names] if isinstance(names, str) else names
            values = (converted(error.instance, name) for name in names)
            value = next((value for value in values if value is not KEEP), KEEP)
            if value is not KEEP:
                yield path, value


def _coercion(path: tuple[Any, ...], came: Any, became: Any) -> Finding:
    message = f"{_named(path)}: {_shown(came)} was read as {_shown(became)}"
    return Finding("coerced", message, pointer(path), fatal=False)


def _finding(error: ValidationError) -> Finding:
    code = _CODES.get(str(error.validator), "invalid_value")
    message = error.message if len(error.message) <= _SHOWN else error.message[: _SHOWN - 1] + "…"
    path = tuple(error.absolute_path)
    return Finding(code, f"{_named(path)}: {message}" if path else message, pointer(path))


def _undeclared(schema: dict[str, Any], arguments: dict[str, Any]) -> Iterator[Finding]:
    """Yield the parameters that a schema which permits others does not name."""
    declared = schema.get("properties")
    if not isinstance(declared, dict) or "additionalProperties" in schema or "patternProperties" in schema:
        return
    for name in arguments:
        if name not in declared:
            yield Finding("extra_parameter", f"there is no parameter {_shown(name)}", pointer([name]), fatal=False)


def _named(path: tuple[Any, ...]) -> str:
    return ".".join(str(step) for step in path)[:_SHOWN]


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
