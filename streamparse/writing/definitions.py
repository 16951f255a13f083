"""Tools as they were declared, with what a definition said beyond the tool itself.

**Server tools** are tools that a provider brings itself: search, code, a computer, grammars.  No other provider has
them.

The shape of a definition shows whose it is; each provider's traits know its own:

| API | shape |
|---|---|
| Anthropic | a type with a date (`web_search_20250305`, `bash_20250124`), `mcp_toolset` |
| OpenAI Responses | a type of its list (`web_search`, `code_interpreter`, `mcp`), `custom` with a name |
| OpenAI chat | `{"type": "custom", "custom": {...}}` |
| OpenRouter | a type `openrouter:...` |
| Gemini | `{"googleSearch": {}}` and the like, also next to declarations of functions |
| Bedrock | `{"systemTool": {...}}`, `{"cachePoint": {...}}` |

https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview
https://platform.openai.com/docs/api-reference/responses/create#responses-create-tools
https://openrouter.ai/docs/guides/features/server-tools/overview
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from streamparse.loss import Loss
from streamparse.schema.walk import expand_root_ref
from streamparse.tools import Tool, Toolset
from streamparse.tools.definitions import LISTS, list_server_tool_keys, normalize_keys, read_sdk_object
from streamparse.writing.json_access import get_object, get_str


class CustomTool(msgspec.Struct, frozen=True):
    """A tool that takes text; `format` restricts the text, as the definition says it."""

    name: str
    description: str = ""
    format: dict[str, Any] = {}


def read_custom_tool(definition: Mapping[str, Any]) -> CustomTool | None:
    """Read a tool that takes text, in either definition; None for another tool, or one that says more than this."""
    inner = definition.get("custom", definition)
    if definition.get("type") != "custom" or not isinstance(inner, Mapping) or not get_str(inner, "name"):
        return None
    if inner.keys() - {"type", "name", "description", "format"}:
        return None
    form = dict(get_object(inner, "format"))
    grammar = form.pop("grammar", None)
    return CustomTool(
        get_str(inner, "name"), get_str(inner, "description"), form | grammar if isinstance(grammar, dict) else form
    )


_READ: Final = {
    "type", "name", "description", "parameters", "input_schema", "inputSchema", "parametersJsonSchema",
    "parameters_json_schema", "function", "toolSpec", "strict",
}  # fmt: skip


class DeclaredTool(msgspec.Struct, frozen=True):
    """A tool as its definition is written; `custom` is for a tool that takes text, which has no schema."""

    tool: Tool
    custom: CustomTool | None = None

    @property
    def strict(self) -> bool:
        """Whether the schema is to be enforced while the model writes."""
        return self.tool.strict

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema; providers want one of an object, with a list of properties."""
        return as_object_schema(self.tool.parameters)


def as_object_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with the type of an object, and its properties."""
    schema = expand_root_ref(schema)
    return schema if "type" in schema and "properties" in schema else {"type": "object", "properties": {}, **schema}


def read_json_tools(tools: Iterable[Any]) -> list[DeclaredTool]:
    """Read tools of any kind, as `Toolset.of` does, without those that take text; raises TypeError or ValueError."""
    return [each for tool in tools for each in read_entry(tool, "", []) if each.custom is None]


def keep_json_tools(tools: list[DeclaredTool], lost: list[Loss]) -> list[DeclaredTool]:
    """Return the tools whose arguments are JSON; those that take text are lost."""
    lost += [Loss(each.tool.name, "", "custom", "dropped: tools take JSON here") for each in tools if each.custom]
    return [each for each in tools if not each.custom]


def read_tools(definitions: Any, lost: list[Loss]) -> list[DeclaredTool]:
    """Read the `tools` of a request; what cannot be read, or has no place elsewhere, is lost."""
    given = definitions if isinstance(definitions, (list, tuple)) else ()
    return [each for number, tool in enumerate(given) for each in read_entry_leniently(tool, f"tools[{number}]", lost)]


def read_entry_leniently(definition: Any, place: str, lost: list[Loss]) -> list[DeclaredTool]:
    """Read one entry of a request's `tools`; what cannot be read is lost."""
    try:
        return read_entry(definition, place, lost)
    except (TypeError, ValueError, RecursionError) as error:
        lost.append(Loss(place, "", "", f"dropped: {error}"))
        return []


def read_entry(definition: Any, place: str, lost: list[Loss]) -> list[DeclaredTool]:
    """Read one entry of a request's `tools`; raises TypeError or ValueError if it is no tool."""
    definition = read_sdk_object(definition)
    typed = isinstance(definition, Mapping) and is_typed_entry(definition)
    tools = [] if typed else list(Toolset.of([definition]).values())
    if not isinstance(definition, Mapping):
        return [DeclaredTool(tool) for tool in tools]
    if typed and (text := read_custom_tool(definition)) is not None:
        return [DeclaredTool(Tool(text.name, text.description), text)]
    if not tools:
        kind = str(definition.get("type") or next(iter(definition), ""))
        lost.append(Loss(place, "", kind, "dropped: the provider's own tool"))
        return []
    listed = next((definition[key] for key in LISTS if isinstance(definition.get(key), list)), None)
    if listed is not None:
        others = [key for key in definition if key not in LISTS]
        lost += [Loss(place, "", key, "dropped: the provider's own tool") for key in others]
    fields = [_merge_levels(each) for each in (listed if listed is not None else [definition])]
    return [_declare(tool, each, lost) for tool, each in zip(tools, fields, strict=False)]


def is_typed_entry(definition: Mapping[str, Any]) -> bool:
    """Whether a definition is a type without a schema, which its provider knows (`bash_20250124`, `custom`)."""
    known = definition.keys() & _READ - {"type", "name", "description", "strict"}
    return definition.get("type", "function") != "function" and not known


def _merge_levels(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return all fields of a definition, on whichever level they are."""
    inner = next((each for key in ("function", "toolSpec") if isinstance(each := definition.get(key), Mapping)), None)
    return {**definition, **(inner or {})}


def _declare(tool: Tool, fields: dict[str, Any], lost: list[Loss]) -> DeclaredTool:
    unread = [key for key, value in fields.items() if key not in _READ and value is not None]
    lost += [Loss(tool.name, "", key, "dropped: not part of a tool elsewhere") for key in unread]
    return DeclaredTool(tool)


ServerTool: TypeAlias = Mapping[str, Any]
"""A definition, or the part of one, that only its own provider can read."""


def split_server_tools(
    tools: Iterable[Any], keep: Callable[[ServerTool], bool]
) -> tuple[list[tuple[str, Any]], list[dict[str, Any]]]:
    """Split tools into all others, with their places in the request, and the providers' own that are to `keep`."""
    others: list[tuple[str, Any]] = []
    kept: list[dict[str, Any]] = []
    for number, tool in enumerate(map(read_sdk_object, tools)):
        own, rest = _get_server_tool(tool), tool
        if own is not None and keep(own):
            kept.append(dict(own))
            rest = {key: value for key, value in tool.items() if key not in own}
        if rest or own is None:
            others.append((f"tools[{number}]", rest))
    return others, kept


def _get_server_tool(tool: Any) -> ServerTool | None:
    """Return the part of a tool's definition that only its provider can read."""
    if not isinstance(tool, Mapping):
        return None
    if is_typed_entry(tool):
        return tool
    own = {key: value for key, value in tool.items() if key not in LISTS}
    return own if own and normalize_keys(own) <= list_server_tool_keys() else None


def has_keys(tool: ServerTool, keys: frozenset[str]) -> bool:
    """Whether a definition has only these keys, which are spelled as `normalize_keys` does."""
    return normalize_keys(tool) <= keys


def has_type(tool: ServerTool, pattern: re.Pattern[str]) -> bool:
    """Whether the whole `type` of a definition matches a pattern."""
    kind = tool.get("type")
    return isinstance(kind, str) and pattern.fullmatch(kind) is not None
