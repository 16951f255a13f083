"""Why a call was recovered or repaired (`ToolCallComplete.reason`), in one sentence for the model and one for you.

A call is `recovered` if it was found only at the end of the answer, because it was not looked for before, and
`repaired` if its text had to be mended.  Neither runs unless that is allowed.  The reason of a repaired call is
`markup` wherever its markup was mended, else the first thing in its arguments that was.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from streamparse.events import ToolCallComplete


class Reason(NamedTuple):
    """A reason in words: `for_model` goes on after "the call was not run:"."""

    for_model: str
    for_developer: str


RECOVERED: Final = {
    "wire": Reason(
        "it stood in the text of the answer, where calls are not looked for; make a tool call, not text",
        'calls in the text are not looked for on this wire: name the dialect, or use `dialects="all"`',
    ),
    "too_long": Reason(
        "it was too long to be read as a call without markup; split what is long over several calls",
        "it has no marker of its own, and is longer than `Limits.max_held_text`: raise that limit",
    ),
    "unnamed": Reason(
        "it was JSON in the text, in a form that is not read as a call",
        "JSON that no dialect reads that was looked for: declare the tool, or name the dialect",
    ),
}
"""Why calls were found only at the end of the answer."""

REPAIRED: Final = {
    "markup": Reason(
        "its markup was not written correctly",
        "the markup around the arguments, or around the name, was malformed, or pieces of the stream are missing",
    ),
    "encoded_twice": Reason(
        "its arguments were written as a string, not as an object",
        "the arguments were a JSON string that holds the object",
    ),
    "bom": Reason("a byte order mark stood before its arguments", "a byte order mark before the arguments"),
    "fence": Reason("its arguments stood in a Markdown fence", "the arguments stood in a Markdown fence"),
    "trailing_comma": Reason("its arguments have a comma before a closing bracket", "a comma before a closing bracket"),
    "unquoted_key": Reason("its arguments have a key without quotation marks", "a key without quotation marks"),
    "duplicate_key": Reason(
        "its arguments have the same key twice", "the same key twice in one object; the last counts"
    ),
    "python_literal": Reason(
        "its arguments have True, False or None where JSON has true, false and null",
        "True, False or None in place of true, false and null",
    ),
    "single_quotes": Reason("its arguments have single quotes where JSON has double ones", "strings in single quotes"),
    "comment": Reason("its arguments hold a comment, which JSON does not have", "a comment"),
    "control_char": Reason(
        "its arguments hold a line break or another control character inside a string that is not escaped",
        "a raw control character inside a string",
    ),
    "bad_escape": Reason("its arguments hold an escape that JSON does not have", "an escape that JSON does not have"),
    "lone_surrogate": Reason("its arguments hold half of a surrogate pair", "half of a surrogate pair, read as U+FFFD"),
    "utf8": Reason("its arguments are not UTF-8", "bytes that are not UTF-8"),
}
"""What had to be mended in calls."""

_UNKNOWN: Final = {
    "recovered": Reason("it was found only at the end of the answer", "it was found only at the end of the answer"),
    "repaired": Reason("it was not written correctly", "its text had to be mended to be read"),
}


def find_reason(call: ToolCallComplete) -> Reason:
    """Return the words for why a call was recovered or repaired; an event of your own making need not say why."""
    return {**RECOVERED, **REPAIRED}.get(call.reason) or _UNKNOWN[call.source]
