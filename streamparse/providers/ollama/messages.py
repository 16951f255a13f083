"""Ollama's `/api/chat`: the messages, and whole requests.

https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion

Arguments are objects, images bare base64 next to the text, and a result names its tool.  Ids of calls are known to
newer versions; older ones ignore them.  Of a parameter's schema the server reads a few keywords
(`api.ToolProperty`); the others are sent, but never reach the model's prompt: each is a loss.  References are
among them, so what they name is put in their place.

**Requests.** A request is for a stream unless it says otherwise.  No tool can be demanded, and none forbidden: for
`none` no tools are sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.schema.walk import inline_refs
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.definitions import DeclaredTool
from streamparse.writing.json_access import FUNCTION_FIELDS, drop_empty, get_object, get_objects, get_str, get_strs
from streamparse.writing.parts import Image, Item, Message, Part, Text, Thought, read_role
from streamparse.writing.request import SAMPLING_FIELDS, Request
from streamparse.writing.request_format import RequestFormat, place_alike, read_object
from streamparse.writing.results import read_text_result, show_result, write_result_text
from streamparse.writing.traits import MediaSupport, ProviderTraits, guess_image_type

_READ = {"type", "description", "enum", "items", "anyOf", "properties", "required"}


class Ollama(Adapter):
    """The chat of Ollama."""

    traits: ProviderTraits = ProviderTraits(
        name="ollama",
        tool={"type": "function", "function": FUNCTION_FIELDS},
        call={"id": "$id?", "function": {"name": "$name", "arguments": "$arguments"}},
        separate_media=True,
        media=MediaSupport(image_urls=False, document_types=frozenset()),
    )

    def write_tool(self, declared: DeclaredTool, lost: list[Loss], /) -> JSONObject:
        schema = inline_refs(declared.parameters, declared.tool.name, lost)
        _report_unread(schema, "", declared.tool.name, lost)
        return self.fill_tool(declared, schema)

    def format_result(self, result: ToolResult) -> JSONObject:
        parts = [] if result.error is not None else self.traits.media.filter(show_result(result))
        images = _list_images(parts)
        text = _join_texts(parts) if images else write_result_text(result)
        fields = drop_empty(tool_name=result.tool_name, tool_call_id=result.call_id, images=images)
        return {"role": "tool", "content": text, **fields}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        name = get_str(written, "tool_name") or get_str(written, "name")
        return read_text_result(get_str(written, "tool_call_id"), name, _read_content(written))

    def write_message(self, message: Message, lost: list[Loss], /) -> list[JSONObject]:
        for part in message.parts:
            if isinstance(part, Item):
                lost.append(Loss(message.role, "", part.kind, "dropped: there is no place for it"))
        if message.role == "assistant":
            fields = drop_empty(thinking=message.thought, tool_calls=self.format_calls(message.calls))
            return [{"role": "assistant", "content": message.text, **fields}]
        results = [self.format_result(result) for result in message.results]
        if len(message.parts) == len(results):
            return results
        parts = self.traits.media.filter(message.parts)
        images = drop_empty(images=_list_images(parts))
        return [*results, {"role": message.role, "content": _join_texts(parts), **images}]

    def read_message(self, written: Mapping[str, Any]) -> Message:
        role = get_str(written, "role")
        if role == "tool":
            return Message("user", [self.read_result(written)])
        thought: list[Part] = [Thought(text)] if (text := get_str(written, "thinking")) else []
        calls = self.read_calls(get_objects(written.get("tool_calls")))
        return Message(read_role(role), [*thought, *_read_content(written), *calls])


def _read_content(written: Mapping[str, Any]) -> list[Part]:
    """Read the text and the images of a message; their first characters show the media type."""
    text = get_str(written, "content")
    images = [Image(data, guess_image_type(data)) for data in get_strs(written.get("images"))]
    return [*([Text(text)] if text else []), *images]


def _join_texts(parts: Iterable[Any]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text))


def _list_images(parts: Iterable[Any]) -> list[str]:
    return [part.data for part in parts if isinstance(part, Image) and part.data]


def _report_unread(schema: Any, path: str, tool: str, lost: list[Loss]) -> None:
    """Report the keywords that the server does not read."""
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key not in _READ:
            lost.append(Loss(tool, path, key, "sent, but the server does not read it"))
        elif key == "properties" and isinstance(value, dict):
            for name, each in value.items():
                _report_unread(each, f"{path}/properties/{name}", tool, lost)
        elif key == "anyOf" and isinstance(value, list):
            for number, each in enumerate(value):
                _report_unread(each, f"{path}/anyOf/{number}", tool, lost)


_GENERATE_FIELDS = ("prompt", "system", "images")
_GENERATE_ONLY = ("suffix", "template", "context", "raw")

# -- requests --------------------------------------------------------------------------------------


def _normalize(request: Mapping[str, Any]) -> Mapping[str, Any]:
    options = dict(get_object(request, "options"))
    limit = options.get("num_predict")
    if not (isinstance(limit, int) and limit > 0):  # -1 is no limit
        options["num_predict"] = None
    return {**request, "options": options, "stream": request.get("stream") is not False}


def _read_others(request: Mapping[str, Any], _lost: list[Loss]) -> dict[str, Any]:
    form, think = request.get("format"), request.get("think")
    schema = {} if form == "json" else read_object(form)
    effort = think if isinstance(think, str) else ""
    return {"schema": schema, "think": bool(think) if think is not None else None, "effort": effort}


def _restrict(request: Request, lost: list[Loss]) -> Request:
    if request.choice.mode == "none":
        return replace(request, tools=[])
    if not request.tools or request.choice.mode != "required":
        return request
    lost.append(Loss("request", "", "tool_choice", "dropped: the model decides"))
    only = [each for each in request.tools if each.tool.name == request.choice.name]
    return replace(request, tools=only) if only else request


def read_generate(request: Mapping[str, Any], lost: list[Loss]) -> dict[str, Any]:
    """Return a request of `/api/generate` as one of `/api/chat`; what has no place in a conversation is lost."""
    images = request.get("images")
    user = {"role": "user", "content": get_str(request, "prompt"), **({"images": images} if images else {})}
    system = get_str(request, "system")
    head = [{"role": "system", "content": system}] if system else []
    lost += [Loss("request", "", name, "dropped: a chat has none") for name in _GENERATE_ONLY if request.get(name)]
    rest = {name: value for name, value in request.items() if name not in (*_GENERATE_FIELDS, *_GENERATE_ONLY)}
    return {**rest, "messages": [*head, user]}


def _write_others(request: Request, _lost: list[Loss]) -> dict[str, Any]:
    form = request.schema or "json" if request.schema is not None else None
    return {"stream": request.stream, "think": request.think, "format": form}


OLLAMA_REQUESTS = RequestFormat(
    fields=place_alike("model", "messages", "stream", "tools")
    | place_alike("stop", *SAMPLING_FIELDS, section="options")
    | {"max_tokens": "options.num_predict"},
    other_places=("format", "think"),
    wants_pairs=False,
    others_written=("think",),
    normalize=_normalize,
    read_others=_read_others,
    restrict=_restrict,
    write_others=_write_others,
)
