"""A tool: its name, its schema, its function, and what a call of it does to the world.

`bind` converts a call's arguments to the values that the function takes, by the function's own annotations; the tool's
JSON Schema is checked by `streamparse.repair.preflight`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, TypeVar, Unpack, get_args, overload

import msgspec

from streamparse.findings import describe_exception
from streamparse.unknown_names import check_keywords

if TYPE_CHECKING:
    from streamparse.tools.signature import Signature

Effect: TypeAlias = Literal["read", "idempotent", "write"]
"""What a call does: it only reads; doing it twice is like doing it once; or it must not happen twice."""

_EFFECTS: Final = "'read' (which was 'none'), 'idempotent' or 'write' (which was 'once')"

Lock: TypeAlias = str | Callable[[dict[str, Any]], str | Iterable[str] | None]
"""What calls must not touch at the same time: `"*"` for all, a parameter's name, or a function of the arguments."""

NeedsApproval: TypeAlias = bool | Callable[[Any], bool]
"""Whether somebody must agree before a call runs; or a function that says so of a call with its `arguments`."""

# Where a decorated function carries its `Tool`.
TOOL_ATTRIBUTE = "tool"

Function = TypeVar("Function", bound=Callable[..., Any])


class Tool(msgspec.Struct, frozen=True, dict=True):
    """A tool that a model may call.

    - `description`: read from the function's docstring if the `parameters` are read from the function.
    - `parameters`: a JSON Schema of an object.  Without one it is read from the function's annotations and docstring;
      `{}` without a function means that the schema is not known.
    - `function`: called with the arguments by name; it may be a coroutine function.  It must take each parameter that
      the schema has, and need no other.
    - `effect`: what a call does; when it starts, and whether it is repeated, follows from that (`runtime.turn`).
    - `timeout`: seconds for each attempt; None: the runner's.
    - `tier`: the runner must have unlocked this tier for the call to run.
    - `strict`: whether the provider is asked to enforce the schema while the model writes, where it can.
    - `lock`: calls that share a lock begin in call order and never overlap, unless all of them have no effect.  `"*"`
      is shared with all.  A parameter's name means the argument's value, whatever the tool.
    - `needs_approval`: whether somebody must agree before a call runs.
    - `retries`: how many more attempts follow a failure that may pass, if the effect is not "write".
    - `category`: a word by which a `ToolRegistry` finds the tool.
    - `ends`: whether an agent's run ends after a call that succeeded, once all other calls of the answer are answered.

    Raises TypeError or ValueError for what cannot be a tool.
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = {}
    function: Callable[..., Any] | None = None
    effect: Effect = "write"
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
        for field, error, wanted, is_met in () if is_plain and rest == ("write", None, None, 3, "") else _CHECKS:
            if not is_met(value := getattr(self, field)):
                raise error(f"tool {self.name!r}: {field} must be {wanted}, got {value!r}")
        if self.function is not None:
            self._check_function(self.function)
        if isinstance(self.lock, str) and self.lock != "*":
            known = self.parameters.get("properties")
            if isinstance(known, dict) and self.lock not in known:
                raise ValueError(f"tool {self.name!r}: lock must be '*' or one of {[*known]}, got {self.lock!r}")

    def _check_function(self, function: Callable[..., Any]) -> None:
        """Check the function, and read from it the fields that were not given."""
        from streamparse.tools.signature import check_streamed, find_misfit, read_signature  # noqa: PLC0415 - dicts have no function

        if not callable(function):
            raise TypeError(f"tool {self.name!r}: the function cannot be called: {function!r}")
        if self.parameters:
            check_streamed(function)
            if (misfit := find_misfit(function, self.parameters)) is not None:
                raise TypeError(f"tool {self.name!r}: {misfit}")
            return
        signature = self.__dict__["signature"] = read_signature(function)
        msgspec.structs.force_setattr(self, "parameters", signature.schema)
        if not self.description:
            msgspec.structs.force_setattr(self, "description", signature.description)

    @cached_property
    def signature(self) -> Signature | None:
        """What the function takes; None without a function, or if only the given schema describes it."""
        if self.function is None:
            return None
        from streamparse.tools.signature import read_signature  # noqa: PLC0415 - as above

        try:
            return read_signature(self.function)
        except TypeError:
            return None

    @property
    def required(self) -> frozenset[str]:
        """The parameters that the schema requires."""
        listed = self.parameters.get("required")
        return frozenset(each for each in listed if isinstance(each, str)) if isinstance(listed, list) else frozenset()

    @property
    def streamed(self) -> frozenset[str]:
        """The parameters that the function reads while the model still writes them (`Streamed`)."""
        return frozenset() if self.signature is None else self.signature.streamed


def _is_seconds(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


_Check: TypeAlias = tuple[str, type[Exception], str, Callable[[Any], bool]]
# A field, the error, what it must be, and whether it is.
_CHECKS: tuple[_Check, ...] = (
    ("parameters", TypeError, "a JSON Schema as a dict", lambda value: isinstance(value, dict)),
    ("effect", ValueError, _EFFECTS, get_args(Effect).__contains__),
    ("category", TypeError, "a text", lambda value: isinstance(value, str)),
    ("timeout", TypeError, "seconds or None", _is_seconds),
    ("timeout", ValueError, "positive seconds or None", lambda value: value is None or value > 0),
    ("tier", TypeError, "an integer", lambda value: isinstance(value, int)),
    ("needs_approval", TypeError, "a bool or a function", lambda value: isinstance(value, bool) or callable(value)),
    ("retries", ValueError, "0 or more", lambda value: not value < 0),
    ("lock", TypeError, "a text or a function", lambda value: isinstance(value, str | None) or callable(value)),
)


class InvalidArguments(ValueError):
    """Arguments that do not fit a tool; the message is one sentence, written for the model."""


def bind(tool: Tool, arguments: dict[str, Any], *, without_streamed: bool = False) -> dict[str, Any]:
    """Convert the arguments, all or those that are not streamed, to the values that the tool's function takes.

    Where its annotations cannot be read, or there is no function, the arguments stay as they are.
    Raises InvalidArguments if they do not fit the annotations.
    """
    if tool.signature is None:
        return arguments
    try:
        return tool.signature.convert(arguments, without_streamed=without_streamed)
    except (msgspec.ValidationError, RecursionError) as error:
        raise InvalidArguments(f"invalid arguments for {tool.name!r}: {error}") from error
    except Exception as error:  # of the user's types: `__post_init__`, a validator of pydantic
        raise InvalidArguments(f"invalid arguments for {tool.name!r}: {describe_exception(error)}") from error


def validate(tool: Tool, arguments: dict[str, Any], *, without_streamed: bool = False) -> str | None:
    """Say in one sentence why `bind` refuses the arguments; None if it does not."""
    try:
        bind(tool, arguments, without_streamed=without_streamed)
    except InvalidArguments as error:
        return str(error)
    return None


class CallOptions(TypedDict, total=False):
    """The fields of a `Tool` that say how its calls run, and not what it is."""

    effect: Effect
    timeout: float | None
    tier: int
    strict: bool
    lock: Lock | None
    needs_approval: NeedsApproval
    retries: int
    category: str
    ends: bool


class ToolOptions(CallOptions, total=False):
    """The fields of a `Tool` that `@tool` takes."""

    name: str | None
    description: str
    parameters: dict[str, Any]


@overload
def tool(function: Function, /) -> Function: ...


@overload
def tool(**fields: Unpack[ToolOptions]) -> Callable[[Function], Function]: ...


def tool(function: Callable[..., Any] | None = None, /, **fields: Unpack[ToolOptions]) -> Callable[..., Any]:
    """Declare a function as a tool: `@tool`, or `@tool(effect="read", ...)` with the fields of `Tool`.

    The function stays what it was, and carries its `Tool` as the attribute `tool`.
    """

    check_keywords("tool", fields, ToolOptions.__annotations__)

    def declare(function: Function) -> Function:
        given: dict[str, Any] = {**fields, "name": fields.get("name") or function.__name__, "function": function}
        setattr(function, TOOL_ATTRIBUTE, Tool(**given))
        return function

    return declare if function is None else declare(function)
