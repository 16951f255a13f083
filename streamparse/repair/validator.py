"""A validator of one schema: jsonschema's, with patterns read as ECMA-262 has them.

The dialect is the one that `$schema` names, else draft 2020-12.  References are followed within the schema only:
nothing is ever fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from streamparse.repair.ecma import compiled, found

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

__all__ = ["unresolvable", "validator_of"]


def validator_of(schema: dict[str, Any]) -> tuple[Validator, list[str]]:
    """Return what checks arguments, and the patterns of the schema that cannot be read and are not checked.

    Raises ValueError for what is no schema, ModuleNotFoundError without jsonschema.
    """
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
    return _with_patterns(kind)(plain, registry=Registry()), unread  # an empty registry fetches nothing


def unresolvable() -> type[Exception]:
    """What is raised for a reference to what is not there."""
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - an extra

    return Unresolvable


def _unreadable(kind: type[Validator], schema: dict[str, Any]) -> list[str]:
    """The patterns of a schema that cannot be read; raises ValueError for what is no schema."""
    from jsonschema import FormatChecker  # noqa: PLC0415 - an extra

    unread: dict[str, None] = {}

    def noted(value: object) -> bool:
        """Note a pattern, and call it none that is wrong: as part of a choice it would make the choice wrong."""
        if isinstance(value, str) and compiled(value) is None:
            unread[value] = None
        return True

    checker = FormatChecker(formats=())
    checker.checks("regex")(noted)
    try:
        for error in kind(kind.META_SCHEMA, format_checker=checker).iter_errors(schema):
            raise ValueError(error.message)
    except RecursionError as error:
        raise ValueError("it nests too deeply") from error
    return list(unread)


@cache
def _with_patterns(kind: type[Validator]) -> type[Validator]:
    """The dialect with the keywords that read patterns in another way."""
    import jsonschema  # noqa: PLC0415 - an extra

    others = kind.VALIDATORS.get("additionalProperties")
    keywords: dict[str, Any] = {"pattern": _pattern, "patternProperties": _pattern_properties}

    def additional(validator: Validator, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        """What no pattern can be meant by is left to the keyword itself."""
        if isinstance(instance, dict) and others is not None:
            patterns = schema.get("patternProperties", ())
            left = {
                key: value for key, value in instance.items() if not any(found(p, key) is not False for p in patterns)
            }
            yield from others(validator, allowed, left, {"properties": schema.get("properties", {})})

    extend: Any = jsonschema.validators.extend  # its types are not told
    extended: type[Validator] = extend(kind, keywords | {"additionalProperties": additional})
    return extended


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
