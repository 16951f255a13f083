"""OpenAI chat completions, and those that speak like it.

https://platform.openai.com/docs/api-reference/chat/create

A result is one `tool` message, directly after the assistant's.  It holds text alone: an error is `{"error": ...}`, and
pictures follow in a user's message behind all results.  The plain protocol has no place for thought.  Those who want
it back take it beside the content, each in its own words: `reasoning_content` (DeepSeek; llama.cpp, SGLang and vLLM
hand it to the model's template), or `reasoning_details` (OpenRouter), which keep signatures and encrypted thought.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.adapters.adapter import Adapter, JSONObject
from streamparse.adapters.content import read_blocks, result_of, shown, spoken
from streamparse.adapters.definitions import Declared
from streamparse.adapters.loss import Loss
from streamparse.adapters.parts import Image, Item, Part, Text, Thought, Turn, role_of
from streamparse.adapters.rules import Ids, Names
from streamparse.adapters.values import argument_text, mappings, present, read_call, string
from streamparse.response import ToolCall
from streamparse.tools import ToolResult

__all__ = ["DeepSeek", "Mistral", "OpenAI", "OpenRouter"]


class OpenAI(Adapter):
    """Chat completions, as OpenAI itself takes them."""

    name = "openai"
    names = Names(r"[a-zA-Z0-9_-]{1,64}")
    ids = Ids(r"(?s).*", 40)
    strict = True

    def definition(self, declared: Declared, _lost: list[Loss], /) -> JSONObject:
        tool = declared.tool
        fields = present(name=tool.name, description=tool.description)
        fields["parameters"] = declared.parameters
        strict = {"strict": True} if declared.strict and self.strict else {}
        return {"type": "function", "function": {**fields, **strict}}

    def format_call(self, call: ToolCall) -> JSONObject:
        function = {"name": call.name, "arguments": argument_text(call)}
        return {"id": self.ids.fit(call.id), "type": "function", "function": function}

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        function = written.get("function")
        arguments = function.get("arguments") if isinstance(function, Mapping) else None
        return read_call(string(function, "name"), arguments, string(written, "id"))

    def format_result(self, result: ToolResult) -> JSONObject:
        return {"role": "tool", "tool_call_id": self.ids.fit(result.call_id), "content": spoken(result)}

    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        name = string(written, "name") if string(written, "role") == "function" else ""  # before there were tools
        return result_of(string(written, "tool_call_id"), name, read_blocks(written.get("content")))

    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        if turn.role == "assistant":
            self._tell_foreign(turn, lost)
            return [self.assistant(turn, lost)]
        images = [part for result in turn.results for part in shown(result) if isinstance(part, Image)]
        if images:
            lost.append(Loss("tool", "", "image", "moved into a user's message behind the results"))
        written = [self.format_result(result) for result in turn.results]
        parts: list[Part] = [*images, *(part for part in turn.parts if not isinstance(part, ToolResult))]
        return [*written, {"role": turn.role, "content": self._content(parts, lost)}] if parts else written

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        role = string(message, "role")
        if role in ("tool", "function"):
            return Turn("user", [self.read_result(message)])
        parts = read_blocks(message.get("content"))
        if role != "assistant":
            return Turn(role_of(role), parts)
        calls = self.read_calls(mappings(message.get("tool_calls")) or _before_tools(message))
        refusal = [Text(text)] if (text := string(message, "refusal")) else []
        return Turn("assistant", [*self.read_thought(message), *parts, *refusal, *calls])

    # -- thought ---------------------------------------------------------------------------------------

    def write_thought(self, turn: Turn, lost: list[Loss], /) -> JSONObject:
        """The fields of an assistant's message that hold its thought."""
        if turn.thought:
            lost.append(Loss("assistant", "", "thought", "dropped: there is no place for it"))
        return {}

    def read_thought(self, message: Mapping[str, Any]) -> list[Part]:
        """The thought that a message holds, in whichever field."""
        parts: list[Part] = []
        for detail in mappings(message.get("reasoning_details")):
            text = string(detail, "text") or string(detail, "summary")
            parts += [Thought(text)] if text else []
            parts += [Item(string(detail, "type"), dict(detail))] if {"data", "signature"} & detail.keys() else []
        text = string(message, "reasoning_content") or string(message, "reasoning")
        told = not text or any(isinstance(part, Thought) for part in parts)
        return parts if told else [Thought(text), *parts]

    # -- the assistant ---------------------------------------------------------------------------------

    def takes(self, _item: Item, /) -> bool:
        """Whether an item of the assistant's turn has a place in the message."""
        return False

    def assistant(self, turn: Turn, lost: list[Loss], /) -> JSONObject:
        """The message of the assistant's turn."""
        calls = self.format_calls(turn.calls)
        content = turn.text or (None if calls else "")
        thought = self.write_thought(turn, lost)
        return {"role": "assistant", "content": content, **thought, **present(tool_calls=calls)}

    # -- inside ----------------------------------------------------------------------------------------

    def _tell_foreign(self, turn: Turn, lost: list[Loss]) -> None:
        for part in turn.parts:
            if isinstance(part, Item) and not self.takes(part):
                lost.append(Loss("assistant", "", part.kind, "dropped: there is no place for it"))

    def _content(self, parts: list[Part], lost: list[Loss]) -> str | list[JSONObject]:
        """The content of a user's or of the system's message: a text, or a list if it is more."""
        if len(parts) == 1 and isinstance(parts[0], Text):
            return parts[0].text
        return [block for part in parts if (block := self._block(part, lost)) is not None]

    def _block(self, part: Part, lost: list[Loss]) -> JSONObject | None:
        if isinstance(part, Text):
            return {"type": "text", "text": part.text}
        if isinstance(part, Image):
            return {"type": "image_url", "image_url": {"url": part.address}}
        if isinstance(part, Item) and part.kind in ("input_audio", "file"):
            return dict(part.data)
        lost.append(Loss("user", "", getattr(part, "kind", type(part).__name__), "dropped: there is no place for it"))
        return None


def _before_tools(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The call of a message from before there were tools."""
    return [{"function": call} for call in mappings([message.get("function_call")])]


class DeepSeek(OpenAI):
    """Chat completions of those who want the plain thought back, as `reasoning_content`."""

    name = "deepseek"
    dialect = "deepseek-v3.1"

    def write_thought(self, turn: Turn, _lost: list[Loss], /) -> JSONObject:
        return present(reasoning_content=turn.thought)


class OpenRouter(OpenAI):
    """Chat completions of those who want thought back with its signatures, as `reasoning_details`.

    https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks
    """

    name = "openrouter"

    def takes(self, item: Item) -> bool:
        return item.kind.startswith("reasoning.")

    def write_thought(self, turn: Turn, _lost: list[Loss], /) -> JSONObject:
        details: list[JSONObject] = []
        open_thought = ""
        for part in turn.parts:
            if isinstance(part, Thought):
                open_thought += part.text
            elif isinstance(part, Item) and self.takes(part) and isinstance(part.data, dict):
                text = {"text": open_thought} if part.kind == "reasoning.text" and open_thought else {}
                details.append({**part.data, **text})
                open_thought = ""
        return present(reasoning=turn.thought, reasoning_details=details)


class Mistral(OpenAI):
    """Chat completions of Mistral, whose ids are nine letters and digits.

    https://docs.mistral.ai/capabilities/function_calling/
    """

    name = "mistral"
    dialect = "mistral-array"
    ids = Ids(r"[a-zA-Z0-9]{9}", 9)
