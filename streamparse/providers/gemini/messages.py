"""Gemini's `generateContent`.

https://ai.google.dev/api/caching#Content, https://ai.google.dev/gemini-api/docs/thought-signatures

A tool's schema may be said in two ways: as `parameters`, in a subset of OpenAPI 3.0, or as `parametersJsonSchema`, in
JSON Schema.  The first is understood by every version, by Vertex AI and by relays, the second loses nothing.  So
`Gemini` takes the first where it says the same, word by word when it is read again, and no server refuses it, and else
the second.
`GeminiOpenAPI` always takes the first, for servers that know no other, and lists what is lost.

Results are parts of one content, each an object: `{"output": ...}` unless it is one already, or `{"error": ...}`.
What they show is next to it.

Some of Gemini's servers refuse what is in their subset of OpenAPI, or is JSON Schema:

| refused | seen |
|---|---|
| a schema without a type | Gemini 3, https://github.com/UKGovernmentBEIS/inspect_ai/pull/3097 |
| keywords beside `anyOf` | Vertex AI, https://github.com/BerriAI/litellm/issues/11164 |
| an object without properties | https://github.com/pipecat-ai/pipecat-flows/issues/110 |
| an array without items | https://github.com/kkrishnan90/gemini-desktop/pull/7 |
| in JSON Schema: keywords beside `$ref`, but for two | https://github.com/anomalyco/opencode/issues/12295 |

`streamparse.schema.openapi` always writes items; those of anything have no type, and are refused as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.providers.gemini.parts import (
    NO_SIGNATURE,
    OURS,
    SIGNING_MODELS,
    get_result_parts,
    list_unread,
    read_part,
    sign,
    signature_of,
    spell_part,
    write_part,
)
from streamparse.response import ToolCall
from streamparse.schema.openapi import openapi
from streamparse.schema.references import nodes
from streamparse.schema.strict import warned
from streamparse.tools import ToolResult, Toolset
from streamparse.writing.adapter import Adapter, JSONObject
from streamparse.writing.content import Shown, result_of, shown
from streamparse.writing.definitions import Declared, rooted
from streamparse.writing.documents import FORMATS, PDF
from streamparse.writing.json_access import mappings, present, read_call, string, value_text
from streamparse.writing.media_support import Visible
from streamparse.writing.naming import Names
from streamparse.writing.parts import SIGNATURE, Document, Image, Item, Part, Text, Thought, Turn, role_of
from streamparse.writing.result_encoding import unwrapped, wrapped

_OF_THE_TURN = ("groundingMetadata", "citationMetadata", "urlContextMetadata")
_OF_NO_PARAMETERS = ("type", "properties", "required")
_ALLOWED_WITH_REFERENCES = {"$ref", "description", "default"}
_TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")


class Gemini(Adapter):
    """The Gemini API, and Vertex AI."""

    name = "gemini"
    family = "gemini-openapi"
    names = Names(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
    system_apart = True
    pictures_in_answers = True
    media_apart = True
    visible = Visible(
        documents=frozenset(kind for kind in FORMATS if kind == PDF or kind.startswith("text/")), said=frozenset()
    )

    def write_tools(self, tools: list[Declared], lost: list[Loss]) -> list[JSONObject]:
        declarations = super().write_tools(tools, lost)
        return [{"functionDeclarations": declarations}] if declarations else []

    def definition(self, declared: Declared, lost: list[Loss], /) -> JSONObject:
        tool, schema = declared.tool, declared.parameters
        fields = present(name=tool.name, description=tool.description)
        subset = openapi(schema, tool.name, [])
        written = {**fields, **_write_parameters(subset)}
        said = _reads_as(written, schema) and not any(_find_refused_keywords(subset))
        if said:
            return written
        lost += warned(tool.name, _find_siblings_of_references(schema))
        return {**fields, "parametersJsonSchema": schema}

    def format_call(self, call: ToolCall) -> JSONObject:
        return {"functionCall": {**present(id=call.id), "name": call.name, "args": call.arguments}}

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        call = written.get("functionCall")
        arguments = call.get("args") if isinstance(call, Mapping) else None
        return read_call(string(call, "name"), arguments or {}, string(call, "id"))

    def format_result(self, result: ToolResult) -> JSONObject:
        parts = shown(result) if result.error is None else []
        fields = {**present(id=result.call_id), "name": result.tool_name}
        if all(isinstance(part, Text) for part in parts):
            return {"functionResponse": {**fields, "response": wrapped(result.result, result.error)}}
        parts = self.visible.fit(parts)
        text = "".join(part.text for part in parts if isinstance(part, Text))
        beside = [write_part(part) for part in parts if not isinstance(part, Text)]
        return {"functionResponse": {**fields, "response": {"output": text}, **present(parts=beside)}}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        inner = written.get("functionResponse")
        response = inner if isinstance(inner, Mapping) else {}
        id, name = string(response, "id"), string(response, "name")
        value, error = unwrapped(response.get("response"))
        beside = [part for part in map(read_part, get_result_parts(response)) if isinstance(part, Shown)]
        if beside:
            return result_of(id, name, [*([Text(value_text(value))] if value not in (None, "") else []), *beside])
        return ToolResult(id, name, value, error)

    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        if turn.role == "assistant":
            return [{"role": "model", "parts": self._write_answer(turn.parts, lost)}]
        parts = [self.format_result(result) for result in turn.results]
        for part in self.visible.fit(turn.parts):
            if isinstance(part, Shown):
                parts.append(write_part(part))
            elif isinstance(part, Item) and part.kind in OURS:
                parts.append({part.kind: part.data})
            elif isinstance(part, Item):
                lost.append(Loss("user", "", part.kind, "dropped: there is no place for it"))
        return [{"role": "user", "parts": parts}]

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        parts: list[Part] = []
        number = 0
        for part in map(spell_part, mappings(message.get("parts"))):
            parts += self._read_part(part, number)
            number += "functionCall" in part
        return Turn(role_of(string(message, "role")), parts)

    def unread(self, message: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        for part in map(spell_part, mappings(message.get("parts"))):
            for key in list_unread(part):
                yield Loss(place, "", key, "dropped: there is no place for it elsewhere")
            if string(part, "fileData", "fileUri") and not string(part, "fileData", "mimeType"):
                yield Loss(place, "", "mimeType", "none is said: taken for that of a picture", warning=True)

    def adopt(self, turns: list[Turn], model: str, /) -> list[Turn]:
        return [_ensure_signature(turn) for turn in turns] if SIGNING_MODELS.match(model) else turns

    def warn(self, messages: list[JSONObject], lost: list[Loss], /) -> None:
        for number, content in enumerate(messages):
            call = next((part for part in content["parts"] if "functionCall" in part), None)
            if content["role"] == "model" and call is not None and "thoughtSignature" not in call:
                done = "a call has none: models from the third version on refuse it in the present turn"
                lost.append(Loss(f"messages[{number}]", "", SIGNATURE, done, warning=True))

    # -- inside ----------------------------------------------------------------------------------------

    def _write_answer(self, parts: list[Part], lost: list[Loss]) -> list[JSONObject]:
        said: list[JSONObject] = []
        signed = {part.index: signature_of(part) for part in parts if isinstance(part, Item) and signature_of(part)}
        for part in parts:
            match part:
                case Thought():
                    said.append({"text": part.text, "thought": True})
                case Text() | Image() | Document():
                    said.append(write_part(part))
                case ToolCall():
                    signature = signed.get(part.index, "")
                    said.append({**self.format_call(part), **present(thoughtSignature=signature)})
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
        signature = string(part, "thoughtSignature")
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

    name = "gemini-openapi"
    family = "gemini"

    def definition(self, declared: Declared, lost: list[Loss], /) -> JSONObject:
        tool = declared.tool
        fields = present(name=tool.name, description=tool.description)
        subset = openapi(declared.parameters, tool.name, lost)
        parameters = _write_parameters(subset)
        unsaid = [] if parameters else [key for key in subset if key not in _OF_NO_PARAMETERS]
        lost += [Loss(tool.name, "", key, "dropped: without parameters there is no schema") for key in unsaid]
        lost += warned(tool.name, _find_refused_keywords(subset) if parameters else ())
        return {**fields, **parameters}


def _ensure_signature(turn: Turn) -> Turn:
    """Return a turn whose first call is signed, if by nothing else then by the word that skips the check."""
    first = min((call.index for call in turn.calls), default=None)
    items = [part for part in turn.parts if isinstance(part, Item) and part.index == first]
    if first is None or any(signature_of(item) for item in items):
        return turn
    return replace(turn, parts=[*turn.parts, Item(SIGNATURE, NO_SIGNATURE, first)])


def _write_parameters(schema: JSONObject) -> JSONObject:
    """Write the parameters, if there are any: an object without properties is refused."""
    return {"parameters": schema} if schema.get("properties") or "anyOf" in schema else {}


def _reads_as(written: JSONObject, schema: JSONObject) -> bool:
    """Whether a declaration is read as this very schema."""
    (tool,) = Toolset.of([{"functionDeclarations": [written]}]).values()
    return rooted(tool.parameters) == schema


def _find_siblings_of_references(schema: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """List what some servers refuse of a JSON Schema: where, the keyword, and why."""
    for path, node in nodes(schema):
        if isinstance(node.get("$ref"), str) and not node.keys() <= _ALLOWED_WITH_REFERENCES:
            yield path, "$ref", "some servers take only a description and a default beside it"


def _find_refused_keywords(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, str, str]]:
    """List what some servers refuse of a schema in the subset: where, the keyword, and why."""
    kind = schema.get("type")
    if "anyOf" in schema and len(schema) > 1:
        yield path, "anyOf", "some servers take nothing beside it"
    if "anyOf" not in schema and kind not in _TYPES:
        yield path, "type", "some servers want one that they know"
    if path and kind == "OBJECT" and not schema.get("properties"):
        yield path, "properties", "some servers want at least one"
    for name, each in schema.get("properties", {}).items():
        yield from _find_refused_keywords(each, f"{path}/properties/{name}")
    for number, each in enumerate(schema.get("anyOf", ())):
        yield from _find_refused_keywords(each, f"{path}/anyOf/{number}")
    if "items" in schema:
        yield from _find_refused_keywords(schema["items"], f"{path}/items")
