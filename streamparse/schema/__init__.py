"""A tool's JSON Schema: made of annotations, walked, reduced for a provider, and used to check and convert values.

| module | what it does |
|---|---|
| `annotations`, `docstring` | read a Python function or type |
| `walk` | knows where schemas hold schemas, and resolves references |
| `view`, `text_values` | say what a place permits; make JSON of a text by it |
| `openapi`, `strict` | write a schema for providers that take less than JSON Schema, or enforce it |
| `validation`, `rewriting`, `cost`, `ecma_regex` | check values, with jsonschema-rs, in bounded time |
| `conversions` | make values of the types that a schema wants, where nothing is lost |

Where markup gives no types, a parameter's text is read by the kinds that the schema permits: as the first of null,
boolean, number, object or array that is permitted and that it looks like, else as a string.  Numbers keep their literal
text, and nothing is taken off the ends of a string.  Where only strings are permitted, each text is one as it is.
Where nothing is known (`ANY`) a text that is JSON of another kind is that value.  Attributes of the markup
(`string="false"`, `type="number"`) override the schema; but a string that the schema does not permit is read by it.
"""

from streamparse.schema.text_values import (
    ANY,
    JSON,
    STRING,
    UNQUOTABLE,
    Kinds,
    is_string,
    quote,
    read_type_attribute,
    to_json_text,
)
from streamparse.schema.view import SchemaView
from streamparse.schema.walk import resolve_ref

__all__ = [
    "ANY",
    "JSON",
    "STRING",
    "UNQUOTABLE",
    "Kinds",
    "SchemaView",
    "is_string",
    "quote",
    "read_type_attribute",
    "resolve_ref",
    "to_json_text",
]
