"""Those that speak as OpenAI's chat completions do, and want the model's thought back.

| who | where |
|---|---|
| DeepSeek; llama.cpp, SGLang and vLLM hand it to the model's template | `reasoning_content` |
| OpenRouter | `reasoning_details`, which keep signatures and encrypted thought |
| Mistral | chunks of the content |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.providers.openai_chat.messages import OpenAI
from streamparse.providers.openai_chat.requests import write_openai
from streamparse.writing.adapter import NO_ANSWER, Adapter, JSONObject
from streamparse.writing.answer_parts import join_details
from streamparse.writing.content import PDF
from streamparse.writing.definitions import has_type
from streamparse.writing.json_access import drop_empty, get_objects, get_str
from streamparse.writing.parts import Item, Part, Text, Thought, Turn
from streamparse.writing.request import Request
from streamparse.writing.traits import IdPolicy, MediaSupport, is_no_server_tool

_ROUTER_TOOLS = re.compile(r"openrouter:\w+")
"""https://openrouter.ai/docs/guides/features/server-tools/overview"""


class DeepSeek(OpenAI):
    """Chat completions of those who want the plain thought back, as `reasoning_content`."""

    traits = replace(
        OpenAI.traits,
        name="deepseek",
        custom_tools=False,
        forbidden_root_keywords=(),
        dialect="deepseek-v3.1",
        is_server_tool=is_no_server_tool,
    )

    def write_thought(self, turn: Turn, _lost: list[Loss], /) -> JSONObject:
        return drop_empty(reasoning_content=turn.thought)

    def adapt_turns(self, turns: list[Turn], _model: str, /) -> list[Turn]:
        """With thought or calls in a conversation, models that think refuse an answer without thought.

        An empty one does not do (Kimi).
        https://api-docs.deepseek.com/guides/thinking_mode, https://github.com/charmbracelet/crush/issues/2696
        """
        if not any(turn.thought or turn.calls for turn in turns):
            return turns
        return [_with_thought(turn) if turn.role == "assistant" else turn for turn in turns]


class OpenRouter(OpenAI):
    """Chat completions of those who want thought back with its signatures, as `reasoning_details`.

    https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks
    """

    traits = replace(
        OpenAI.traits,
        name="openrouter",
        custom_tools=False,
        forbidden_root_keywords=(),
        media=MediaSupport(document_types=frozenset((PDF,)), document_fields=frozenset(("name",))),
        is_server_tool=partial(has_type, pattern=_ROUTER_TOOLS),
    )

    def has_place_for(self, item: Item) -> bool:
        return item.kind.startswith("reasoning.") or super().has_place_for(item)

    def write_thought(self, turn: Turn, _lost: list[Loss], /) -> JSONObject:
        details = join_details(piece for part in turn.parts if (piece := self._piece(part)))
        return drop_empty(reasoning=turn.thought, reasoning_details=details)

    def _piece(self, part: Part) -> str | JSONObject:
        """What a part is of the details: a thought, a piece of an entry, or nothing."""
        if isinstance(part, Thought):
            return part.text
        if isinstance(part, Item) and part.kind.startswith("reasoning.") and isinstance(part.data, dict):
            return part.data
        return ""


class Mistral(OpenAI):
    """Chat completions of Mistral: ids are nine letters and digits, content that has thought is a list.

    https://docs.mistral.ai/capabilities/function_calling/, https://docs.mistral.ai/capabilities/reasoning/
    """

    traits = replace(
        OpenAI.traits,
        name="mistral",
        custom_tools=False,
        forbidden_root_keywords=(),
        dialect="mistral-array",
        message_names=False,
        media=MediaSupport(document_types=frozenset()),
        ids=IdPolicy(r"[a-zA-Z0-9]{9}", 9),
        is_server_tool=is_no_server_tool,
    )

    def has_place_for(self, _item: Item, /) -> bool:
        return False

    def write_thought(self, turn: Turn, _lost: list[Loss], /) -> JSONObject:
        return {"content": list(_chunks(turn.parts))} if turn.thought else {}

    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        """The messages of a turn; between results and what the user says there must be an answer.

        https://github.com/zed-industries/zed/issues/37021
        """
        written: list[JSONObject] = []
        for message in super().write_turn(turn, lost):
            if written and written[-1]["role"] == "tool" and message["role"] == "user":
                written.append({"role": "assistant", "content": NO_ANSWER})
            written.append(message)
        return written

    def read_message(self, message: Mapping[str, Any]) -> Turn:
        turn = super().read_message(message)
        return replace(turn, parts=[_thought(part) for part in turn.parts])


def _with_thought(turn: Turn) -> Turn:
    return turn if turn.thought else replace(turn, parts=[Thought(" "), *turn.parts])


def _chunks(parts: list[Part]) -> Iterator[JSONObject]:
    """The content as a list: thought and text in their order, without chunks of blanks alone."""
    said = [part for part in parts if isinstance(part, (Thought, Text)) and part.text]
    for kind, group in groupby(said, key=type):
        words = "".join(part.text for part in group)
        if words.strip():
            text: JSONObject = {"type": "text", "text": words}
            yield {"type": "thinking", "thinking": [text]} if kind is Thought else text


def _thought(part: Part) -> Part:
    """A chunk of thought as such; its text may stand alone, or in chunks of its own."""
    if not isinstance(part, Item) or part.kind != "thinking":
        return part
    chunks = get_objects(part.data.get("thinking"))
    return Thought(get_str(part.data, "thinking") or "".join(get_str(chunk, "text") for chunk in chunks))


def write_mistral(adapter: Adapter, request: Request, lost: list[Loss]) -> JSONObject:
    """Write a request for chat completions as Mistral takes it, which has its own word for the seed."""
    written = write_openai(adapter, request, lost)
    if "seed" in written:
        written["random_seed"] = written.pop("seed")
    return written
