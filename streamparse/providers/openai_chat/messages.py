"""OpenAI chat completions, and those that speak like it: the messages, and whole requests.

https://platform.openai.com/docs/api-reference/chat/create

A result is one `tool` message, directly after the assistant's.  It holds text alone: an error is `{"error": ...}`, and
images and documents follow in a user's message after all results.  The plain protocol has no place for thought:
`extras` has what servers add to it, and `openai_compatible` those that want thought back in fields of their own.

**Requests.** OpenAI has two names for the limit.  Its models that think refuse the older one, `max_tokens`; its other
models take both, with one meaning; and many other servers know the older one alone:

| who | what `max_completion_tokens` does there |
|---|---|
| Ollama | nothing: the answer has no limit (https://github.com/ollama/ollama/issues/7125) |
| llama-cpp-python | nothing (https://github.com/abetlen/llama-cpp-python/issues/1907) |
| Mistral | the request is refused (https://github.com/editor-code-assistant/eca/issues/231) |

So the newer name is written for the models that want it, known by their names, and for no other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from streamparse.loss import Loss
from streamparse.providers.openai_chat import extras
from streamparse.schema.strict import find_open_objects, find_optional_properties, forbid
from streamparse.tools import ToolResult
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.content import PDF, VisiblePart, get_filename, read_blocks
from streamparse.writing.json_access import FUNCTION_FIELDS, drop_empty, get_object, get_objects, get_str
from streamparse.writing.parts import Document, Image, Item, Message, Part, Text, Thought, is_item, read_role
from streamparse.writing.request import ACCOUNT_FIELDS, SCHEMA_NAME, Choice, Request
from streamparse.writing.request_format import RequestFormat, lose_unread, place_alike, read_object
from streamparse.writing.results import list_text_losses, read_text_result, show_result, write_result_text
from streamparse.writing.traits import IdPolicy, MediaSupport, NamePolicy, ProviderTraits

_RESULT_ROLES = ("tool", "function")
_REFUSED_AT_ROOT = ("anyOf", "oneOf", "allOf", "enum", "not")
"""Keywords that are refused at the top of a tool's schema, be it enforced or not."""
_STRICT_CHECKS = (
    find_open_objects,
    find_optional_properties,
    forbid("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"),
)
"""What a schema that is to be enforced must pass.

https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
"""


def _is_custom_tool(tool: Mapping[str, Any]) -> bool:
    """Whether a definition is a tool that takes text, as chat completions declare it."""
    return tool.get("type") == "custom" and "custom" in tool


class OpenAI(Adapter):
    """Chat completions, as OpenAI itself takes them."""

    traits: ProviderTraits = ProviderTraits(
        name="openai",
        tool={"type": "function", "function": {**FUNCTION_FIELDS, "strict": "$strict?"}},
        call={"id": "$id", "type": "function", "function": {"name": "$name", "arguments": "$arguments"}},
        arguments_as_text=True,
        names=NamePolicy(r"[a-zA-Z0-9_-]{1,64}"),
        ids=IdPolicy(r"(?s).*", 40),
        message_names=True,
        image_detail=True,
        strict_schemas=True,
        write_custom_tool=extras.write_chat_tool,
        own_blocks=("input_audio", "file"),
        schema_checks=_STRICT_CHECKS,
        forbidden_root_keywords=_REFUSED_AT_ROOT,
        media=MediaSupport(document_types=frozenset((PDF,)), document_urls=False, document_fields=frozenset(("name",))),
        is_server_tool=_is_custom_tool,
    )

    def format_result(self, result: ToolResult) -> JSONObject:
        id = self.traits.ids.normalize(result.call_id)
        return {"role": "tool", "tool_call_id": id, "content": write_result_text(result)}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        name = get_str(written, "name") if get_str(written, "role") == "function" else ""  # before there were tools
        return read_text_result(get_str(written, "tool_call_id"), name, read_blocks(written.get("content")))

    # -- messages --------------------------------------------------------------------------------------

    def write_message(self, message: Message, lost: list[Loss], /) -> list[JSONObject]:
        name = drop_empty(name=message.name) if self.traits.message_names else {}
        if message.role == "assistant":
            self._lose_foreign_items(message, lost)
            return [{**self.write_assistant(message, lost), **name}]
        parts = [
            extras.read_custom_output(part) if isinstance(part, Item) and self.has_place_for(part) else part
            for part in message.parts
        ]
        results = [part for part in parts if isinstance(part, ToolResult)]
        media = self._move_media(results, lost)
        others = self.traits.media.filter(part for part in parts if not isinstance(part, ToolResult))
        written = [self.format_result(result) for result in results]
        if media or others:
            content = self.write_content([*media, *others], lost)
            written.append({"role": message.role, "content": content, **name})
        return written

    def _move_media(self, results: list[ToolResult], lost: list[Loss]) -> list[Part]:
        """Return the images and documents of results, which hold only text here."""
        shown = [part for result in results for part in self.traits.media.filter(show_result(result))]
        media: list[Part] = [part for part in shown if isinstance(part, (Image, Document))]
        for kind in dict.fromkeys(type(part).__name__.lower() for part in media):
            lost.append(Loss("tool", "", kind, "moved into a user's message after the results"))
        return media

    def write_visible(self, part: VisiblePart, /) -> JSONObject:
        if isinstance(part, Text):
            return {"type": "text", "text": part.text}
        if isinstance(part, Image):
            return {"type": "image_url", "image_url": {"url": part.address, **drop_empty(detail=part.detail)}}
        return {"type": "file", "file": {"filename": get_filename(part), "file_data": part.address}}

    def read_messages(self, messages: Any, lost: list[Loss] | None = None) -> list[Message]:
        return list(extras.mark_custom_outputs(super().read_messages(messages, lost)))

    def read_message(self, written: Mapping[str, Any]) -> Message:
        role = get_str(written, "role")
        if role in _RESULT_ROLES:
            return Message("user", [self.read_result(written)])
        parts, name = read_blocks(written.get("content")), get_str(written, "name")
        if role != "assistant":
            return Message(read_role(role), parts, name)
        functions = [call for call in get_objects(written.get("tool_calls")) if get_str(call, "type") != "custom"]
        if not functions:  # before there were tools
            functions = [{"function": call} for call in get_objects([written.get("function_call")])]
        items = [
            Item(kind, call[kind], number)
            for number, call in enumerate(functions)
            for kind in extras.CALL_EXTRAS
            if isinstance(call.get(kind), Mapping)
        ]
        refusal = [Text(text)] if (text := get_str(written, "refusal")) else []
        said = [*self.read_thought(written), *parts, *refusal]
        return Message("assistant", [*said, *self.read_calls(functions), *items, *extras.read_extras(written)], name)

    def list_unread(self, written: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        if get_str(written, "role") in _RESULT_ROLES:
            yield from list_text_losses(read_blocks(written.get("content")), place)

    # -- the assistant's message -----------------------------------------------------------------------

    def has_place_for(self, item: Item, /) -> bool:
        """Whether an item of the assistant has a place in the message, other than next to its call."""
        return item.kind in extras.EXTRA_KINDS

    def write_assistant(self, message: Message, lost: list[Loss], /) -> JSONObject:
        """Write the assistant's message."""
        parts = [part for part in message.parts if not isinstance(part, Item) or self.has_place_for(part)]
        calls = [*self._write_calls(message), *extras.write_custom_calls(parts, self.traits.ids)]
        audio = extras.write_audio(parts)
        content = {} if audio and not message.text else {"content": message.text or (None if calls else "")}
        thought = {**extras.write_signed_thoughts(parts), **self.write_thought(message, lost)}
        return {"role": "assistant", **content, **audio, **thought, **drop_empty(tool_calls=calls)}

    def write_thought(self, message: Message, lost: list[Loss], /) -> JSONObject:
        """Write the fields of the assistant's message that hold its thought."""
        if message.thought and not extras.write_signed_thoughts(message.parts):
            lost.append(Loss("assistant", "", "thought", "dropped: there is no place for it"))
        return {}

    def read_thought(self, written: Mapping[str, Any]) -> list[Part]:
        """Read the thought of a message, in whichever field it is."""
        parts = extras.read_signed_thoughts(written)
        fields = ("reasoning_content", "reasoning", "reasoning_text")
        text = next((text for field in fields if (text := get_str(written, field))), "")
        is_read = not text or any(isinstance(part, Thought) for part in parts)
        return parts if is_read else [Thought(text), *parts]

    def _write_calls(self, message: Message) -> list[JSONObject]:
        """Write the calls, each with what its provider wants back with it."""
        wanted: defaultdict[int | None, JSONObject] = defaultdict(dict)
        for part in filter(_is_extra, message.parts):
            wanted[part.index][part.kind] = part.data
        calls = sorted(message.calls, key=lambda call: call.index)
        return [{**self.format_call(call), **wanted[call.index]} for call in calls]

    def _lose_foreign_items(self, message: Message, lost: list[Loss]) -> None:
        for part in message.parts:
            if isinstance(part, Item) and not (_is_extra(part) or self.has_place_for(part)):
                lost.append(Loss("assistant", "", part.kind, "dropped: there is no place for it"))


def _is_extra(part: Part) -> TypeGuard[Item]:
    """Whether a part belongs to a call, as signatures of Gemini's thoughts do at Google's own server."""
    return is_item(part, *extras.CALL_EXTRAS) and part.index is not None


# -- requests --------------------------------------------------------------------------------------

_SAMPLING = ("temperature", "top_p", "seed", "presence_penalty", "frequency_penalty")
_NO_EFFORT = ("none", "minimal")
_THINKING_MODELS = re.compile(r"(?:[\w.-]+/|ft:)?(?:o\d|gpt-(?!3|4|oss))")
"""The models that refuse `max_tokens`: OpenAI's that think."""


def is_thinking_model(model: str) -> bool:
    """Whether a name is that of one of OpenAI's models that think."""
    return _THINKING_MODELS.match(model) is not None


# -- what both of OpenAI's APIs say alike ------------------------------------------------------------------------------


def read_choice(request: Mapping[str, Any], *name: str) -> Choice:
    """Read the choice of tools in OpenAI's words; `name` is the path to that of the only one."""
    choice, parallel = request.get("tool_choice"), request.get("parallel_tool_calls")
    may_parallel = parallel if isinstance(parallel, bool) else None
    only = get_str(choice, *name) if get_str(choice, "type") in ("", "function") else ""
    if choice in ("auto", "none", "required"):
        return Choice(choice, parallel=may_parallel)
    return Choice("required" if only else None, only, may_parallel)


def write_choice(request: Request, function: dict[str, Any]) -> dict[str, Any]:
    """Write the choice of tools; `function` names the only one."""
    choice = request.choice
    if not request.tools:
        return {}
    named = {"type": "function", **function} if choice.name else choice.mode
    return {"tool_choice": named, "parallel_tool_calls": choice.parallel}


def read_answer_format(form: Any, section: Any, lost: list[Loss]) -> dict[str, Any]:
    """Read the format of the answer; `section` is where it has the schema."""
    schema = read_object(section.get("schema"))
    if get_str(form, "type") == "json_object":
        schema = dict(get_object(form, "schema"))  # llama.cpp, Together and Fireworks take a schema there
    if form is not None and schema is None and get_str(form, "type") != "text":
        lost.append(Loss("request", "", "response_format", "dropped: it says no schema, and nothing known elsewhere"))
    lose_unread(section, ("name", "schema", "strict", *(("type",) if section is form else ())), lost)
    return {"schema": schema, "schema_name": get_str(section, "name"), "strict": section.get("strict") is True}


def can_enforce(request: Request, lost: list[Loss]) -> bool:
    """Whether the schema of the answer is to be enforced; one that would be refused then is not, and that is a loss."""
    refused = [*find_open_objects(request.schema), *find_optional_properties(request.schema)] if request.strict else []
    for path, keyword, why in refused[:1]:
        lost.append(Loss("request", path, "strict", f"dropped: {keyword}: {why}"))
    return request.strict and not refused


def read_effort(effort: str) -> dict[str, Any]:
    """Read how much thought is asked for; no effort says nothing."""
    return {"effort": effort, "think": effort not in _NO_EFFORT if effort else None}


# -- chat completions --------------------------------------------------------------------------------------------------


def _normalize(request: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**request, "max_tokens": request.get("max_completion_tokens") or request.get("max_tokens")}


def _read_others(request: Mapping[str, Any], lost: list[Loss]) -> dict[str, Any]:
    form = request.get("response_format")
    return {
        "choice": read_choice(request, "function", "name"),
        **read_answer_format(form, get_object(form, "json_schema"), lost),
        **read_effort(get_str(request, "reasoning_effort")),
    }


def _write_others(request: Request, lost: list[Loss]) -> dict[str, Any]:
    limit = "max_completion_tokens" if is_thinking_model(request.model) else "max_tokens"
    choice = write_choice(request, {"function": {"name": request.choice.name}})
    return {limit: request.max_tokens, **choice, "response_format": _write_format(request, lost)}


def _write_format(request: Request, lost: list[Loss]) -> dict[str, Any] | None:
    if not request.schema:
        return {"type": "json_object"} if request.schema is not None else None
    strict = drop_empty(strict=can_enforce(request, lost) or None)
    name = request.schema_name or SCHEMA_NAME
    return {"type": "json_schema", "json_schema": {"name": name, "schema": request.schema, **strict}}


CHAT_REQUESTS = RequestFormat(
    fields=place_alike("model", "messages", "tools", "stop", "stream", *_SAMPLING, *ACCOUNT_FIELDS)
    | {"effort": "reasoning_effort"},
    read_only=place_alike("max_tokens", "top_k"),
    other_places=("max_completion_tokens", "tool_choice", "parallel_tool_calls", "response_format"),
    max_stops=4,
    others_written=("parallel", "schema_name"),
    normalize=_normalize,
    read_others=_read_others,
    write_others=_write_others,
)
"""Chat completions as OpenAI takes them, and most servers that speak like it."""
