"""Gemini's `generateContent`.

https://ai.google.dev/api/caching#Content, https://ai.google.dev/gemini-api/docs/thought-signatures

A tool's schema may be said in two ways: as `parameters`, in a subset of OpenAPI 3.0, or as `parametersJsonSchema`, in
JSON Schema.  The first is understood by every version, by Vertex AI and by relays, the second loses nothing.  So
`Gemini` takes the first where it says the same, word by word when it is read again, and no server refuses it, and else
the second.
`GeminiOpenAPI` always takes the first, for servers that know no other, and tells what is lost.

Results are parts of one content, each an object: `{"output": ...}` unless it is one already, or `{"error": ...}`.
A thought signature goes back on the very call it came with, and else on the text before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from streamparse.adapters.adapter import Adapter, JSONObject
from streamparse.adapters.content import result_of, shown
from streamparse.adapters.definitions import Declared, rooted
from streamparse.adapters.loss import Loss
from streamparse.adapters.outcomes import unwrapped, wrapped
from streamparse.adapters.parts import Image, Item, Part, Text, Thought, Turn, role_of
from streamparse.adapters.refusals import beside_references, refusals
from streamparse.adapters.rules import Names
from streamparse.adapters.schema import openapi
from streamparse.adapters.strictness import warned
from streamparse.adapters.values import mappings, present, read_call, string, value_text
from streamparse.response import ToolCall
from streamparse.tools import ToolResult, Toolset

__all__ = ["Gemini", "GeminiOpenAPI", "camels"]

_OURS = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse", "inlineData", "fileData")
_OF_THE_TURN = ("groundingMetadata", "citationMetadata", "urlContextMetadata")
_BLOBS = ("inline_data", "file_data", "inlineData", "fileData")
_SIGNATURE = "thought_signature"
_OF_A_PART = ("text", "thought", "thoughtSignature", "functionCall", "functionResponse", *_OURS)
_OF_A_CALL = {"functionCall": ("id", "name", "args"), "functionResponse": ("id", "name", "response", "parts")}
_OF_NO_PARAMETERS = ("type", "properties", "required")


class Gemini(Adapter):
    """The Gemini API, and Vertex AI."""

    name = "gemini"
    names = Names(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
    system_apart = True
    pictures_in_answers = True

    def write_tools(self, tools: list[Declared], lost: list[Loss]) -> list[JSONObject]:
        declarations = super().write_tools(tools, lost)
        return [{"functionDeclarations": declarations}] if declarations else []

    def definition(self, declared: Declared, lost: list[Loss], /) -> JSONObject:
        tool, schema = declared.tool, declared.parameters
        fields = present(name=tool.name, description=tool.description)
        subset = openapi(schema, tool.name, [])
        written = {**fields, **_parameters(subset)}
        said = _says(written, schema) and not any(refusals(subset))
        if said:
            return written
        lost += warned(tool.name, beside_references(schema))
        return {**fields, "parametersJsonSchema": schema}

    def format_call(self, call: ToolCall) -> JSONObject:
        return {"functionCall": {**present(id=call.id), "name": call.name, "args": call.arguments}}

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        call = written.get("functionCall")
        arguments = call.get("args") if isinstance(call, Mapping) else None
        return read_call(string(call, "name"), arguments or {}, string(call, "id"))

    def format_result(self, result: ToolResult) -> JSONObject:
        images = [part for part in shown(result) if isinstance(part, Image)] if result.error is None else []
        fields = {**present(id=result.call_id), "name": result.tool_name}
        if not images:
            return {"functionResponse": {**fields, "response": wrapped(result.result, result.error)}}
        text = "".join(part.text for part in shown(result) if isinstance(part, Text))
        return {
            "functionResponse": {**fields, "response": {"output": text}, "parts": [_picture(each) for each in images]}
        }

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        inner = written.get("functionResponse")
        response = inner if isinstance(inner, Mapping) else {}
        id, name = string(response, "id"), string(response, "name")
        value, error = unwrapped(response.get("response"))
        images = [part for part in map(_read, _media(response)) if isinstance(part, Image)]
        if images:
            return result_of(id, name, [*([Text(value_text(value))] if value not in (None, "") else []), *images])
        return ToolResult(id, name, value, error)

    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        if turn.role == "assistant":
            return [{"role": "model", "parts": self._answer(turn.parts, lost)}]
        parts = [self.format_result(result) for result in turn.results]
        for part in turn.parts:
            if isinstance(part, Text):
                parts.append({"text": part.text})
            elif isinstance(part, Image):
                parts.append(_picture(part))
            elif isinstance(part, Item) and part.kind in _OURS:
                parts.append({part.kind: part.data})
            elif isinstance(part, Item):
                lost.append(Loss("user", "", part.kind, "dropped: there is no place for it"))
        return [{"role": "user", "parts": parts}]

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        parts: list[Part] = []
        number = 0
        for written in map(_spelled, mappings(message.get("parts"))):
            parts += self._read_part(written, number)
            number += "functionCall" in written
        return Turn(role_of(string(message, "role")), parts)

    def unread(self, message: Mapping[str, Any], place: str, /) -> Iterator[Loss]:
        for part in map(_spelled, mappings(message.get("parts"))):
            for key in _unread(part):
                yield Loss(place, "", key, "dropped: there is no place for it elsewhere")
            if string(part, "fileData", "fileUri") and not string(part, "fileData", "mimeType"):
                yield Loss(place, "", "mimeType", "none is said: taken for that of a picture", warning=True)

    def warn(self, written: list[JSONObject], lost: list[Loss], /) -> None:
        for number, content in enumerate(written):
            call = next((part for part in content["parts"] if "functionCall" in part), None)
            if content["role"] == "model" and call is not None and "thoughtSignature" not in call:
                done = "a call has none: models from the third version on refuse it in the present turn"
                lost.append(Loss(f"messages[{number}]", "", _SIGNATURE, done, warning=True))

    # -- inside ----------------------------------------------------------------------------------------

    def _answer(self, parts: list[Part], lost: list[Loss]) -> list[JSONObject]:
        written: list[JSONObject] = []
        signed = {part.index: _signature(part) for part in parts if isinstance(part, Item) and _signature(part)}
        for part in parts:
            match part:
                case Thought():
                    written.append({"text": part.text, "thought": True})
                case Text():
                    written.append({"text": part.text})
                case Image():
                    written.append(_picture(part))
                case ToolCall():
                    signature = signed.get(part.index, "")
                    written.append({**self.format_call(part), **present(thoughtSignature=signature)})
                case Item() if _signature(part):
                    if part.index is None:
                        _sign(written, _signature(part))
                case Item() if part.kind in _OURS:
                    written.append({part.kind: part.data})
                case Item() if part.kind not in _OF_THE_TURN:
                    lost.append(Loss("assistant", "", part.kind, "dropped: another provider's own"))
        return written

    def _read_part(self, written: Mapping[str, Any], number: int) -> list[Part]:
        """A part, and its signature; `number` is that of the next call."""
        signature = string(written, "thoughtSignature")
        index = number if "functionCall" in written else None
        signed: list[Part] = [Item(_SIGNATURE, signature, index)] if signature else []
        if "functionCall" in written:
            call = self.read_call(written)
            return [ToolCall(call.name, call.arguments, call.id, raw=call.raw, index=number), *signed]
        if "functionResponse" in written:
            return [self.read_result(written)]
        part = _read(written)
        return [*([part] if part is not None else []), *signed]


class GeminiOpenAPI(Gemini):
    """The Gemini API of servers that know no JSON Schema."""

    name = "gemini-openapi"

    def definition(self, declared: Declared, lost: list[Loss], /) -> JSONObject:
        tool = declared.tool
        fields = present(name=tool.name, description=tool.description)
        subset = openapi(declared.parameters, tool.name, lost)
        parameters = _parameters(subset)
        unsaid = [] if parameters else [key for key in subset if key not in _OF_NO_PARAMETERS]
        lost += [Loss(tool.name, "", key, "dropped: without parameters there is no schema") for key in unsaid]
        lost += warned(tool.name, refusals(subset) if parameters else ())
        return {**fields, **parameters}


def _parameters(schema: JSONObject) -> JSONObject:
    """A function without parameters is one without a schema: an object of nothing is refused."""
    return {"parameters": schema} if schema.get("properties") or "anyOf" in schema else {}


def _says(written: JSONObject, schema: JSONObject) -> bool:
    """Whether a declaration is read as this very schema."""
    (tool,) = Toolset.of([{"functionDeclarations": [written]}]).values()
    return rooted(tool.parameters) == schema


def _picture(image: Image) -> JSONObject:
    if image.url:
        return {"fileData": {**present(mimeType=image.media_type), "fileUri": image.url}}
    return {"inlineData": {"mimeType": image.media_type, "data": image.data}}


def _spelled(part: Mapping[str, Any]) -> dict[str, Any]:
    """A part with the names of the wire: Google's Python libraries write them with underscores."""
    return {_camel(key): camels(value) if key in _BLOBS else value for key, value in part.items()}


def camels(value: Any) -> Any:
    """An object with the names of the wire, one level deep; anything else as it is."""
    return {_camel(key): each for key, each in value.items()} if isinstance(value, Mapping) else value


def _camel(name: Any) -> str:
    return re.sub(r"(?<=[a-z])_([a-z])", lambda match: match[1].upper(), str(name))


def _media(response: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a result shows beside its value."""
    return [_spelled(part) for part in mappings(response.get("parts"))]


def _unread(part: Mapping[str, Any]) -> Iterator[str]:
    """What of a part is nowhere kept, if it says anything."""
    yield from (key for key, value in part.items() if key not in _OF_A_PART and value)
    for kind, known in _OF_A_CALL.items():
        yield from (key for key, value in _fields(part, kind).items() if key not in known and value)
    for beside in _media(_fields(part, "functionResponse")):
        if not isinstance(_read(beside), Image):
            yield from beside


def _fields(part: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """What a part says of a call or of a result; nothing if it is none."""
    fields = camels(part.get(kind))
    return fields if isinstance(fields, Mapping) else {}


def _read(written: Mapping[str, Any]) -> Part | None:
    """Text, thought, a picture, or something that only Gemini knows."""
    if isinstance(written.get("text"), str):
        text = written["text"]
        return None if not text else Thought(text) if written.get("thought") is True else Text(text)
    if string(written, "inlineData", "mimeType").startswith("image/"):
        return Image(string(written, "inlineData", "data"), string(written, "inlineData", "mimeType"))
    url, kind = string(written, "fileData", "fileUri"), string(written, "fileData", "mimeType")
    if url and (not kind or kind.startswith("image/")):
        return Image(media_type=kind, url=url)
    return next((Item(kind, written[kind]) for kind in _OURS if kind in written), None)


def _signature(item: Item) -> Any:
    """What signs a call or a text, as this API says it or as its server for OpenAI's words does; else nothing."""
    if item.kind == "extra_content":
        return string(item.data, "google", _SIGNATURE)
    return item.data if item.kind == _SIGNATURE else ""


def _sign(written: list[JSONObject], signature: Any) -> None:
    """Put a signature that came with no call on the text or code before it, or else on an empty text."""
    last = written[-1] if written else {}
    if last.keys().isdisjoint(("text", *_OURS)) or "thought" in last or "thoughtSignature" in last:
        last = {"text": ""}
        written.append(last)
    last["thoughtSignature"] = signature
