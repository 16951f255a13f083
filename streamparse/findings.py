"""Findings: the faults of a call, mended ones too, in words for the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from traceback import format_exception_only
from typing import Any, Final

import msgspec

__all__ = ["Finding", "describe_exception", "format_path", "join_messages", "make_pointer", "preview", "truncate"]

_SHOWN: Final = 200  # bound: the length of a message
"""Characters of a value or a name that a message repeats."""
_SHOWN_MEMBERS: Final = 3  # bound: the length of a message about an exception group


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


def join_messages(findings: Iterable[Finding]) -> str:
    """Join the messages of findings to one line."""
    return "; ".join(finding.message for finding in findings)


def make_pointer(path: Iterable[Any]) -> str:
    """Return the JSON Pointer (RFC 6901) of a path of keys and indexes."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def format_path(path: Iterable[Any]) -> str:
    """Return a path of keys and indexes as a message names it: `edits.0.path`."""
    return ".".join(str(step) for step in path)[:_SHOWN]


def preview(value: Any) -> str:
    """Return the `repr` of a value, truncated."""
    return truncate(repr(value))


def truncate(text: str) -> str:
    """Return a text of at most 200 characters; a longer one ends with an ellipsis."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def unwrap_group(error: BaseException) -> BaseException:
    """Return what an exception group holds, if that is one exception: a task group wraps whatever is raised in it."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        (error,) = error.exceptions
    return error


def describe_exception(error: BaseException) -> str:
    """Return the type and the words of an exception, in a line; unlike `str` it survives a `__str__` that raises.

    Of an exception group the first exceptions in it are described, too.
    """
    members = islice(_list_members(error), _SHOWN_MEMBERS)
    return ": ".join(filter(None, (_describe_one(error), "; ".join(map(_describe_one, members)))))


def _list_members(error: BaseException) -> Iterator[BaseException]:
    """List the exceptions of a group that are no groups themselves."""
    for each in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
        if isinstance(each, BaseExceptionGroup):
            yield from _list_members(each)
        else:
            yield each


def _describe_one(error: BaseException) -> str:
    return "".join(format_exception_only(error)).strip()
