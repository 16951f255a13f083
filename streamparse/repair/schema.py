"""Checks arguments against a JSON Schema, with the jsonschema library (extra `schema`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from streamparse.repair.conversions import branches_of, coerced
from streamparse.repair.ecma import patience
from streamparse.repair.extent import nests_deeper
from streamparse.repair.findings import Finding, cut, named, pointer, shown
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
_SAYS_OF_OTHERS: Final = {"additionalProperties", "patternProperties", "unevaluatedProperties"}
_MOST: Final = 20
"""Findings of one call: more help no model."""
_BRANCHES: Final = 3
"""Branches of a choice that a message tells of."""
_DEEP: Final = 30
"""Brackets in arguments that are not enough to exhaust the stack, unless the schema leads round in a circle."""


def checked(schema: dict[str, Any], arguments: dict[str, Any], *, coerce: bool) -> tuple[dict[str, Any], list[Finding]]:
    """Return the arguments, values of another type converted where nothing is lost, and what was found.

    The arguments that were given stay as they are.  Raises ModuleNotFoundError if jsonschema is not installed.
    """
    try:
        validator, unread = validator_of(schema)
    except ValueError as error:
        return arguments, [Finding("invalid_schema", f"the tool's schema cannot be read: {error}")]
    with patience():
        arguments, found = _looked_at(validator, arguments, coerce)
    return arguments, [*dict.fromkeys(found), *map(_unread, unread), *_undeclared(schema, arguments)]


def _looked_at(
    validator: Validator, arguments: dict[str, Any], coerce: bool
) -> tuple[dict[str, Any], Iterable[Finding]]:
    found: list[Finding] = []
    try:
        if coerce:
            arguments, found = coerced(validator, arguments)
        errors = zip(validator.iter_errors(arguments), range(_MOST), strict=False)
        found += [_finding(error) for error, _ in errors]
    except RecursionError:
        found.append(_endless(arguments))
    except OverflowError:  # of a number that `multipleOf` cannot divide
        found.append(Finding("invalid_value", "a number is too large"))
    except TimeoutError:
        found.append(Finding("invalid_value", "a text takes too long to compare with its pattern"))
    except unresolvable() as error:
        found.append(_unresolved(error))
    return arguments, found


def _endless(arguments: dict[str, Any]) -> Finding:
    if nests_deeper(arguments, _DEEP):
        return Finding("invalid_value", "the arguments nest too deeply")
    return Finding("invalid_schema", "the tool's schema refers to itself without end")


def _unresolved(error: Any) -> Finding:
    return Finding("invalid_schema", f"the tool's schema refers to what is not there: {cut(str(error.ref))}")


def _unread(source: str) -> Finding:
    message = f"a pattern of the tool's schema cannot be read, and is not checked: {shown(source)}"
    return Finding("unreadable_pattern", message, fatal=False)


def _finding(error: ValidationError) -> Finding:
    error = _closest(error)
    path = tuple(error.absolute_path)
    wrong = {str(each.validator) for each, *_ in branches_of(error)} or {str(error.validator)}
    code = _CODES.get(wrong.pop(), "invalid_value") if len(wrong) == 1 else "invalid_value"
    return Finding(code, _at(path) + _message(error), pointer(path))


def _closest(error: ValidationError) -> ValidationError:
    """What is wrong in the one branch of a choice where least is; the error itself if there is no such branch."""
    branches = sorted(branches_of(error), key=len)
    if not branches or (len(branches) > 1 and len(branches[0]) == len(branches[1])):
        return error
    return _closest(branches[0][0])


def _message(error: ValidationError) -> str:
    reasons = dict.fromkeys(_at(each.relative_path) + cut(each.message) for each, *_ in branches_of(error)[:_BRANCHES])
    return "; or ".join(reasons) or cut(error.message)


def _at(path: Iterable[Any]) -> str:
    return f"{name}: " if (name := named(path)) else ""


def _undeclared(schema: dict[str, Any], arguments: dict[str, Any]) -> Iterator[Finding]:
    """Yield the parameters that a schema which permits others does not name."""
    declared = schema.get("properties")
    if not isinstance(declared, dict) or _SAYS_OF_OTHERS & schema.keys():
        return
    for name in arguments:
        if name not in declared:
            yield Finding("extra_parameter", f"there is no parameter {shown(name)}", pointer([name]), fatal=False)
