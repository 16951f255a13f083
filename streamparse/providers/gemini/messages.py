"""Gemini's `generateContent` and `streamGenerateContent`: the messages, and whole requests.

https://ai.google.dev/api/caching#Content, https://ai.google.dev/gemini-api/docs/thought-signatures

A tool's schema may be written in two ways: as `parameters`, in a subset of OpenAPI 3.0, or as
`parametersJsonSchema`, in JSON Schema.  The first is understood by every version, by Vertex AI and by relays, the
second loses nothing.  So `Gemini` takes the first where it is read again as exactly the same and no server refuses it,
and the second where not.
`GeminiOpenAPI` always takes the first, for servers that know no other, and lists what is lost.

Results are parts of one content, each an object: `{"output": ...}` unless it is one already, or `{"error": ...}`.
What they show is next to it.

Some servers refuse what is in the subset of OpenAPI, or is JSON Schema:

| refused | seen |
|---|---|
| a schema without a type | Gemini 3, https://github.com/UKGovernmentBEIS/inspect_ai/pull/3097 |
| keywords beside `anyOf` | Vertex AI, https://github.com/BerriAI/litellm/issues/11164 |
| an object without properties | https://github.com/pipecat-ai/pipecat-flows/issues/110 |
| an array without items | https://github.com/kkrishnan90/gemini-desktop/pull/7 |
| in JSON Schema: keywords beside `$ref`, but for two | https://github.com/anomalyco/opencode/issues/12295 |

`streamparse.schema.openapi` always writes items; those without a type are refused as such.

**Requests.** https://ai.google.dev/api/generate-content

The path names the model and says whether it is a stream, so they are not in the body; a body that names its model, as
those of batches do, is read with it.

A model that thinks wants the first call of each answer since the user last spoke back with its signature, and refuses
the request without.  Where a conversation has none, because another model made the call or the client has lost it,
Google names a word to send instead (https://ai.google.dev/gemini-api/docs/thought-signatures#faqs).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.providers.gemini.facts import OWN_PARTS, SERVER_TOOL_KEYS
from streamparse.providers.gemini.parts import (
    add_signature,
    get_result_parts,
    get_signature,
    list_unread_keys,
    read_part,
    to_camel_keys,
    to_camel_part,
    write_part,
)
from streamparse.providers.gemini.sdk_dump import to_camel_case
from streamparse.response import ToolCall
from streamparse.schema.openapi import to_openapi
from streamparse.schema.strict import as_warnings
from streamparse.schema.walk import walk
from streamparse.tools import ToolResult, Toolset
from streamparse.writing.adapter import NO_ANSWER, Adapter, JSONObject
from streamparse.writing.content import DOCUMENT_ENDINGS, PDF, VisiblePart, join_text
from streamparse.writing.definitions import DeclaredTool, as_object_schema, has_keys, read_tools
from streamparse.writing.json_access import drop_empty, get_object, get_objects, get_str, get_strs, write_value
from streamparse.writing.parts import SIGNATURE, Document, Image, Item, Message, Part, Text, Thought, read_role
from streamparse.writing.request import SAMPLING_FIELDS, Choice, Request
from streamparse.writing.request_format import RequestFormat, lose_unread, read_object
from streamparse.writing.results import make_result, show_result, unwrap_result, wrap_result
from streamparse.writing.traits import MediaSupport, NamePolicy, ProviderTraits

_OLD: Final = r"(?:models/)?gemini-[12]\b"
SIGNING_MODELS: Final = re.compile(rf"(?!{_OLD})(?:models/)?gemini-")
"""The models that want signatures back: Gemini from its third version on; some names, as `-latest`, have no version."""
_TEXT_RESULT_MODELS: Final = re.compile(_OLD)
"""The models that refuse `parts` in a result, and next to the results of parallel calls: those before version 3.

https://github.com/google-gemini/gemini-cli/issues/19436, https://github.com/google-gemini/gemini-cli/pull/16137
"""
_NO_SIGNATURE: Final = "skip_thought_signature_validator"
"""The signature for calls that another model made; see the questions at the end of Google's page."""
_MESSAGE_ITEMS: Final = ("groundingMetadata", "citationMetadata", "urlContextMetadata")
"""Items that say how an answer went; no message has a place for them."""
_EMPTY_SCHEMA_KEYS: Final = ("type", "properties", "required")
_ALLOWED_WITH_REFERENCES: Final = {"$ref", "description", "default"}
_TYPES: Final = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")


class Gemini(Adapter):
    """The Gemini API, and Vertex AI."""

    traits: ProviderTraits = ProviderTraits(
        name="gemini",
        tool={"name": "$name?", "description": "$description?"},
        call={"functionCall": {"id": "$id?", "name": "$name", "args": "$arguments"}},
        family="gemini-openapi",
        names=NamePolicy(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"),
        separate_system=True,
        assistant_images=True,
        separate_media=True,
        media=MediaSupport(
            document_types=frozenset(kind for kind in DOCUMENT_ENDINGS if kind == PDF or kind.startswith("text/")),
            document_fields=frozenset(),
        ),
        is_server_tool=partial(has_keys, keys=SERVER_TOOL_KEYS),
    )

    def write_tools(self, tools: list[DeclaredTool], lost: list[Loss]) -> list[JSONObject]:
        declarations = super().write_tools(tools, lost)
        return [{"functionDeclarations": declarations}] if declarations else []

    def write_tool(self, declared: DeclaredTool, lost: list[Loss], /) -> JSONObject:
        schema, fields = declared.parameters, self.fill_tool(declared, {})
        subset = to_openapi(schema, declared.tool.name, [])
        written = {**fields, **_write_parameters(subset)}
        if _is_read_as(written, schema) and not any(_find_refused_keywords(subset)):
            return written
        lost += as_warnings(declared.tool.name, _find_siblings_of_references(schema))
        return {**fields, "parametersJsonSchema": schema}

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        call = super().read_call(written)
        return call if call.raw else replace(call, raw="{}")  # without arguments there is no `args`

    def format_result(self, result: ToolResult) -> JSONObject:
        parts = show_result(result) if result.error is None else []
        fields = {**drop_empty(id=result.call_id), "name": result.tool_name}
        if all(isinstance(part, Text) for part in parts):
            return {"functionResponse": {**fields, "response": wrap_result(result.result, result.error)}}
        parts = self.traits.media.filter(parts)
        text = "".join(part.text for part in parts if isinstance(part, Text))
        media = [write_part(part) for part in parts if not isinstance(part, Text)]
        return {"functionResponse": {**fields, "response": {"output": text}, **drop_empty(parts=media)}}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        response = get_object(written, "functionResponse")
        id, name = get_str(response, "id"), get_str(response, "name")
        value, error = unwrap_result(response.get("response"))
        media = [part for part in map(read_part, get_result_parts(response)) if isinstance(part, VisiblePart)]
        if media:
            return make_result(id, name, [*([Text(write_value(value))] if value not in (None, "") else []), *media])
        return ToolResult(id, name, value, error)

    def write_message(self, message: Message, lost: list[Loss], /) -> list[JSONObject]:
        if message.role == "assistant":
            return [{"role": "model", "parts": _drop_empty_texts(self._write_answer(message.parts, lost))}]
        return [{"role": "user", "parts": _drop_empty_texts(self.write_user_blocks(message, lost))}]

    def write_visible(self, part: VisiblePart, /) -> JSONObject:
        return write_part(part)

    def is_own_block(self, part: Item, /) -> bool:
        return part.kind in OWN_PARTS

    def read_message(self, written: Mapping[str, Any]) -> Message:
        parts: list[Part] = []
        number = 0
        for part in map(to_camel_part, get_objects(written.get("parts"))):
            parts += self._read_part(part, number)
            number += "functionCall" in part
        return Message(read_role(get_str(written, "role")), parts)

    def list_unread(self, written: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        for part in map(to_camel_part, get_objects(written.get("parts"))):
            for key in list_unread_keys(part):
                yield Loss(place, "", key, "dropped: there is no place for it elsewhere")
            if get_str(part, "fileData", "fileUri") and not get_str(part, "fileData", "mimeType"):
                yield Loss(place, "", "mimeType", "none is given: taken for that of an image", warning=True)

    def adapt_messages(self, messages: list[Message], model: str, /, *, is_thinking: bool) -> list[Message]:  # noqa: ARG002
        messages = move_media(messages, model, [])
        return [*map(sign_first_call, messages)] if SIGNING_MODELS.match(model) else messages

    def add_warnings(self, written: list[JSONObject], lost: list[Loss], /) -> None:
        for number, content in enumerate(written):
            call = next((part for part in content["parts"] if "functionCall" in part), None)
            if content["role"] == "model" and call is not None and "thoughtSignature" not in call:
                outcome = "a call has none: models from the third version on refuse it in the present turn"
                lost.append(Loss(f"messages[{number}]", "", SIGNATURE, outcome, warning=True))

    def _write_answer(self, parts: list[Part], lost: list[Loss]) -> list[JSONObject]:
        written: list[JSONObject] = []
        signatures = {
            part.index: get_signature(part) for part in parts if isinstance(part, Item) and get_signature(part)
        }
        for part in parts:
            match part:
                case Thought():
                    written.append({"text": part.text, "thought": True})
                case Text() | Image() | Document():
                    written.append(write_part(part))
                case ToolCall():
                    signature = signatures.get(part.index, "")
                    written.append({**self.format_call(part), **drop_empty(thoughtSignature=signature)})
                case Item() if get_signature(part):
                    if part.index is None:
                        add_signature(written, get_signature(part))
                case Item() if part.kind in OWN_PARTS:
                    written.append({part.kind: part.data})
                case Item() if part.kind not in _MESSAGE_ITEMS:
                    lost.append(Loss("assistant", "", part.kind, "dropped: another provider's own"))
        return written

    def _read_part(self, part: Mapping[str, Any], number: int) -> list[Part]:
        """Read a part, and its signature; `number` is that of the next call."""
        if "functionResponse" in part:
            return [self.read_result(part)]
        index = number if "functionCall" in part else None
        read = replace(self.read_call(part), index=number) if "functionCall" in part else read_part(part)
        signature = get_str(part, "thoughtSignature")
        signed: list[Part] = [Item(SIGNATURE, signature, index)] if signature else []
        return [*([read] if read is not None else []), *signed]


class GeminiOpenAPI(Gemini):
    """The Gemini API of servers that know no JSON Schema."""

    traits: ProviderTraits = replace(Gemini.traits, name="gemini-openapi", family="gemini")

    def write_tool(self, declared: DeclaredTool, lost: list[Loss], /) -> JSONObject:
        name = declared.tool.name
        subset = to_openapi(declared.parameters, name, lost)
        parameters = _write_parameters(subset)
        if parameters:
            lost += as_warnings(name, _find_refused_keywords(subset))
        else:
            unwritten = [key for key in subset if key not in _EMPTY_SCHEMA_KEYS]
            lost += [Loss(name, "", key, "dropped: without parameters there is no schema") for key in unwritten]
        return {**self.fill_tool(declared, {}), **parameters}


def _drop_empty_texts(parts: list[JSONObject]) -> list[JSONObject]:
    """Return the parts without texts of nothing, but for those that hold a signature: Vertex AI refuses the others.

    https://github.com/Portkey-AI/gateway/issues/462
    """
    return [part for part in parts if part.get("text") != "" or "thoughtSignature" in part]


def move_media(messages: list[Message], model: str, lost: list[Loss]) -> list[Message]:
    """Move what results show besides text into messages after them, for a model that takes only text there."""
    if not _TEXT_RESULT_MODELS.match(model):
        return messages
    return [each for message in messages for each in _split_media(message, lost)]


def _split_media(message: Message, lost: list[Loss]) -> list[Message]:
    shown = [part for result in message.results if result.error is None for part in show_result(result)]
    media: list[Part] = [part for part in shown if not isinstance(part, Text)]
    if not media:
        return [message]
    for kind in dict.fromkeys(type(part).__name__.lower() for part in media):
        lost.append(Loss("tool", "", kind, "moved into a user's message after the results"))
    results: list[Part] = [_keep_text(result) for result in message.results]
    others = [part for part in message.parts if not isinstance(part, ToolResult)]
    answer = Message("assistant", [Text(NO_ANSWER)])  # the same role never speaks twice
    return [replace(message, parts=results), answer, replace(message, parts=[*media, *others])]


def _keep_text(result: ToolResult) -> ToolResult:
    """Return a result in which a picture or a document is a word."""
    parts = show_result(result) if result.error is None else []
    is_text = all(isinstance(part, Text) for part in parts)
    return result if is_text else replace(result, result=join_text(parts))


def sign_first_call(message: Message) -> Message:
    """Return a message whose first call is signed, if by nothing else then by the word that skips the check."""
    first = min((call.index for call in message.calls), default=None)
    items = [part for part in message.parts if isinstance(part, Item) and part.index == first]
    if first is None or any(get_signature(item) for item in items):
        return message
    return replace(message, parts=[*message.parts, Item(SIGNATURE, _NO_SIGNATURE, first)])


def _write_parameters(schema: JSONObject) -> JSONObject:
    """Write the parameters, if there are any: an object without properties is refused."""
    return {"parameters": schema} if schema.get("properties") or "anyOf" in schema else {}


def _is_read_as(written: JSONObject, schema: JSONObject) -> bool:
    """Whether a declaration is read as this very schema."""
    (tool,) = Toolset.of([{"functionDeclarations": [written]}]).values()
    return as_object_schema(tool.parameters) == schema


def _find_siblings_of_references(schema: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """List what some servers refuse of a JSON Schema: where, the keyword, and why."""
    for path, node in walk(schema):
        if isinstance(node.get("$ref"), str) and not node.keys() <= _ALLOWED_WITH_REFERENCES:
            yield path, "$ref", "some servers take only a description and a default beside it"


def _find_refused_keywords(schema: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """List what some servers refuse of a schema in the subset: where, the keyword, and why."""
    for path, node in walk(schema):
        kind = node.get("type")
        if "anyOf" in node and len(node) > 1:
            yield path, "anyOf", "some servers take nothing beside it"
        if "anyOf" not in node and kind not in _TYPES:
            yield path, "type", "some servers want one that they know"
        if path and kind == "OBJECT" and not node.get("properties"):
            yield path, "properties", "some servers want at least one"


# -- requests --------------------------------------------------------------------------------------

_SECTIONS = ("generationConfig", "toolConfig")
_OTHER_CONFIG = ("responseMimeType", "responseSchema", "responseJsonSchema", "thinkingConfig")
_MODES: dict[str, Any] = {"AUTO": "auto", "ANY": "required", "NONE": "none"}
_WORDS = {mode: word for word, mode in _MODES.items()}
_JSON = "application/json"


def _normalize(request: Mapping[str, Any]) -> Mapping[str, Any]:
    request = to_camel_keys(request)
    sections = {name: to_camel_keys(get_object(request, name)) for name in _SECTIONS}
    return {**request, **sections, "model": get_str(request, "model").removeprefix("models/") or None}


def _read_others(request: Mapping[str, Any], lost: list[Loss]) -> dict[str, Any]:
    config = get_object(request, "generationConfig")
    return {
        "choice": _read_choice(to_camel_keys(get_object(request, "toolConfig", "functionCallingConfig")), lost),
        "schema": _read_schema(config, lost),
        "think": _read_thinking(to_camel_keys(get_object(config, "thinkingConfig")), lost),
    }


def _read_choice(config: Mapping[str, Any], lost: list[Loss]) -> Choice:
    """Read the choice of tools; elsewhere one can be named only where a call is required."""
    word, names = get_str(config, "mode").upper(), get_strs(config.get("allowedFunctionNames"))
    mode = _MODES.get(word)
    if mode is None and word not in ("", "MODE_UNSPECIFIED"):
        lost.append(Loss("request", "", "tool_choice", "dropped: no such choice elsewhere"))
    is_named = mode == "required" and len(names) == 1
    if names and not is_named and mode != "none":
        outcome = "dropped: elsewhere all tools are allowed, or one if it must be called"
        lost.append(Loss("request", "", "allowedFunctionNames", outcome))
    return Choice(mode, names[0] if is_named else "")


def _read_schema(config: Mapping[str, Any], lost: list[Loss]) -> dict[str, Any] | None:
    if (schema := read_object(config.get("responseJsonSchema"))) is not None:
        return schema
    if not isinstance(config.get("responseSchema"), Mapping):
        return {} if config.get("responseMimeType") == _JSON else None
    declared = {"functionDeclarations": [{"name": "answer", "parameters": config["responseSchema"]}]}
    read = read_tools([declared], lost)
    return read[0].tool.parameters if read else None


def _read_thinking(config: Mapping[str, Any], lost: list[Loss]) -> bool | None:
    if config.get("thinkingBudget") == 0:
        return False
    lose_unread(config, ("includeThoughts",), lost)
    return True if config.get("includeThoughts") is True else None


def _restrict(request: Request, lost: list[Loss]) -> Request:
    """Sign the first call of each answer since the user last spoke; older models get pictures after the results."""
    request = replace(request, messages=move_media(request.messages, request.model, lost))
    if not SIGNING_MODELS.match(request.model):
        return request
    messages = list(request.messages)
    for place, message in reversed(list(enumerate(messages))):
        if message.role == "user" and message.parts and not message.results:
            break
        messages[place] = sign_first_call(message)
        if messages[place] is not message:
            outcome = "not known: the model is told to do without"
            lost.append(Loss("assistant", "", "thought_signature", outcome, warning=True))
    return replace(request, messages=messages)


def _write_others(request: Request, lost: list[Loss]) -> dict[str, Any]:
    choice, thinking = request.choice, None
    if request.tools and request.schema is not None and not SIGNING_MODELS.match(request.model):
        # https://github.com/googleapis/python-genai/issues/867
        outcome = "kept, but refused: models before version 3 take no tools with it"
        lost.append(Loss("request", "", "response_format", outcome, warning=True))
    if request.think is not None:
        thinking = {"includeThoughts": True} if request.think else {"thinkingBudget": 0}
    names = [choice.name] if choice.name else []
    calling = {"mode": _WORDS.get(choice.mode or ""), **drop_empty(allowedFunctionNames=names)}
    return {
        "toolConfig.functionCallingConfig": calling if request.tools and choice.mode is not None else None,
        "generationConfig.responseMimeType": _JSON if request.schema is not None else None,
        "generationConfig.responseJsonSchema": request.schema or None,
        "generationConfig.thinkingConfig": thinking,
    }


GEMINI_REQUESTS = RequestFormat(
    fields={
        "system": "systemInstruction",
        "messages": "contents",
        "tools": "tools",
        **{name: f"generationConfig.{to_camel_case(name)}" for name in SAMPLING_FIELDS},
        "max_tokens": "generationConfig.maxOutputTokens",
        "stop": "generationConfig.stopSequences",
    },
    read_only={"model": "model"},
    other_places=("toolConfig.functionCallingConfig", *(f"generationConfig.{name}" for name in _OTHER_CONFIG)),
    max_stops=5,
    others_written=("think",),
    normalize=_normalize,
    read_others=_read_others,
    restrict=_restrict,
    write_others=_write_others,
    write_system=lambda text: {"parts": [{"text": text}]},
)
