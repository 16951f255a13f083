"""The kinds of failures of tools, and what the model reads about each.

| kind | says | the runtime |
|---|---|---|
| `validation` | the arguments are wrong | – |
| `execution` | the tool failed | – |
| `timeout` | its time was over | ends the tool; tries again |
| `permission` | it is not allowed | – |
| `resource` | something was not found, or cannot be used | – |
| `network` | another machine was not reached | tries again |
| `quota` | too many calls in this time | tries again |
| `fatal` | nothing can go on | the turn's loop ends |

Only a tool that declares `effect="read"` or `"idempotent"` is tried again.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

from streamparse.patterns import lazy_re

ErrorKind: TypeAlias = Literal[
    "validation", "execution", "timeout", "permission", "resource", "network", "quota", "fatal"
]

RETRYABLE: Final = frozenset(("timeout", "network", "quota"))
"""The kinds after which another attempt may go well."""

_MAX_TEXT: Final = 600  # bound: characters of an error that the model gets to see

_MAX_NAME: Final = 100  # bound: characters of a tool's name in it, which a model may invent

# Control characters but for tab and line ends, and halves of surrogate pairs.
_UNFIT: Final = lazy_re("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

SUGGESTIONS: Final[dict[str, str]] = {
    "validation": "correct the arguments and call it again",
    "execution": "look at the cause; call it again with other arguments, or go another way",
    "timeout": "ask for less at once, or go another way",
    "permission": "do not repeat the call; go another way, or ask the user",
    "resource": "check that what you named exists, then call it again",
    "network": "go on without it, or call it again later",
    "quota": "go on without it, or call it again later",
    "fatal": "do not call it again",
}


class ToolError(Exception):
    """Raised by a tool to say what kind of failure this is.

    `message` says why.  `code` is a stable word for programs (`"no_route"`).  `suggestion` says what the model may try;
    without one there is a sentence for each kind.  `details` are JSON values for the program; `{"retry_after": 3}` (or
    `"Retry-After"`, the header's text) says in seconds, or as an HTTP date or a `datetime`, when another attempt makes
    sense; the runner makes seconds of a date.  `recoverable` says whether another call may go well, by default for all
    kinds but `fatal`.

    Raises ValueError for an unknown kind.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        code: str = "raised",
        details: dict[str, Any] | None = None,
        recoverable: bool | None = None,
        suggestion: str = "",
    ) -> None:
        if kind not in get_args(ErrorKind):
            raise ValueError(f"kind must be one of {get_args(ErrorKind)}, got {kind!r}")
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.message: str = str(message)
        self.code: str = str(code)
        self.details: dict[str, Any] = {} if details is None else dict(details)
        self.recoverable: bool = kind != "fatal" if recoverable is None else bool(recoverable)
        self.suggestion: str = str(suggestion or "")


class ToolFailure(msgspec.Struct, frozen=True):
    """Why a call has no value.

    `code` is stable, for programs: the code of a broken call's `Error` or of a `Finding`, or one of the runtime's own:
    `raised` (if the `ToolError` brought no code), `bad_result`, `timed_out`, `no_place`, `stopped`, `out_of_time`,
    `unfinished`, `late`, `divided`, `quoted`, `recovered`, `repaired`, `revoked`, `denied`, `no_function`,
    `guard_failed`, `declaration_failed`, `crashed`.  The details of `recovered` and `repaired` say the `reason`, with
    an `explanation`.
    The other fields are those of `ToolError`.
    """

    kind: ErrorKind
    message: str
    code: str = "raised"
    details: dict[str, Any] = {}
    recoverable: bool = True
    suggestion: str = ""

    def __post_init__(self) -> None:
        # A file's name may hold half a surrogate pair, which no JSON can.
        msgspec.structs.force_setattr(self, "message", _clean(self.message))
        msgspec.structs.force_setattr(self, "suggestion", _clean(self.suggestion))

    @property
    def retry_after(self) -> float | None:
        """Seconds until another attempt makes sense, if the tool said so."""
        named = (each for key, each in self.details.items() if key.lower().replace("-", "_") == "retry_after")
        return read_seconds(next((each for each in named if not isinstance(each, bool)), None))


def read_seconds(value: Any) -> float | None:
    """Return a value as seconds; None if it is not a number of seconds to wait."""
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):  # nothing, a date, an integer that no float can hold
        return None
    return seconds if 0 <= seconds < float("inf") else None


def format_error_for_model(error: ToolError | ToolFailure, name: str) -> str:
    """Say what failed, why, and what to try, in at most 600 characters; `name` is the tool's.

    What a call had shown when its time was over (`partial_output` in the details) follows the message.  Characters
    that control a terminal, or that no encoding has, are replaced; markup stays, and the adapters handle it.
    """
    begin = f"the call of {repr(_clean(name[:_MAX_NAME]))[:_MAX_NAME]} failed ({error.kind}): "
    advice = _clean((error.suggestion or SUGGESTIONS[error.kind])[: _MAX_TEXT // 3])
    message = _clean(error.message).strip() or "the tool gave no reason"
    if partial := error.details.get("partial_output"):
        message = f"{message}; its output so far: {_clean(str(partial)).strip()}"
    return f"{begin}{_cut(message, _MAX_TEXT - len(begin) - len(advice) - 2)}; {advice}"


def _cut(message: str, most: int) -> str:
    if len(message) <= most:
        return message
    note = f" [… {len(message)} characters, cut here …] "
    kept = most - len(note)
    return f"{message[: kept - kept // 4]}{note}{message[len(message) - kept // 4 :]}"


def _clean(text: str) -> str:
    return _UNFIT.sub("\ufffd", text)
