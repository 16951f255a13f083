"""Looks at a call before anything runs: its name, its arguments, and what guards say of it."""

from __future__ import annotations

import copy
import difflib
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Protocol, TypedDict, Unpack
from urllib.parse import unquote

import msgspec

from streamparse.findings import Finding, format_path, join_messages, make_pointer, preview, truncate
from streamparse.response import ToolCall
from streamparse.schema.validation import MISSING, CompiledSchema, compile_schema, find_excess, has_validator
from streamparse.tools import Tool, Toolset, validate

# All but tab, line feed and carriage return.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SHOWN = 64  # bound: the names of tools that a message lists
_MOST_EXACT = 2**53  # source: IEEE 754: of smaller integers every one is a float
_TRIED = 32  # bound: the parameters that are tried as they were given
_COMPARED = 256  # bound: the names of tools that an unknown one is compared with
_OUTSIDE = re.compile(r"[/\\~]|[A-Za-z]:|[A-Za-z][\w+.-]*:[/\\]")
_ESCAPED = 4  # bound: how many times a percent sign itself may be escaped
_SEPARATOR = re.compile(r"[/\\]+")


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
        return f"invalid call of {self.call.name[:200]!r}: {join_messages(fatal)}" if fatal else ""


class Guard(Protocol):
    """Looks at a call before it runs, and yields what it finds."""

    def __call__(self, call: ToolCall, /) -> Iterator[Finding]: ...


class GuardFailed(RuntimeError):
    """A guard raised an exception, which is the cause of this one: the call was not judged, and must not run."""


class CallChecks(TypedDict, total=False):
    """What a call must pass besides being declared and fitting its tool's schema; see `preflight`."""

    tier: int
    coerce: bool
    sanitise: bool
    guards: Iterable[Guard]


def preflight(call: ToolCall, tools: Iterable[Any], **checks: Unpack[CallChecks]) -> Preflight:
    """Say whether a call may be run, and with which arguments, without running it.

    The tool must be declared, the arguments must fit its JSON Schema, and the annotations of its function if it has
    one.  `checks` are:

    - `tier` (0): the highest tier of tools that is unlocked.
    - `coerce` (True): values are converted where nothing is lost (`"3"` for an integer).  This is reported.
    - `sanitise` (False): control characters are removed from texts.  This is reported.
    - `guards`: look at the call that comes out of all this.

    `ToolRunner` asks the same of each call.
    Raises GuardFailed for what a guard raises.
    Raises ModuleNotFoundError if the tool's schema is not its function's own, and jsonschema-rs is not installed.
    """
    return Gate(tools, **checks).look(call)


class Gate:
    """What each call of some tools must pass before it may run; the keywords are those of `preflight`."""

    def __init__(
        self,
        tools: Iterable[Any] | None,
        *,
        tier: int = 0,
        coerce: bool = True,
        sanitise: bool = False,
        guards: Iterable[Guard] = (),
    ) -> None:
        self.tools: Toolset = Toolset.of(tools)
        self._tier = tier
        self._coerce = coerce
        self._sanitise = sanitise
        self._guards = tuple(guards)
        self._compiled: dict[tuple[str, frozenset[str]], CompiledSchema] = {}

    def restrict(self, tier: int | None, only: Collection[str] | None) -> Gate:
        """Return the gate with another tier, and for the tools of these names alone; None changes nothing."""
        gate = copy.copy(self)
        gate._tier = self._tier if tier is None else tier
        if only is not None:
            gate.tools = Toolset(tool for name, tool in self.tools.items() if name in only)
        return gate

    def require_validator(self) -> None:
        """Raise ModuleNotFoundError if a tool that can run has a schema that only the missing extra can check."""
        for tool in self.tools.values() if not has_validator() else ():
            if tool.function is not None and not _is_from_function(tool):
                raise ModuleNotFoundError(f"the tool {tool.name!r} has a schema of its own; {MISSING}")

    def look(self, call: ToolCall, without: frozenset[str] = frozenset()) -> Preflight:
        """Say whether a call may be run, and with which arguments.

        A call that is still being written is looked at `without` the arguments that are streamed: they need not be
        there, and the whole call has to be looked at all the same.
        """
        if without and self._sanitise:
            return Preflight(call, (Finding("invalid_value", "texts are only read once they are whole"),))
        tool = self.tools.get(call.name)
        if tool is None:
            return Preflight(call, (_describe_unknown(call.name, self._list_unlocked()),))
        if tool.tier > self._tier:
            return Preflight(call, (Finding("locked_tool", f"the tool {call.name!r} is not unlocked"),))
        if (problem := find_excess(call.arguments)) is not None:
            return Preflight(call, (Finding("invalid_value", problem),))
        found: list[Finding] = []
        arguments = _strip_controls(call.arguments, (), found) if self._sanitise else call.arguments
        if tool.parameters and (has_validator() or not _is_from_function(tool)):
            arguments, problems = self._check(tool, arguments, call.raw, without)
            found += problems
        if arguments is not call.arguments:
            if (problem := find_excess(arguments)) is not None:  # a text was read as more than may be given
                found.append(Finding("invalid_value", problem))
            call = msgspec.structs.replace(call, arguments=arguments)
        if not any(finding.fatal for finding in found):
            fitting, problems = self._fit_annotations(tool, call.arguments, streamed=bool(without))
            found += problems
            if fitting is not call.arguments:
                call = msgspec.structs.replace(call, arguments=fitting)
        for guard in self._guards:
            found += _run_guard(guard, call)
        return Preflight(call, tuple(found))

    def _list_unlocked(self) -> list[str]:
        return sorted(tool.name for tool in self.tools.values() if tool.tier <= self._tier)

    def _check(
        self, tool: Tool, arguments: dict[str, Any], written: str, without: frozenset[str]
    ) -> tuple[dict[str, Any], list[Finding]]:
        """Check arguments with the schema as it was when the tool was first called here."""
        compiled = self._compiled.get((tool.name, without))
        if compiled is None:
            try:
                compiled = compile_schema(_drop_properties(tool.parameters, without))
            except ValueError as error:
                return arguments, [Finding("invalid_schema", f"the tool's schema cannot be read: {error}")]
            self._compiled[tool.name, without] = compiled
        return compiled.check(arguments, coerce=self._coerce, written=written)

    def _fit_annotations(
        self, tool: Tool, arguments: dict[str, Any], *, streamed: bool
    ) -> tuple[dict[str, Any], list[Finding]]:
        """Check arguments with the annotations of the tool's function, which may say more than the schema.

        To a schema 3.0 is an integer, to an annotation it is not: it is read as 3.
        """
        problem = validate(tool, arguments, without_streamed=streamed)
        if problem is None:
            return arguments, []
        if self._coerce and has_validator():
            whole = {name: _read_whole_numbers(value) for name, value in arguments.items()}
            if validate(tool, whole, without_streamed=streamed) is None:
                for name in list(whole)[:_TRIED]:  # what fits as it is stays
                    as_given = {**whole, name: arguments[name]}
                    whole = as_given if validate(tool, as_given, without_streamed=streamed) is None else whole
                return whole, list(_list_changes(arguments, whole, ()))
        return arguments, [Finding("invalid_value", truncate(problem.partition(": ")[2]))]


def _read_whole_numbers(value: Any) -> Any:
    """Read each float of a value that is a whole number, and exact, as an integer."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= _MOST_EXACT else value
    if isinstance(value, dict):
        return {key: _read_whole_numbers(each) for key, each in value.items()}
    return [_read_whole_numbers(each) for each in value] if isinstance(value, list) else value


def _list_changes(before: Any, after: Any, path: tuple[Any, ...]) -> Iterator[Finding]:
    """List the numbers that were read in another way, of two values of one shape."""
    if isinstance(before, (dict, list)):
        for key in before if isinstance(before, dict) else range(len(before)):
            yield from _list_changes(before[key], after[key], (*path, key))
    elif type(before) is not type(after):
        message = f"{format_path(path)}: {preview(before)} was read as {preview(after)}"
        yield Finding("coerced", message, make_pointer(path), fatal=False)


def _drop_properties(schema: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """The schema of an object without some of its members."""
    properties, required = schema.get("properties"), schema.get("required")
    if names and isinstance(properties, dict):
        schema = {**schema, "properties": {key: each for key, each in properties.items() if key not in names}}
    if names and isinstance(required, list):
        schema = {**schema, "required": [each for each in required if each not in names]}
    return schema


def _is_from_function(tool: Tool) -> bool:
    """Whether a tool's schema was read from its function: then `bind` checks all that it says."""
    return not tool.parameters or (tool.signature is not None and tool.signature.schema == tool.parameters)


def _run_guard(guard: Guard, call: ToolCall) -> list[Finding]:
    own = msgspec.structs.replace(call, arguments=copy.deepcopy(call.arguments))  # nobody changes them after the check
    try:
        found = list(guard(own))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the user's, `sys.exit` too
        raise GuardFailed(f"a guard failed on the call of {call.name[:200]!r}: {type(error).__name__}") from error
    if not all(isinstance(each, Finding) for each in found):
        raise GuardFailed(f"a guard failed on the call of {call.name[:200]!r}: it yielded something else than findings")
    return found


def _describe_unknown(name: str, known: list[str]) -> Finding:
    """Ask whether the nearest name was meant, and list the tools, those with the nearest names first."""
    close = difflib.get_close_matches(name[:200], known[:_COMPARED], 3, 0.6)
    listed = list(dict.fromkeys((*close, *known)))
    more = f", … ({len(known)} in all)" if len(known) > _SHOWN else ""
    all_are = f"{', '.join(listed[:_SHOWN])}{more}"
    told = f"did you mean {close[0]!r}? The tools are: {all_are}" if close else f"the tools are: {all_are}"
    return Finding("unknown_tool", f"there is no tool {name[:200]!r}{f'; {told}' if known else ''}")


def _strip_controls(value: Any, path: tuple[Any, ...], found: list[Finding]) -> Any:
    """Remove control characters from every text of a value."""
    if isinstance(value, dict):
        return {key: _strip_controls(each, (*path, key), found) for key, each in value.items()}
    if isinstance(value, list):
        return [_strip_controls(each, (*path, number), found) for number, each in enumerate(value)]
    if isinstance(value, str) and _CONTROL.search(value):
        message = f"control characters were taken out of {format_path(path)}"
        found.append(Finding("sanitised", message, make_pointer(path), fatal=False))
        return _CONTROL.sub("", value)
    return value


# -- paths -----------------------------------------------------------------------------------------


class PathGuard:
    """Finds paths that lead out of the folder they are relative to, in the named parameters of any tool.

    A parameter counts wherever it is in the arguments (`{"edits": [{"path": ...}]}`), with all texts inside it, names
    of members too (`{"files": {"a.txt": ...}}`).
    A path is refused if it is absolute on any system (`/x`, `\\x`, `C:x`, `~`) or a URL (`file:/x`), if its `..` steps
    climb above where it began, or if it holds a NUL; also if that shows only after percent escapes are read, once or
    repeatedly.  It looks at the text alone: links in the folder are for the tool itself to resolve.
    """

    def __init__(self, *parameters: str) -> None:
        if not parameters:
            raise ValueError("name the parameters that are paths")
        self._parameters = parameters

    def __call__(self, call: ToolCall) -> Iterator[Finding]:
        for path, text in _find_texts(call.arguments, self._parameters):
            if any(map(_is_outside, _unescape(text))):
                name = next(step for step in path if step in self._parameters)
                yield Finding("path_traversal", f"{name!r} must be a path inside its folder", make_pointer(path))


def _find_texts(
    value: Any, names: tuple[str, ...], path: tuple[Any, ...] = (), *, guarded: bool = False
) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Yield the texts under one of the names, however deep, with their paths."""
    if isinstance(value, str):
        if guarded:
            yield path, value
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _find_texts(each, names, (*path, number), guarded=guarded)
    elif isinstance(value, dict):
        for key, each in value.items():
            if guarded:
                yield (*path, key), key
            yield from _find_texts(each, names, (*path, key), guarded=guarded or key in names)


def _unescape(text: str) -> Iterator[str]:
    """Yield a text, and what it becomes each time that percent escapes are read."""
    yield text
    for _ in range(_ESCAPED):
        if (read := unquote(text)) == text:
            return
        yield (text := read)


def _is_outside(path: str) -> bool:
    if "\0" in path or _OUTSIDE.match(path.lstrip()):
        return True
    depth = 0
    for step in _SEPARATOR.split(path):
        depth += {"..": -1, ".": 0, "": 0}.get(step.strip(), 1)
        if depth < 0:
            return True
    return False
