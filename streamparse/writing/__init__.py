"""Writing and reading requests: what all providers share.

What goes from one provider to another is made of the parts of `streamparse.writing.parts`, which no provider owns.  An
`Adapter` reads and writes one provider's JSON; what has no place at a target is a `Loss`.
"""

from streamparse.writing.adapter import Adapter
from streamparse.writing.answer_parts import read_answer
from streamparse.writing.parts import Document, Image, Item, Message, Part, Text, Thought
from streamparse.writing.prompts import (
    PROMPTS,
    Prompt,
    defang,
    example_call,
    format_calls_as_text,
    format_results_as_text,
    format_system_prompt,
)

__all__ = [
    "PROMPTS", "Adapter", "Document", "Image", "Item", "Message", "Part", "Prompt", "Text", "Thought", "defang",
    "example_call", "format_calls_as_text", "format_results_as_text", "format_system_prompt", "read_answer",
]  # fmt: skip
