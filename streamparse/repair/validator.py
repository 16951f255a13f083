"""A validator of one schema: jsonschema's, with patterns read as ECMA-262 has them.

The dialect is the one that `$schema` names, else draft 2020-12.  References are followed within the schema only:
nothing is ever fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from streamparse.repair.ecma import compiled, found
from streamparse.repair.evaluated import evaluated
from streamparse.repair.findings import cut
from streamparse.repair.formats import checker

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

__all__ = ["unresolvable", "validator_of"]


def validator_of(schema: dict[str, Any]) -> tuple[Validator, tuple[str, ...]]:
    """Return what checks arguments, and the patterns of the schema that cannot be read and are not checked.

    It is kept for the next call: to look at a schema takes longer than to look at arguments.
    Raises ValueError for what is no schema, ModuleNotFoundError without jsonschema.
    """
    try:
        return _kept(msgspec.json.encode(schema))
    except (TypeError, ValueError, RecursionError):  # what JSON cannot hold is for jsonschema to judge
        return _made(schema)


@lru_cache(maxsize=256)
def _kept(written: bytes) -> tuple[Validator, tuple[str, ...]]:
    return _made(msgspec.json.decode(written))


def _made(schema: dict[str, Any]) -> tuple[Validator, tuple[str, ...]]:
    try:
        import jsonschema  # noqa: PLC0415 - an extra
        from referencing import Registry  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("JSON Schema checks need `pip install 'llm-streamparse[schema]'`") from error
    if not isinstance(schema.get("$schema", ""), str):
        raise ValueError("its `$schema` is no text")  # noqa: TRY004 - of data, not of what the caller gave
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    unread = _unreadable(kind, schema)
    # A reference to a schema that names its dialect would be followed with that dialect's own patterns.
    plain = {key: value for key, value in schema.items() if key != "$schema"}
    registry: Any = Registry()  # an empty one fetches nothing
    return _extended(kind)(plain, registry=registry, format_checker=checker()), unread


def unresolvable() -> type[Exception]:
    """What is raised for a reference to what is not there."""
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - an extra

    return Unresolvable


def _unreadable(kind: type[Validator], schema: dict[str, Any]) -> tuple[str, ...]:
    """The patterns of a schema that cannot be read; raises ValueError for what is no schema."""
    from jsonschema import FormatChecker  # noqa: PLC0415 - an extra

    unread: dict[str, None] = {}

    def noted(value: object) -> bool:
        """Note a pattern, and call it none that is wrong: as part of a choice it would make the choice wrong."""
        if isinstance(value, str) and compiled(value) is None:
            unread[value] = None
        return True

    patterns = FormatChecker(formats=())
    patterns.checks("regex")(noted)
    try:
        for error in kind(kind.META_SCHEMA, format_checker=patterns).iter_errors(schema):
            raise ValueError(f"{cut(error.message)} (at {error.json_path})")
    except RecursionError as error:
        raise ValueError("it nests too deeply") from error
    return tuple(unread)


@cache
def _extended(kind: type[Validator]) -> type[Validator]:
    """The dialect with those of its keywords in our words that read patterns, compare without end or know no null."""
    import jsonschema  # noqa: PLC0415 - an extra

    ours: dict[str, Any] = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional(kind.VALIDATORS.get("additionalProperties")),
        "unevaluatedProperties": _unevaluated,
        "uniqueItems": _unique,
        "type": _type(kind.VALIDATORS["type"]),
    }
    extend: Any = jsonschema.validators.extend  # its types are not told
    extended: type[Validator] = extend(kind, {name: each for name, each in ours.items() if name in kind.VALIDATORS})
    return extended


def _type(others: Any) -> Any:
    def typed(validator: Validator, names: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        """OpenAPI 3.0, whose schemas Gemini takes, says `nullable` of what may be null, too."""
        if instance is not None or schema.get("nullable") is not True:
            yield from others(validator, names, instance, schema)

    return typed


def _additional(others: Any) -> Any:
    def additional(validator: Validator, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        """What no pattern can be meant by is left to the keyword itself."""
        if isinstance(instance, dict):
            patterns = schema.get("patternProperties", ())
            left = {
                key: value for key, value in instance.items() if not any(found(p, key) is not False for p in patterns)
            }
            yield from others(validator, allowed, left, {"properties": schema.get("properties", {})})

    return additional


def _unevaluated(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    from jsonschema import ValidationError  # noqa: PLC0415 - an extra

    if isinstance(instance, dict):
        resolver = validator._resolver  # a keyword is given no other way to follow references
        known = {*evaluated(validator, resolver, instance, {**schema, "unevaluatedProperties": False})}
        left = {key: value for key, value in instance.items() if key not in known}
        names = [key for key, value in left.items() if not validator.evolve(schema=allowed).is_valid(value)]
        if names:
            unexpected = ", ".join(map(repr, names))
            yield ValidationError(f"Unevaluated properties are not allowed ({unexpected} unexpected)")


def _unique(_validator: Validator, wanted: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    from jsonschema import ValidationError  # noqa: PLC0415 - an extra

    if wanted and isinstance(instance, list) and len({*map(_comparable, instance)}) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _comparable(value: Any) -> Any:
    """What is equal just where JSON Schema calls values equal, and can be looked up."""
    if isinstance(value, dict):
        return frozenset((key, _comparable(each)) for key, each in value.items())
    if isinstance(value, list):
        return tuple(map(_comparable, value))
    if isinstance(value, (int, float)):  # as texts: who chooses numbers chooses their hashes
        whole = not isinstance(value, bool) and value == int(value)
        return int, str(int(value) if whole else value)
    return value


def _pattern(_validator: Validator, source: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    from jsonschema import ValidationError  # noqa: PLC0415 - an extra

    if isinstance(instance, str) and found(source, instance) is False:
        yield ValidationError(f"{instance!r} does not match {source!r}")


def _pattern_properties(
    validator: Any, patterns: dict[str, Any], instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    for source, wanted in patterns.items() if isinstance(instance, dict) else ():
        for key, value in instance.items():
            if found(source, key):
                yield from validator.descend(value, wanted, path=key, schema_path=source)
