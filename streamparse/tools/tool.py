"""A tool: its name, its schema, its function, and what a call of it does to the world.

`bind` makes the values that the function takes of a call's arguments, by the function's own annotations; the tool's
JSON Schema is for `streamparse.repair.preflight`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar, get_args, overload

import msgspec

from streamparse.tools.signature import Signature, check_streamed, read_signature

Effect: TypeAlias = Literal["none", "idempotent", "once"]
"""What a call does: it only reads; doing it twice is like doing it once; or it must not happen twice."""

Lock: TypeAlias = str | Callable[[dict[str, Any]], str | Iterable[str] | None]
"""What calls must not touch at one time: `"*"` for all, a parameter's name, or a function of the arguments."""

NeedsApproval: TypeAlias = bool | Callable[[Any], bool]
"""Whether somebody must agree before a call runs; or a function that says so of a call with its `arguments`."""

TOOL_ATTRIBUTE = "tool"
"""Where a decorated function carries its `Tool`."""

Function = TypeVar("Function", bound=Callable[..., Any])


class Tool(msgspec.Struct, frozen=True, dict=True):
    """A tool that a model may call.

    `parameters` is a JSON Schema of an object; `{}` means that the schema is not known.  With a `function`
    and no `parameters`, they and the description are read from its annotations and docstring.
    The function is called with the arguments by name; it may be a coroutine function.
    `effect` says what a call does; when it starts, and whether it is repeated, follows from that (`runtime.turn`).
    Calls that share a `lock`, or of which one has `"*"`, never overlap unless all have no effect, and begin in call
    order; a parameter's name stands for the argument's value, whatever the tool.  `retries` is how many more attempts
    there may be after a failure that may pass, of a tool whose effect is not "once".
    `timeout` is in seconds for each attempt (None: the runner's).  `tier` is what the runner must have unlocked for the
    call to run.
    `category` is a word by which a `ToolRegistry` finds it.  With `ends` an agent's run ends after a call that
    succeeded, once all other calls of the answer are answered.
    With `strict` the provider is asked to enforce the schema while the model writes, where it can.

    Raises TypeError or ValueError for what cannot be a tool.
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = {}
    function: Callable[..., Any] | None = None
    effect: Effect = "once"
    timeout: float | None = None
    tier: int = 0
    strict: bool = False
    lock: Lock | None = None
    needs_approval: NeedsApproval = False
    retries: int = 3
    category: str = ""
    ends: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ValueError(f"a tool needs a name, got {self.name!r}")
        # Most tools of a request have a name, a description and parameters alone; then there is little to check.
        is_plain = self.tier.__class__ is int and self.needs_approval is False and self.parameters.__class__ is dict
        rest = (self.effect, self.timeout, self.lock, self.retries, self.category)
        for field, error, wanted, is_met in () if is_plain and rest == ("once", None, None, 3, "") else _CHECKS:
            if not is_met(value := getattr(self, field)):
                raise error(f"tool {self.name!r}: {field} must be {wanted}, got {value!r}")
        if self.function is not None and not callable(self.function):
            raise TypeError(f"tool {self.name!r}: the function cannot be called: {self.function!r}")
        if self.function is not None and not self.parameters:
            self._learn(read_signature(self.function))
        elif self.function is not None:
            check_streamed(self.function)
        known = self.parameters.get("properties")
        if isinstance(self.lock, str) and self.lock != "*" and isinstance(known, dict) and self.lock not in known:
            raise ValueError(f"tool {self.name!r}: lock must be '*' or one of {[*known]}, got {self.lock!r}")

    def _learn(self, signature: Signature) -> None:
        self.__dict__["signature"] = signature
        msgspec.structs.force_setattr(self, "parameters", signature.schema)
        if not self.description:
            msgspec.structs.force_setattr(self, "description", signature.description)

    @cached_property
    def signature(self) -> Signature | None:
        """What the function takes; None without a function, or if only the given schema describes it."""
        if self.function is None:
            return None
        try:
            return read_signature(self.function)
        except TypeError:
            return None

    @property
    def streamed(self) -> frozenset[str]:
        """The parameters that the function reads while the model still writes them (`Streamed`)."""
        return frozenset() if self.signature is None else self.signature.streamed


def _is_seconds(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


_Check: TypeAlias = tuple[str, type[Exception], str, Callable[[Any], bool]]
_CHECKS: tuple[_Check, ...] = (
    ("parameters", TypeError, "a JSON Schema as a dict", lambda value: isinstance(value, dict)),
    ("effect", ValueError, f"one of {get_args(Effect)}", get_args(Effect).__contains__),
    ("category", TypeError, "a text", lambda value: isinstance(value, str)),
    ("timeout", TypeError, "seconds or None", _is_seconds),
    ("timeout", ValueError, "positive seconds or None", lambda value: value is None or value > 0),
    ("tier", TypeError, "an integer", lambda value: isinstance(value, int)),
    ("needs_approval", TypeError, "a bool or a function", lambda value: isinstance(value, bool) or callable(value)),
    ("retries", ValueError, "0 or more", lambda value: not value < 0),
    (
        "lock",
        TypeError,
        "a text or a function",
        lambda value: value is None or isinstance(value, str) or callable(value),
    ),
)
"""A field, the error, what it must be, and whether it is."""


class InvalidArguments(ValueError):
    """Arguments that do not fit a tool; the message is one sentence, written for the model."""


def bind(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """Make of the arguments the values that the tool's function takes.

    Where its annotations cannot be read, or there is no function, the arguments stay as they are.
    Raises InvalidArguments if they do not fit the annotations.
    """
    return arguments if tool.signature is None else _bind(tool, tool.signature.convert, arguments)


def bind_others(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """Do as `bind` does with all arguments but those that are streamed."""
    return arguments if tool.signature is None else _bind(tool, tool.signature.convert_others, arguments)


def _bind(tool: Tool, convert: Callable[[dict[str, Any]], dict[str, Any]], arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        return convert(arguments)
    except (msgspec.ValidationError, RecursionError) as error:
        raise InvalidArguments(f"invalid arguments for {tool.name!r}: {error}") from error


def validate(tool: Tool, arguments: dict[str, Any]) -> str | None:
    """Say in one sentence why the arguments do not fit the tool's function; None if they do."""
    try:
        bind(tool, arguments)
    except InvalidArguments as error:
        return str(error)
    return None


@overload
def tool(function: Function, /) -> Function: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str = "",
    effect: Effect = "once",
    timeout: float | None = None,
    tier: int = 0,
    strict: bool = False,
    lock: Lock | None = None,
    needs_approval: NeedsApproval = False,
    retries: int = 3,
    category: str = "",
    ends: bool = False,
) -> Callable[[Function], Function]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str = "",
    effect: Effect = "once",
    timeout: float | None = None,
    tier: int = 0,
    strict: bool = False,
    lock: Lock | None = None,
    needs_approval: NeedsApproval = False,
    retries: int = 3,
    category: str = "",
    ends: bool = False,
) -> Callable[..., Any]:
    """Declare a function as a tool: `@tool`, or `@tool(effect="none", ...)`.

    The function stays what it was, and carries its `Tool` as the attribute `tool`.
    """

    def declare(function: Function) -> Function:
        declared = Tool(
            name or function.__name__, description, {}, function, effect, timeout, tier, strict, lock, needs_approval,
            retries, category, ends,
        )  # fmt: skip
        setattr(function, TOOL_ATTRIBUTE, declared)
        return function

    return declare if function is None else declare(function)
