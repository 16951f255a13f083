"""Prompts that teach a model the tools where the server does not: what is asked for is what is parsed.

The example in a prompt is a call of the first tool with values of the right types, written in the dialect itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from streamparse.json.json_safety import compact
from streamparse.loss import Loss
from streamparse.response import ToolCall
from streamparse.schema.kinds import SchemaView
from streamparse.schema.walk import inline_refs
from streamparse.tools import Tool, ToolResult
from streamparse.writing.call_writers import Spoken
from streamparse.writing.content import spoken
from streamparse.writing.defanging import defang
from streamparse.writing.definitions import declare
from streamparse.writing.json_access import present
from streamparse.writing.markup import MARKUPS, Markup

__all__ = [
    "PROMPTS",
    "Prompt",
    "example_call",
    "format_calls_as_text",
    "format_results_as_text",
    "format_system_prompt",
]

_TEXT = """\
You can call tools. Each line between the tags declares one of them, with the JSON Schema of its arguments:

<tools>
{tools}
</tools>

To call a tool, write the call in exactly this form, which shows a call of {name}:

{example}

{rule}Call only the tools above, with the arguments that their schemas ask for. The result comes with the next message.
If no tool is of use, answer without one."""


_UNSAID = "no call in this format can name it"

_PLAIN: dict[str, Any] = {"integer": 1, "number": 1.5, "boolean": True, "null": None}


class Prompt(msgspec.Struct, frozen=True):
    """The prompt of one dialect."""

    markup: Markup

    def write(self, tools: Iterable[Any], lost: list[Loss]) -> str:
        """The text for tools of any kind; "" for none.  Adds the parameters that the dialect has no way to name."""
        known = [declared.tool for declared in declare(tools)]
        if not known:
            return ""
        for tool in known:
            lost += [Loss(tool.name, f"/properties/{name}", "name", _UNSAID) for name in self.markup.unsayable(tool)]
        example = self.say([example_call(known[0])], lost, known[:1])
        rule = f"{self.markup.rule} " if self.markup.rule else ""
        return _TEXT.format(tools="\n".join(map(_line, known)), name=known[0].name, example=example, rule=rule)

    def say(self, calls: Iterable[ToolCall], lost: list[Loss], tools: Iterable[Any] = ()) -> str:
        """Calls as a model would have written them; "" for none.  Adds what of them is not read back as it is.

        The schemas of the tools tell what a text is read as; of a tool that is not among them, nobody knows.
        """
        typed = {declared.tool.name: _typed(declared.tool) for declared in declare(tools)}
        unknown = SchemaView([], None)
        spoken = (
            Spoken(call.name, call.arguments, number, typed.get(call.name, unknown))
            for number, call in enumerate(calls)
        )
        return self.markup.write(spoken, lost)


PROMPTS: dict[str, Prompt] = {name: Prompt(markup) for name, markup in MARKUPS.items()}
"""The prompts, by the name of the dialect that reads what they ask for."""


def format_system_prompt(tools: Iterable[Any], dialect: str = "hermes") -> str:
    """The text that tells a model of tools and of how to call them in a dialect; "" without tools.

    Raises ValueError for a dialect that has no prompt, and for a parameter whose name it cannot say.
    """
    lost: list[Loss] = []
    return _kept(_prompt(dialect).write(tools, lost), lost, dialect)


def format_calls_as_text(calls: Iterable[ToolCall], dialect: str = "hermes", tools: Iterable[Any] = ()) -> str:
    """Calls as a model would have written them in a dialect: for the history of a model without native tools.

    The dialect reads them back as they are.  In formats whose values have no types the schemas of the tools tell as
    what a value is read; without them a text that is JSON is not written in its tags, but all arguments of its call as
    one JSON object, and any other value is taken to be what its tool wants.
    Raises ValueError for a dialect that has no prompt, and for a call that it cannot say.
    """
    lost: list[Loss] = []
    return _kept(_prompt(dialect).say(calls, lost, tools), lost, dialect)


def format_results_as_text(results: Iterable[ToolResult], dialect: str = "hermes", tools: Iterable[Any] = ()) -> str:
    """Results for a model that was asked for a dialect: the text of the message behind its calls; "" for none.

    They stand in the order of the calls, each with the name of its tool; those of revoked calls are left out.  What
    tools return is defanged (`defang`): it cannot end its own result, or write a call in the place of the model.
    Raises ValueError for a dialect that has no prompt.
    """
    _prompt(dialect)
    names = [declared.tool.name for declared in declare(tools)]
    ordered = sorted((result for result in results if not result.revoked), key=lambda result: result.index)
    return "\n".join(_said(result, dialect, names) for result in ordered)


def _said(result: ToolResult, dialect: str, names: list[str]) -> str:
    names = [*names, result.tool_name]
    text = defang(spoken(result), names)
    if dialect == "react":
        return f"Observation: {text}"
    return f"<tool_response>\n{compact({'name': defang(result.tool_name), 'content': text})}\n</tool_response>"


def _kept(text: str, lost: list[Loss], dialect: str) -> str:
    for loss in lost:
        raise ValueError(f"the dialect {dialect!r} cannot say {loss.path} of {loss.place!r}: {loss.outcome}")
    return text


def _typed(tool: Tool) -> SchemaView:
    return SchemaView([tool.parameters], tool.parameters)


def _prompt(dialect: str) -> Prompt:
    if dialect not in PROMPTS:
        raise ValueError(f"no prompt for the dialect {dialect!r}; known are: {', '.join(PROMPTS)}")
    return PROMPTS[dialect]


def _line(tool: Tool) -> str:
    return compact({**present(name=tool.name, description=tool.description), "parameters": tool.parameters})


def example_call(tool: Tool) -> ToolCall:
    """A call of a tool with its required arguments, or else its first one."""
    schema = inline_refs(tool.parameters, tool.name, [])
    properties = schema.get("properties")
    return ToolCall(tool.name, _members(schema, properties if isinstance(properties, dict) else {}))


def _members(schema: dict[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    required = schema.get("required")
    names = [name for name in properties if isinstance(required, list) and name in required] or list(properties)[:1]
    return {name: _sample(properties[name]) for name in names}


def _sample(schema: Any) -> Any:
    """A value that fits a schema, as far as its type tells."""
    if not isinstance(schema, dict):
        return "text"
    given = [*(schema.get(key) or () for key in ("examples", "enum"))]
    chosen = next((options[0] for options in given if isinstance(options, list) and options), schema.get("const"))
    if chosen is not None:
        return chosen
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list) and choices:
        return _sample(choices[0])
    return _sample_of(schema, schema.get("type"))


def _sample_of(schema: dict[str, Any], kind: Any) -> Any:
    kind = str(kind[0] if isinstance(kind, list) and kind else kind)
    if kind == "array":
        return [_sample(schema.get("items"))]
    if kind == "object":
        properties = schema.get("properties")
        return _members(schema, properties if isinstance(properties, dict) else {})
    return schema.get("minimum", _PLAIN[kind]) if kind in ("integer", "number") else _PLAIN.get(kind, "text")
