"""Checks arguments against a JSON Schema, with jsonschema-rs (extra `schema`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from streamparse.repair.findings import Finding, cut, named, pointer, shown
from streamparse.schema.conversions import branches_of, coerce_values
from streamparse.schema.validator import CompiledSchema, compile_schema

__all__ = ["check_compiled", "check_schema"]

_CODES: Final = {
    "required": "missing_parameter",
    "additionalProperties": "extra_parameter",
    "unevaluatedProperties": "extra_parameter",
    "type": "wrong_type",
}
_SAYS_OF_OTHERS: Final = {"additionalProperties", "patternProperties", "unevaluatedProperties"}
_MOST: Final = 20
"""Findings of one call: more help no model."""
_BRANCHES: Final = 3
"""Branches of a choice that a message tells of."""
_PASSES: Final = 4
"""A value that was text may hold text again."""
_MOST_STEPS: Final = 300_000_000
"""Steps that one look at arguments may take, of some nanoseconds each."""
_MOST_LOOKS: Final = 20_000
"""Looks at a value that may be taken where each error is told: an error costs a thousand times what a look does."""
_MOST_TOLD: Final = 32 << 20
"""Characters of values that the errors of one look may hold together; they take several bytes each."""

_TOO_LONG: Final = Finding("too_costly", "it takes too long to compare the arguments with the tool's schema")


def check_schema(
    schema: dict[str, Any], arguments: dict[str, Any], *, coerce: bool
) -> tuple[dict[str, Any], list[Finding]]:
    """Return the arguments, values of another type converted where nothing is lost, and what was found.

    The arguments that were given stay as they are.  Raises ModuleNotFoundError if jsonschema-rs is not installed.
    """
    try:
        compiled = compile_schema(schema)
    except ValueError as error:
        return arguments, [Finding("invalid_schema", f"the tool's schema cannot be read: {error}")]
    return check_compiled(compiled, schema, arguments, coerce=coerce)


def check_compiled(
    compiled: CompiledSchema, schema: dict[str, Any], arguments: dict[str, Any], *, coerce: bool
) -> tuple[dict[str, Any], list[Finding]]:
    """Do as `check_schema` does, with a schema that is compiled."""
    found: list[Finding] = []
    problem = _look(compiled, arguments)
    if problem is not None:
        found = [problem]
    elif not compiled.validator.is_valid(arguments):
        arguments, found = _mend(compiled, arguments, coerce)
    if compiled.unread:
        found += map(_unread, compiled.unread)
    declared = schema.get("properties")
    if isinstance(declared, dict) and not _SAYS_OF_OTHERS & schema.keys():
        found += _undeclared(declared, arguments)
    return arguments, found


def _look(compiled: CompiledSchema, arguments: dict[str, Any]) -> Finding | None:
    """Say what keeps the arguments from being looked at."""
    try:
        size = len(msgspec.json.encode(arguments))
    except (TypeError, ValueError, RecursionError) as error:
        return Finding("invalid_value", f"the arguments are not JSON: {cut(str(error))}")
    if compiled.factor is not None and compiled.factor * size <= _MOST_STEPS:
        return None
    return _TOO_LONG if compiled.count_steps(arguments) > _MOST_STEPS else None


def _mend(compiled: CompiledSchema, arguments: dict[str, Any], coerce: bool) -> tuple[dict[str, Any], list[Finding]]:
    """Convert what can be, from the outside in, and tell what is wrong with the rest."""
    coerced: dict[tuple[Any, ...], Finding] = {}
    for number in range(_PASSES + 1):
        if compiled.count_looks(arguments) > _MOST_LOOKS or compiled.count_told(arguments) > _MOST_TOLD:
            message = "the arguments do not fit the tool's schema, and are too large to say where"
            return arguments, [*coerced.values(), Finding("invalid_value", message)]
        errors = list(compiled.validator.iter_errors(arguments))
        changed = coerce_values(errors, arguments, coerced) if coerce and number < _PASSES and errors else None
        if changed is None:
            break
        arguments = changed
    found = dict.fromkeys(_finding(error) for error in errors[:_MOST])
    return arguments, [*coerced.values(), *found]


def _unread(source: str) -> Finding:
    message = f"a pattern of the tool's schema cannot be read, and is not checked: {shown(source)}"
    return Finding("unreadable_pattern", message, fatal=False)


def _finding(error: Any) -> Finding:
    error = _closest(error)
    path = tuple(error.instance_path)
    wrong = {_code(branch[0]) for branch in branches_of(error)} or {_code(error)}
    return Finding(wrong.pop() if len(wrong) == 1 else "invalid_value", _at(path) + _message(error), pointer(path))


def _code(error: Any) -> str:
    return _CODES.get(error.kind.name, "invalid_value")


def _closest(error: Any) -> Any:
    """What is wrong in the one branch of a choice where least is; the error itself if there is no such branch."""
    branches = sorted(branches_of(error), key=len)
    if not branches or (len(branches) > 1 and len(branches[0]) == len(branches[1])):
        return error
    return _closest(branches[0][0])


def _message(error: Any) -> str:
    below = len(error.instance_path)
    told = [(branch[0].instance_path[below:], branch[0].message) for branch in branches_of(error)[:_BRANCHES]]
    return "; or ".join(dict.fromkeys(_at(path) + cut(message) for path, message in told)) or cut(error.message)


def _at(path: Iterable[Any]) -> str:
    return f"{name}: " if (name := named(path)) else ""


def _undeclared(declared: dict[str, Any], arguments: dict[str, Any]) -> Iterator[Finding]:
    """Yield the parameters that a schema which permits others does not name."""
    for name in arguments:
        if name not in declared:
            yield Finding("extra_parameter", f"there is no parameter {shown(name)}", pointer([name]), fatal=False)
