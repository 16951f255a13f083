"""What a parameter's text means, where the markup gives no types: JSON text by the tool's schema.

What a schema permits is a set of kinds.  A text is read as the first of null, boolean, number, object or array that
is permitted and that it looks like, else it is a string; numbers keep their literal text, and nothing is taken off
the ends of a string.  Where only strings are permitted every text is one as it stands.  Where nothing is known
(`ANY`) a text that is JSON of another kind is that value.  Attributes of the markup (`string="false"`,
`type="number"`) override the schema; but a string that the schema does not permit is read by the schema.
"""

from streamparse.schema.kinds import ANY, JSON, STRING, Kinds, kinds_of_attribute
from streamparse.schema.text_values import UNQUOTABLE, coerced, is_string, quoted
from streamparse.schema.view import Typed, referred

__all__ = [
    "ANY",
    "JSON",
    "STRING",
    "UNQUOTABLE",
    "Kinds",
    "Typed",
    "coerced",
    "is_string",
    "kinds_of_attribute",
    "quoted",
    "referred",
]
