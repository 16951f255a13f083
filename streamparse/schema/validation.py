"""Checks arguments against a JSON Schema, with jsonschema-rs, which is imported on use.

The draft is the one that `$schema` names, else 2020-12.  References are followed within the schema only: nothing is
ever fetched.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.util import find_spec
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import msgspec

from streamparse.findings import Finding, format_path, make_pointer, preview, truncate
from streamparse.schema.conversions import coerce_values, list_branches
from streamparse.schema.cost import Cost
from streamparse.schema.ecma_regex import make_engine_options
from streamparse.schema.rewriting import FORMATS, Rewriting

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError  # imported on use

MISSING: Final = "JSON Schema checks need `pip install jsonschema-rs`"
_LARGEST: Final = 4 << 20  # bound: characters of a schema as JSON
_DEEPEST_VALUE: Final = 150  # bound: Python's stack; `Limits.max_depth` is below it
_LARGEST_NUMBER: Final = 10**1000  # source: `Limits.max_number`; Python refuses to write numbers of many more digits

_CODES: Final = {
    "required": "missing_parameter",
    "additionalProperties": "extra_parameter",
    "unevaluatedProperties": "extra_parameter",
    "type": "wrong_type",
}
_SAYS_OF_OTHERS: Final = {"additionalProperties", "patternProperties", "unevaluatedProperties"}
_MOST: Final = 20  # bound: the findings of one call; more help no model
_BRANCHES: Final = 3  # bound: the branches of a choice that a message names
_PASSES: Final = 4  # bound: how often text in text is read
_MOST_STEPS: Final = 300_000_000  # bound: the seconds of one check, at some nanoseconds a step
_MOST_LOOKS: Final = 20_000  # bound: the seconds of listing errors, which makes a look a thousand times as expensive
_MOST_REPORTED: Final = 32 << 20  # bound: characters of values in the errors of one check; each takes several bytes

_TOO_LONG: Final = Finding("too_costly", "it takes too long to compare the arguments with the tool's schema")


class CompiledSchema:
    """What checks arguments against one schema, and the patterns of it that cannot be read and are not checked.

    Raises ValueError for a bad schema.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        import jsonschema_rs  # noqa: PLC0415 - an extra

        declared = schema.get("properties")
        self._declared = declared if isinstance(declared, dict) and not _SAYS_OF_OTHERS & schema.keys() else None
        rewriting = Rewriting(schema)
        self._unread = tuple(rewriting.unread)
        self._cost = Cost(rewriting.schema, rewriting.patterns, is_linear=rewriting.is_linear)
        try:
            self._validator = jsonschema_rs.validator_for(
                rewriting.schema,
                offline=True,
                validate_formats=True,
                formats=FORMATS,
                pattern_options=make_engine_options(rewriting.is_linear),
            )
        except jsonschema_rs.ValidationError as error:
            place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
            raise ValueError(f"{truncate(error.message)} (at ${place})") from error

    def check(
        self, arguments: dict[str, Any], *, coerce: bool, written: str = ""
    ) -> tuple[dict[str, Any], list[Finding]]:
        """Return the arguments, values of another type converted where nothing is lost, and the findings.

        The arguments that were given stay as they are; `written` is their text, if it is known.
        """
        found: list[Finding] = []
        if (problem := self._find_obstacle(arguments)) is not None:
            found = [problem]
        elif not self._validator.is_valid(arguments):
            arguments, found = self._mend(arguments, coerce, written)
        for source in self._unread:
            message = f"a pattern of the tool's schema cannot be read, and is not checked: {preview(source)}"
            found.append(Finding("unreadable_pattern", message, fatal=False))
        # Other parameters are permitted, but the model may have meant one of those that are declared.
        declared = arguments if self._declared is None else self._declared
        for name in (name for name in arguments if name not in declared):
            message = f"there is no parameter {preview(name)}"
            found.append(Finding("extra_parameter", message, make_pointer([name]), fatal=False))
        return arguments, found

    def _find_obstacle(self, arguments: dict[str, Any]) -> Finding | None:
        """Say what keeps the arguments from being checked."""
        try:
            size = len(msgspec.json.encode(arguments))
        except (TypeError, ValueError, RecursionError) as error:
            return Finding("invalid_value", f"the arguments are not JSON: {truncate(str(error))}")
        if self._cost.factor is not None and self._cost.factor * size <= _MOST_STEPS:
            return None
        return _TOO_LONG if self._cost.count_steps(arguments) > _MOST_STEPS else None

    def _mend(self, arguments: dict[str, Any], coerce: bool, written: str) -> tuple[dict[str, Any], list[Finding]]:
        """Convert the values that can be, from the outside in, and list the faults of the rest."""
        coerced: dict[tuple[Any, ...], Finding] = {}
        for number in range(_PASSES + 1):
            if self._cost.count_looks(arguments) > _MOST_LOOKS or self._cost.count_reported(arguments) > _MOST_REPORTED:
                message = "the arguments do not fit the tool's schema, and are too large to say where"
                return arguments, [*coerced.values(), Finding("invalid_value", message)]
            errors = list(self._validator.iter_errors(arguments))
            may_change = coerce and number < _PASSES and errors
            changed = coerce_values(errors, arguments, coerced, written) if may_change else None
            if changed is None:
                break
            arguments = changed
        found = dict.fromkeys(_make_finding(error) for error in errors[:_MOST])
        return arguments, [*coerced.values(), *found]


def compile_schema(schema: dict[str, Any]) -> CompiledSchema:
    """Return what checks arguments; it is kept for the next call.

    Raises ValueError for a bad schema, ModuleNotFoundError without jsonschema-rs.
    """
    if not has_validator():
        raise ModuleNotFoundError(MISSING)
    try:
        written = msgspec.json.encode(schema)
    except (TypeError, ValueError, RecursionError):
        return CompiledSchema(schema)
    if len(written) > _LARGEST:
        raise ValueError("it is too large")
    try:
        return _compile_kept(written)
    except ValueError:  # it may hold what JSON cannot: an infinite bound, a Decimal
        return CompiledSchema(schema)


@cache
def has_validator() -> bool:
    """Whether jsonschema-rs is installed."""
    return find_spec("jsonschema_rs") is not None


@lru_cache(maxsize=256)
def _compile_kept(written: bytes) -> CompiledSchema:
    return CompiledSchema(msgspec.json.decode(written))


def _make_finding(error: ValidationError) -> Finding:
    error = _find_closest(error)
    path = tuple(error.instance_path)
    wrong = {_get_code(branch[0]) for branch in list_branches(error)} or {_get_code(error)}
    code = wrong.pop() if len(wrong) == 1 else "invalid_value"
    return Finding(code, _format_place(path) + _describe_error(error), make_pointer(path))


def _get_code(error: ValidationError) -> str:
    return _CODES.get(error.kind.name, "invalid_value")


def _find_closest(error: ValidationError) -> ValidationError:
    """The error of the one branch of a choice that has the fewest; the error itself if there is no such branch."""
    branches = sorted(list_branches(error), key=len)
    if not branches or (len(branches) > 1 and len(branches[0]) == len(branches[1])):
        return error
    return _find_closest(branches[0][0])


def _describe_error(error: ValidationError) -> str:
    below = len(error.instance_path)
    firsts = [branch[0] for branch in list_branches(error)[:_BRANCHES]]
    parts = (_format_place(each.instance_path[below:]) + truncate(each.message) for each in firsts)
    return "; or ".join(dict.fromkeys(parts)) or truncate(error.message)


def _format_place(path: Iterable[Any]) -> str:
    return f"{name}: " if (name := format_path(path)) else ""


def find_excess(value: Any) -> str | None:
    """Say why a JSON value cannot be checked: it nests too deeply, or has too large a number; None if it can."""
    level = [value]
    for _ in range(_DEEPEST_VALUE + 1):
        below: list[Any] = []
        for each in level:
            for inner in each.values() if isinstance(each, dict) else each:
                if isinstance(inner, (dict, list)):
                    below.append(inner)
                elif isinstance(inner, float) and not isfinite(inner):
                    return "a number is not finite"
                elif isinstance(inner, int) and not -_LARGEST_NUMBER < inner < _LARGEST_NUMBER:
                    return "a number is too large"
        if not below:
            return None
        level = below
    return "the arguments nest too deeply"
