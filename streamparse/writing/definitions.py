"""Tools as they were declared, with what a definition said beyond the tool itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from streamparse.loss import Loss
from streamparse.schema.walk import expand_root_ref
from streamparse.tools import Tool, Toolset
from streamparse.tools.definitions import LISTS, read_sdk_object
from streamparse.writing.custom_tools import TextTool, read_text_tool

__all__ = ["Declared", "declare", "declared_by", "is_typed", "read_declared", "readable", "rooted"]

READ = {
    "type", "name", "description", "parameters", "input_schema", "inputSchema", "parametersJsonSchema",
    "parameters_json_schema", "function", "toolSpec", "strict",
}  # fmt: skip


class Declared(msgspec.Struct, frozen=True):
    """A tool as its definition is written; `takes` is that of a tool that takes text, which has no schema."""

    tool: Tool
    takes: TextTool | None = None

    @property
    def strict(self) -> bool:
        """Whether the schema is to be enforced while the model writes."""
        return self.tool.strict

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema, which providers want to be one of an object, with a list of properties."""
        return rooted(self.tool.parameters)


def rooted(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that says of itself that it is one of an object."""
    schema = expand_root_ref(schema)
    return schema if "type" in schema and "properties" in schema else {"type": "object", "properties": {}, **schema}


def declare(tools: Iterable[Any]) -> list[Declared]:
    """Read tools of any kind, as `Toolset.of` does, without those that take text; raises TypeError or ValueError."""
    return [each for tool in tools for each in declared_by(tool, "", []) if each.takes is None]


def read_declared(definitions: Any, lost: list[Loss]) -> list[Declared]:
    """Read the `tools` of a request; what cannot be read, or not be said elsewhere, is lost."""
    given = definitions if isinstance(definitions, (list, tuple)) else ()
    return [each for number, tool in enumerate(given) for each in readable(tool, f"tools[{number}]", lost)]


def readable(definition: Any, place: str, lost: list[Loss]) -> list[Declared]:
    """The tools of one entry of a request's `tools`; what cannot be read is lost."""
    try:
        return declared_by(definition, place, lost)
    except (TypeError, ValueError, RecursionError) as error:
        lost.append(Loss(place, "", "", f"dropped: {error}"))
        return []


def declared_by(definition: Any, place: str, lost: list[Loss]) -> list[Declared]:
    """The tools of one entry of a request's `tools`; raises TypeError or ValueError for what is none."""
    definition = read_sdk_object(definition)
    typed = isinstance(definition, Mapping) and is_typed(definition)
    tools = [] if typed else list(Toolset.of([definition]).values())
    if not isinstance(definition, Mapping):
        return [Declared(tool) for tool in tools]
    if typed and (text := read_text_tool(definition)) is not None:
        return [Declared(Tool(text.name, text.description), text)]
    if not tools:
        kind = str(definition.get("type") or next(iter(definition), ""))
        lost.append(Loss(place, "", kind, "dropped: the provider's own tool"))
        return []
    listed = next((definition[key] for key in LISTS if isinstance(definition.get(key), list)), None)
    if listed is not None:
        lost += [Loss(place, "", key, "dropped: the provider's own tool") for key in definition if key not in LISTS]
    said = [_said(each) for each in (listed if listed is not None else [definition])]
    return [_declared(tool, fields, lost) for tool, fields in zip(tools, said, strict=False)]


def is_typed(definition: Mapping[str, Any]) -> bool:
    """Whether a definition is a type without a schema, which its provider knows (`bash_20250124`, `custom`)."""
    known = definition.keys() & READ - {"type", "name", "description", "strict"}
    return definition.get("type", "function") != "function" and not known


def _said(definition: Mapping[str, Any]) -> dict[str, Any]:
    """All that a definition says, on whichever level."""
    inner = next((each for key in ("function", "toolSpec") if isinstance(each := definition.get(key), Mapping)), None)
    return {**definition, **(inner or {})}


def _declared(tool: Tool, fields: dict[str, Any], lost: list[Loss]) -> Declared:
    unread = [key for key, value in fields.items() if key not in READ and value is not None]
    lost += [Loss(tool.name, "", key, "dropped: not part of a tool elsewhere") for key in unread]
    return Declared(tool)
