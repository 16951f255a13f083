"""Which members of an object a schema says something of: what `unevaluatedProperties` leaves (draft 2020-12, 11.3).

jsonschema has this, too, but reads the patterns of `patternProperties` with the standard library's engine: otherwise
than ECMA-262, and for as long as a text of the model's choice lets it take.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from streamparse.repair.ecma import found

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

__all__ = ["evaluated"]

_JSON: TypeAlias = dict[str, Any]


def evaluated(validator: Validator, resolver: Any, instance: _JSON, schema: Any) -> Iterator[str]:
    """Yield the keys of which a schema says something, or one that applies with it; some of them twice.

    `resolver` is one of the library `referencing`, for the schema's references.
    """
    if not isinstance(schema, dict):
        return
    yield from schema.get("properties", {}).keys() & instance.keys()
    for source in schema.get("patternProperties", {}):
        yield from (key for key in instance if found(source, key) is not False)
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if keyword in schema:
            others = validator.evolve(schema=schema[keyword])
            yield from (key for key, value in instance.items() if others.is_valid(value))
    for inner in _applied(validator, instance, schema):
        yield from evaluated(validator.evolve(schema=inner), resolver, instance, inner)
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if keyword in schema:
            target = resolver.lookup(schema[keyword])
            yield from evaluated(validator.evolve(schema=target.contents), target.resolver, instance, target.contents)


def _applied(validator: Validator, instance: _JSON, schema: _JSON) -> Iterator[Any]:
    """Yield the schemas inside of one that apply to the same object, and hold."""
    inside = [each for keyword in ("allOf", "anyOf", "oneOf") for each in schema.get(keyword, [])]
    inside += [each for key, each in schema.get("dependentSchemas", {}).items() if key in instance]
    if "if" in schema:
        holds = validator.evolve(schema=schema["if"]).is_valid(instance)
        inside += [schema["if"], schema.get("then", True)] if holds else [schema.get("else", True)]
    return (each for each in inside if validator.evolve(schema=each).is_valid(instance))
