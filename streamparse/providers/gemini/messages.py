"""Gemini's `generateContent`.

https://ai.google.dev/api/caching#Content, https://ai.google.dev/gemini-api/docs/thought-signatures

A tool's schema may be said in two ways: as `parameters`, in a subset of OpenAPI 3.0, or as `parametersJsonSchema`, in
JSON Schema.  The first is understood by every version, by Vertex AI and by relays, the second loses nothing.  So
`Gemini` takes the first where it says the same, word by word when it is read again, and no server refuses it, and else
the second.
`GeminiOpenAPI` always takes the first, for servers that know no other, and tells what is lost.

Results are parts of one content, each an object: `{"output": ...}` unless it is one already, or `{"error": ...}`.
What they show stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.providers.gemini.facts import SERVER_TOOL_KEYS
from streamparse.providers.gemini.parts import (
    NO_SIGNATURE,
    OURS,
    SIGNING_MODELS,
    in_camels,
    read_part,
    shown_beside,
    sign,
    signature_of,
    unread,
    write,
)
from streamparse.providers.gemini.schema_checks import beside_references, refusals
from streamparse.response import ToolCall
from streamparse.schema.openapi import to_openapi
from streamparse.schema.strict import as_warnings
from streamparse.tools import ToolResult, Toolset
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.content import DOCUMENT_ENDINGS, PDF, VisiblePart
from streamparse.writing.definitions import DeclaredTool, as_object_schema, has_keys
from streamparse.writing.json_access import drop_empty, get_objects, get_str, read_call, write_value
from streamparse.writing.parts import SIGNATURE, Document, Image, Item, Part, Text, Thought, Turn, read_role
from streamparse.writing.results import make_result, show_result, unwrap_result, wrap_result
from streamparse.writing.traits import MediaSupport, NamePolicy, ProviderTraits

_OF_THE_TURN = ("groundingMetadata", "citationMetadata", "urlContextMetadata")
_OF_NO_PARAMETERS = ("type", "properties", "required")


class Gemini(Adapter):
    """The Gemini API, and Vertex AI."""

    traits = ProviderTraits(
        name="gemini",
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
        tool, schema = declared.tool, declared.parameters
        fields = drop_empty(name=tool.name, description=tool.description)
        subset = to_openapi(schema, tool.name, [])
        written = {**fields, **_parameters(subset)}
        said = _says(written, schema) and not any(refusals(subset))
        if said:
            return written
        lost += as_warnings(tool.name, beside_references(schema))
        return {**fields, "parametersJsonSchema": schema}

    def format_call(self, call: ToolCall) -> JSONObject:
        return {"functionCall": {**drop_empty(id=call.id), "name": call.name, "args": call.arguments}}

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        call = written.get("functionCall")
        arguments = call.get("args") if isinstance(call, Mapping) else None
        return read_call(get_str(call, "name"), arguments or {}, get_str(call, "id"))

    def format_result(self, result: ToolResult) -> JSONObject:
        parts = show_result(result) if result.error is None else []
        fields = {**drop_empty(id=result.call_id), "name": result.tool_name}
        if all(isinstance(part, Text) for part in parts):
            return {"functionResponse": {**fields, "response": wrap_result(result.result, result.error)}}
        parts = self.traits.media.filter(parts)
        text = "".join(part.text for part in parts if isinstance(part, Text))
        beside = [write(part) for part in parts if not isinstance(part, Text)]
        return {"functionResponse": {**fields, "response": {"output": text}, **drop_empty(parts=beside)}}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        inner = written.get("functionResponse")
        response = inner if isinstance(inner, Mapping) else {}
        id, name = get_str(response, "id"), get_str(response, "name")
        value, error = unwrap_result(response.get("response"))
        beside = [part for part in map(read_part, shown_beside(response)) if isinstance(part, VisiblePart)]
        if beside:
            return make_result(id, name, [*([Text(write_value(value))] if value not in (None, "") else []), *beside])
        return ToolResult(id, name, value, error)

    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        if turn.role == "assistant":
            return [{"role": "model", "parts": self._answer(turn.parts, lost)}]
        parts = [self.format_result(result) for result in turn.results]
        for part in self.traits.media.filter(turn.parts):
            if isinstance(part, VisiblePart):
                parts.append(write(part))
            elif isinstance(part, Item) and part.kind in OURS:
                parts.append({part.kind: part.data})
            elif isinstance(part, Item):
                lost.append(Loss("user", "", part.kind, "dropped: there is no place for it"))
        return [{"role": "user", "parts": parts}]

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        parts: list[Part] = []
        number = 0
        for part in map(in_camels, get_objects(message.get("parts"))):
            parts += self._read_part(part, number)
            number += "functionCall" in part
        return Turn(read_role(get_str(message, "role")), parts)

    def list_unread(self, message: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        for part in map(in_camels, get_objects(message.get("parts"))):
            for key in unread(part):
                yield Loss(place, "", key, "dropped: there is no place for it elsewhere")
            if get_str(part, "fileData", "fileUri") and not get_str(part, "fileData", "mimeType"):
                yield Loss(place, "", "mimeType", "none is said: taken for that of a picture", warning=True)

    def adapt_turns(self, turns: list[Turn], model: str, /) -> list[Turn]:
        return [_with_signature(turn) for turn in turns] if SIGNING_MODELS.match(model) else turns

    def add_warnings(self, messages: list[JSONObject], lost: list[Loss], /) -> None:
        for number, content in enumerate(messages):
            call = next((part for part in content["parts"] if "functionCall" in part), None)
            if content["role"] == "model" and call is not None and "thoughtSignature" not in call:
                done = "a call has none: models from the third version on refuse it in the present turn"
                lost.append(Loss(f"messages[{number}]", "", SIGNATURE, done, warning=True))

    # -- inside ----------------------------------------------------------------------------------------

    def _answer(self, parts: list[Part], lost: list[Loss]) -> list[JSONObject]:
        said: list[JSONObject] = []
        signed = {part.index: signature_of(part) for part in parts if isinstance(part, Item) and signature_of(part)}
        for part in parts:
            match part:
                case Thought():
                    said.append({"text": part.text, "thought": True})
                case Text() | Image() | Document():
                    said.append(write(part))
                case ToolCall():
                    signature = signed.get(part.index, "")
                    said.append({**self.format_call(part), **drop_empty(thoughtSignature=signature)})
                case Item() if signature_of(part):
                    if part.index is None:
                        sign(said, signature_of(part))
                case Item() if part.kind in OURS:
                    said.append({part.kind: part.data})
                case Item() if part.kind not in _OF_THE_TURN:
                    lost.append(Loss("assistant", "", part.kind, "dropped: another provider's own"))
        return said

    def _read_part(self, part: Mapping[str, Any], number: int) -> list[Part]:
        """A part, and its signature; `number` is that of the next call."""
        signature = get_str(part, "thoughtSignature")
        index = number if "functionCall" in part else None
        signed: list[Part] = [Item(SIGNATURE, signature, index)] if signature else []
        if "functionCall" in part:
            call = self.read_call(part)
            return [ToolCall(call.name, call.arguments, call.id, raw=call.raw, index=number), *signed]
        if "functionResponse" in part:
            return [self.read_result(part)]
        read = read_part(part)
        return [*([read] if read is not None else []), *signed]


class GeminiOpenAPI(Gemini):
    """The Gemini API of servers that know no JSON Schema."""

    traits = replace(
        Gemini.traits,
        name="gemini-openapi",
        family="gemini",
    )

    def write_tool(self, declared: DeclaredTool, lost: list[Loss], /) -> JSONObject:
        tool = declared.tool
        fields = drop_empty(name=tool.name, description=tool.description)
        subset = to_openapi(declared.parameters, tool.name, lost)
        parameters = _parameters(subset)
        unsaid = [] if parameters else [key for key in subset if key not in _OF_NO_PARAMETERS]
        lost += [Loss(tool.name, "", key, "dropped: without parameters there is no schema") for key in unsaid]
        lost += as_warnings(tool.name, refusals(subset) if parameters else ())
        return {**fields, **parameters}


def _with_signature(turn: Turn) -> Turn:
    """A turn whose first call is signed, by the word that skips the check if by nothing else."""
    first = min((call.index for call in turn.calls), default=None)
    items = [part for part in turn.parts if isinstance(part, Item) and part.index == first]
    if first is None or any(signature_of(item) for item in items):
        return turn
    return replace(turn, parts=[*turn.parts, Item(SIGNATURE, NO_SIGNATURE, first)])


def _parameters(schema: JSONObject) -> JSONObject:
    """A function without parameters is one without a schema: an object of nothing is refused."""
    return {"parameters": schema} if schema.get("properties") or "anyOf" in schema else {}


def _says(written: JSONObject, schema: JSONObject) -> bool:
    """Whether a declaration is read as this very schema."""
    (tool,) = Toolset.of([{"functionDeclarations": [written]}]).values()
    return as_object_schema(tool.parameters) == schema
