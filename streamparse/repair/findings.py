"""What is wrong, or was mended, with a call: typed, and in words written for the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from streamparse.response import ToolCall

__all__ = ["Finding", "Preflight", "cut", "message_of", "named", "pointer", "shown"]

_SHOWN: Final = 200
"""Characters of a value or a name that a message repeats."""


class Finding(msgspec.Struct, frozen=True):
    """One thing about a call.

    | code | says | fatal |
    |---|---|---|
    | `unknown_tool` | no declared tool has this name | yes |
    | `locked_tool` | the tool is above the tier that is unlocked | yes |
    | `broken_call` | the call never became whole; `ParsedResponse.broken_calls` has its text | yes |
    | `missing_parameter` | a required parameter is not there | yes |
    | `extra_parameter` | a parameter that the schema does not name; fatal where the schema forbids others | |
    | `wrong_type` | a value of another type, with no lossless way to the right one | yes |
    | `invalid_value` | a value that the schema forbids otherwise, or JSON cannot hold; too deep a nesting | yes |
    | `too_costly` | to compare the arguments with the tool's schema would take too many steps | yes |
    | `invalid_schema` | the tool's own schema cannot be read: nothing can be said of the call | yes |
    | `unreadable_pattern` | a pattern of the tool's schema cannot be read: nothing is checked against it | no |
    | `empty_answer` | the answer holds nothing at all, not even a reason for its end | yes |
    | `no_call` | the answer calls no tool, though it must (`FallbackChain`) | yes |
    | `path_traversal` | a path leads out of its folder (`PathGuard`) | yes |
    | `coerced` | a value was read as the type that the schema wants; nothing was lost | no |
    | `sanitised` | control characters were taken out | no |

    `path` is a JSON Pointer (RFC 6901) into the arguments, "" for the whole call.  `message` is one sentence for the
    model. Guards of the user may have codes of their own.
    """

    code: str
    message: str
    path: str = ""
    fatal: bool = True


class Preflight(msgspec.Struct, frozen=True):
    """A call as it would be run, and everything that was found on the way."""

    call: ToolCall
    findings: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the call may be run."""
        return not any(finding.fatal for finding in self.findings)

    @property
    def message(self) -> str:
        """What to tell the model, "" if the call may be run."""
        fatal = [finding for finding in self.findings if finding.fatal]
        return f"invalid call of {self.call.name[:200]!r}: {message_of(fatal)}" if fatal else ""


def message_of(findings: Iterable[Finding]) -> str:
    """Join the messages of findings to one line."""
    return "; ".join(finding.message for finding in findings)


def pointer(path: Iterable[Any]) -> str:
    """Return the JSON Pointer of a path of keys and indexes."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def named(path: Iterable[Any]) -> str:
    """Return a path of keys and indexes as a message names it."""
    return ".".join(str(step) for step in path)[:_SHOWN]


def shown(value: Any) -> str:
    """Return a value as a message shows it."""
    return cut(repr(value))


def cut(text: str) -> str:
    """Return a text that is no longer than a message may repeat."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
