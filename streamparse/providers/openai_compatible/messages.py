"""Servers that speak as OpenAI's chat completions do, and want the model's thought back.

| server | field |
|---|---|
| DeepSeek; llama.cpp, SGLang and vLLM, which give it to the model's template | `reasoning_content` |
| OpenRouter | `reasoning_details`, which keep signatures and encrypted thought |
| Mistral | chunks of the content |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Any, Final

from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.providers.openai_chat.messages import CHAT_REQUESTS, OpenAI
from streamparse.writing.adapter import NO_ANSWER, JSONObject
from streamparse.writing.answer_parts import join_details
from streamparse.writing.content import PDF
from streamparse.writing.definitions import has_type
from streamparse.writing.json_access import drop_empty, get_objects, get_str
from streamparse.writing.parts import Item, Message, Part, Text, Thought, is_item
from streamparse.writing.traits import IdPolicy, MediaSupport, ProviderTraits, is_no_server_tool

_ROUTER_TOOLS = re.compile(r"openrouter:\w+")
"""https://openrouter.ai/docs/guides/features/server-tools/overview"""

_TRAITS: Final = replace(
    OpenAI.traits, write_custom_tool=None, forbidden_root_keywords=(), is_server_tool=is_no_server_tool
)


class DeepSeek(OpenAI):
    """Chat completions of servers that want the plain thought back, as `reasoning_content`."""

    traits: ProviderTraits = replace(_TRAITS, name="deepseek", dialect="deepseek-v3.1")

    def write_thought(self, message: Message, _lost: list[Loss], /) -> JSONObject:
        return drop_empty(reasoning_content=message.thought)

    def adapt_messages(self, messages: list[Message], _model: str, /, *, is_thinking: bool) -> list[Message]:
        """Give every answer a thought, once there is thought or a call: models that think refuse one without.

        Kimi refuses an empty one, too.
        https://api-docs.deepseek.com/guides/thinking_mode, https://github.com/charmbracelet/crush/issues/2696
        """
        if not is_thinking:
            return messages
        return [
            replace(message, parts=[Thought(" "), *message.parts])
            if message.role == "assistant" and not message.thought
            else message
            for message in messages
        ]


class OpenRouter(OpenAI):
    """Chat completions of servers that want thought back with its signatures, as `reasoning_details`.

    https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks
    """

    traits: ProviderTraits = replace(
        _TRAITS,
        name="openrouter",
        media=MediaSupport(document_types=frozenset((PDF,)), document_fields=frozenset(("name",))),
        is_server_tool=partial(has_type, pattern=_ROUTER_TOOLS),
    )

    def has_place_for(self, item: Item) -> bool:
        return item.kind.startswith("reasoning.") or super().has_place_for(item)

    def write_thought(self, message: Message, _lost: list[Loss], /) -> JSONObject:
        pieces = [
            part.text if isinstance(part, Thought) else part.data
            for part in message.parts
            if isinstance(part, Thought)
            or (isinstance(part, Item) and part.kind.startswith("reasoning.") and isinstance(part.data, dict))
        ]
        details = join_details(piece for piece in pieces if piece)
        return drop_empty(reasoning=message.thought, reasoning_details=details)


class Mistral(OpenAI):
    """Chat completions of Mistral: ids are nine letters and digits, content that has thought is a list.

    https://docs.mistral.ai/capabilities/function_calling/, https://docs.mistral.ai/capabilities/reasoning/
    """

    traits: ProviderTraits = replace(
        _TRAITS,
        name="mistral",
        dialect="mistral-array",
        message_names=False,
        media=MediaSupport(document_types=frozenset()),
        ids=IdPolicy(r"[a-zA-Z0-9]{9}", 9),
    )

    def has_place_for(self, _item: Item, /) -> bool:
        return False

    def write_thought(self, message: Message, _lost: list[Loss], /) -> JSONObject:
        return {"content": list(_write_chunks(message.parts))} if message.thought else {}

    def write_assistant(self, message: Message, lost: list[Loss], /) -> JSONObject:
        """Write the assistant's message; one of nothing is refused, and without it the user would speak twice."""
        written = super().write_assistant(message, lost)
        return written if written.get("content") or "tool_calls" in written else {**written, "content": NO_ANSWER}

    def write_message(self, message: Message, lost: list[Loss], /) -> list[JSONObject]:
        return list(_put_answers(super().write_message(message, lost)))

    def join_messages(self, written: list[JSONObject], /) -> list[JSONObject]:
        return list(_put_answers(written))

    def read_message(self, written: Mapping[str, Any]) -> Message:
        message = super().read_message(written)
        return replace(message, parts=[*map(_read_thought_chunk, message.parts)])


def _put_answers(written: Iterable[JSONObject]) -> Iterator[JSONObject]:
    """Put an answer between results and what the user says after them: Mistral refuses the one right after the other.

    https://github.com/zed-industries/zed/issues/37021
    """
    before = ""
    for message in written:
        if before == "tool" and message["role"] == "user":
            yield {"role": "assistant", "content": NO_ANSWER}
        before = message["role"]
        yield message


def _write_chunks(parts: list[Part]) -> Iterator[JSONObject]:
    """Write thought and text in their order, without chunks of white space alone."""
    texts = [part for part in parts if isinstance(part, (Thought, Text)) and part.text]
    for kind, group in groupby(texts, key=type):
        words = "".join(part.text for part in group)
        if words.strip():
            text: JSONObject = {"type": "text", "text": words}
            yield {"type": "thinking", "thinking": [text]} if kind is Thought else text


def _read_thought_chunk(part: Part) -> Part:
    """Read a chunk of thought, whose text may be in chunks again; any other part stays as it is."""
    if not is_item(part, "thinking"):
        return part
    chunks = get_objects(part.data.get("thinking"))
    return Thought(get_str(part.data, "thinking") or "".join(get_str(chunk, "text") for chunk in chunks))


WRITTEN_CHAT_REQUESTS: Final = replace(CHAT_REQUESTS, read_others=None)
"""Chat completions of servers whose own requests are not read."""
MISTRAL_REQUESTS: Final = replace(WRITTEN_CHAT_REQUESTS, fields=CHAT_REQUESTS.fields | {"seed": "random_seed"})
