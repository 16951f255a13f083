"""The tools of a client of Responses, for a model that knows plain functions alone, and their calls in its history.

| declared | the model is offered |
|---|---|
| `function` | the same |
| `namespace` with functions (Codex) | each as `NAMESPACE__NAME` |
| `custom`, a tool that takes text | a function with one argument, `input` |
| anything else: the provider's own server would run it (`web_search`) | nothing |

A call goes back as the client declared its tool: Codex refuses `NAMESPACE.NAME` and `NAMESPACE__NAME`, and wants the
name and the `namespace` apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from streamparse.loss import Loss
from streamparse.providers.openai_chat.extras import CUSTOM_CALL, CUSTOM_OUTPUT
from streamparse.writing.json_access import get_objects, get_str

INPUT: Final = "input"
"""The argument of a function that stands for a tool that takes text."""

_CALLS: Final = ("function_call", CUSTOM_CALL)


class ClientTool(msgspec.Struct, frozen=True):
    """How a client declared a tool; the tool may have another name for the model."""

    name: str
    namespace: str = ""
    takes_text: bool = False

    @property
    def model_name(self) -> str:
        """The name under which the model knows the tool."""
        return f"{self.namespace}__{self.name}" if self.namespace else self.name


def read_text_input(arguments: Mapping[str, Any]) -> str:
    """Return the text for a tool that takes text, from the arguments with which the model called it."""
    text = arguments.get(INPUT)
    return text if isinstance(text, str) else msgspec.json.encode(arguments).decode()


def flatten_tools(request: Mapping[str, Any], lost: list[Loss]) -> tuple[dict[str, Any], dict[str, ClientTool]]:
    """Return a request whose tools are functions, and how the client declared those that were not, by the new name.

    Tools that the provider's own server would run are lost, and of two with one name the second.  All else stays as it
    is.
    """
    functions: dict[str, dict[str, Any]] = {}
    declared: dict[str, ClientTool] = {}
    for tool, function in _flatten(get_objects(request.get("tools")), "", lost):
        if tool.model_name in functions:
            lost.append(Loss("tools", "", tool.model_name, "dropped: another tool has its name"))
            continue
        functions[tool.model_name] = function
        if tool.namespace or tool.takes_text:
            declared[tool.model_name] = tool
    flat = {**request, "tools": list(functions.values())} if "tools" in request else dict(request)
    if isinstance(items := request.get("input"), list):
        flat[INPUT] = [_flatten_item(item) for item in items]
    if "tool_choice" in request:
        flat["tool_choice"] = _flatten_choice(request["tool_choice"], flat, lost)
    return flat, declared


def _flatten(
    tools: list[Mapping[str, Any]], namespace: str, lost: list[Loss]
) -> Iterator[tuple[ClientTool, dict[str, Any]]]:
    for written in tools:
        kind = get_str(written, "type")
        if kind == "namespace" and not namespace:
            yield from _flatten(get_objects(written.get("tools")), get_str(written, "name"), lost)
            continue
        tool = ClientTool(get_str(written, "name"), namespace, kind == "custom")
        if kind == "function":
            yield tool, {**written, "name": tool.model_name}
        elif kind == "custom":
            yield tool, _make_text_function(tool, written)
        else:
            lost.append(Loss("tools", "", kind or "tools", "dropped: only the provider's own server runs it"))


def _make_text_function(tool: ClientTool, written: Mapping[str, Any]) -> dict[str, Any]:
    """Return the function that stands for a tool that takes text; its grammar is told in words."""
    form = written.get("format")
    grammar = get_str(form, "definition") if isinstance(form, Mapping) else ""
    syntax = get_str(form, "syntax") if isinstance(form, Mapping) else ""
    told = f"The text follows this grammar ({syntax}):\n{grammar}" if grammar else "The text that the tool takes."
    schema = {
        "type": "object",
        "properties": {INPUT: {"type": "string", "description": told}},
        "required": [INPUT],
        "additionalProperties": False,
    }
    description = get_str(written, "description")
    return {"type": "function", "name": tool.model_name, "description": description, "parameters": schema}


def _flatten_item(item: Any) -> Any:
    """Return an item of the conversation with calls and results as those of functions."""
    if not isinstance(item, Mapping):
        return item
    kind = get_str(item, "type")
    if kind == CUSTOM_OUTPUT:
        return {**item, "type": "function_call_output"}
    if kind not in _CALLS:
        return item
    tool = ClientTool(get_str(item, "name"), get_str(item, "namespace"))
    rest = {key: value for key, value in item.items() if key not in ("namespace", INPUT)}
    if kind == CUSTOM_CALL:
        arguments = msgspec.json.encode({INPUT: get_str(item, INPUT)}).decode()
        rest |= {"type": "function_call", "arguments": arguments}
    return rest | {"name": tool.model_name}


def _flatten_choice(choice: Any, request: dict[str, Any], lost: list[Loss]) -> Any:
    """Return the choice among functions; a list of allowed tools leaves only these in the request."""
    if not isinstance(choice, Mapping):
        return choice
    kind = get_str(choice, "type")
    if kind == "allowed_tools":
        allowed = {name for each in get_objects(choice.get("tools")) if (name := _find_model_name(each))}
        request["tools"] = [tool for tool in get_objects(request.get("tools")) if tool["name"] in allowed]
        return get_str(choice, "mode") or "auto"
    name = _find_model_name(choice)
    if name is None:
        lost.append(Loss("request", "", "tool_choice", f"dropped: {kind} is the provider's own tool"))
        return "auto"
    return {"type": "function", "name": name}


def _find_model_name(choice: Mapping[str, Any]) -> str | None:
    if get_str(choice, "type") not in ("function", "custom"):
        return None
    return ClientTool(get_str(choice, "name"), get_str(choice, "namespace")).model_name
