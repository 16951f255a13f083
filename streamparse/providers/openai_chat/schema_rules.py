"""What OpenAI's APIs want of a tool's schema.

https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
"""

from __future__ import annotations

from streamparse.schema.strict import find_open_objects, find_optional_properties, forbid

REFUSED_AT_ROOT: tuple[str, ...] = ("anyOf", "oneOf", "allOf", "enum", "not")
"""Keywords that are refused at the top of a tool's schema, be it enforced or not."""

STRICT_CHECKS = (
    find_open_objects,
    find_optional_properties,
    forbid("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"),
)
"""What a schema that is to be enforced must pass."""
