"""The official clients, fed with the bytes of one answer after the other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import anthropic
import ollama
import openai
from serving import Upstream, serving

__all__ = ["CLIENT_WIRES", "AnswerFailed", "Clients", "Heard", "clients"]

MESSAGES: Any = [{"role": "user", "content": "x"}]
CLIENT_WIRES = ("openai-chat", "openai-responses", "anthropic", "ollama-chat")


class AnswerFailed(Exception):
    """A response failed: OpenAI's client hands that out as any other event."""


class Heard(NamedTuple):
    """What a client has of an answer: its calls are those that it could run."""

    text: str
    thought: str
    calls: list[tuple[str, str, Any]]
    reason: str | None
    tokens: int | None
    models: list[Any]
    """The objects that it made of what came."""


class Clients:
    """A client of each wire in front of one server."""

    def __init__(self, server: Upstream, url: str) -> None:
        self._server = server
        self._openai = openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0)
        self._anthropic = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
        self._ollama = ollama.Client(host=url)

    def close(self) -> None:
        """Close the connections."""
        for client in (self._openai, self._anthropic, self._ollama):
            client.close()

    def hear(self, wire: str, body: bytes, content_type: str) -> Heard:
        """Return what the client of a wire has of a streamed answer, or of a whole one."""
        self._server.chunks, self._server.headers = [body], [("content-type", content_type)]
        streamed = content_type != "application/json"
        match wire:
            case "openai-chat":
                return _openai(self._openai, streamed=streamed)
            case "openai-responses":
                return _responses(self._openai, streamed=streamed)
            case "anthropic":
                return _anthropic(self._anthropic, streamed=streamed)
            case _:
                return _ollama(self._ollama, streamed=streamed)


@contextmanager
def clients() -> Iterator[Clients]:
    """The clients and their server."""
    server = Upstream()
    with serving(server) as url:
        all_of_them = Clients(server, url)
        try:
            yield all_of_them
        finally:
            all_of_them.close()


def _openai(client: openai.OpenAI, *, streamed: bool) -> Heard:
    if not streamed:
        return _completion(client.chat.completions.create(model="m", messages=MESSAGES), [])
    chunks = list(client.chat.completions.create(model="m", messages=MESSAGES, stream=True))
    with client.chat.completions.stream(model="m", messages=MESSAGES) as stream:
        for _ in stream:
            pass
        return _completion(stream.current_completion_snapshot, chunks)


def _completion(completion: Any, chunks: list[Any]) -> Heard:
    [choice] = completion.choices
    message = choice.message
    functions = [call for call in message.tool_calls or () if call.type == "function"]  # others take text
    calls = [(call.id, call.function.name, call.function.arguments) for call in functions]
    read = [(id, name, json.loads(arguments)) for id, name, arguments in calls if _is_json(arguments)]
    text = (message.content or "") + (message.refusal or "")
    thought = getattr(message, "reasoning_content", None) or ""
    tokens = completion.usage.completion_tokens if completion.usage else None
    return Heard(text, thought, read, choice.finish_reason, tokens, [*chunks, completion])


def _responses(client: openai.OpenAI, *, streamed: bool) -> Heard:
    if not streamed:
        return _response(client.responses.create(model="m", input="x"), [])
    events = list(client.responses.create(model="m", input="x", stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    last: Any = events[-1]
    if last.type == "response.failed":
        raise AnswerFailed(last.response.error)
    with client.responses.stream(model="m", input="x") as stream:
        summed = [event for event in stream if event.type in ("response.completed", "response.incomplete")]
    return _response(summed[-1].response, events)


def _response(response: Any, events: list[Any]) -> Heard:
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    texts = [part.refusal if part.type == "refusal" else part.text for part in parts]
    thoughts = [part.text for item in response.output if item.type == "reasoning" for part in item.content or ()]
    functions = [item for item in response.output if item.type == "function_call"]
    calls = [(call.call_id, call.name, json.loads(call.arguments)) for call in functions]
    details = response.incomplete_details
    reason = details.reason if details else "tool_calls" if calls else response.status
    tokens = response.usage.output_tokens if response.usage else None
    return Heard("".join(texts), "".join(thoughts), calls, reason, tokens, [*events, response])


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _anthropic(client: anthropic.Anthropic, *, streamed: bool) -> Heard:
    asked: Any = {"model": "m", "max_tokens": 9, "messages": MESSAGES}
    if not streamed:
        message = client.messages.create(**asked)
        return _message(message, range(len(message.content)), [])
    events = list(client.messages.create(**asked, stream=True))
    stopped = [event.index for event in events if event.type == "content_block_stop"]
    with client.messages.stream(**asked) as stream:
        return _message(stream.get_final_message(), stopped, events)


def _message(message: Any, stopped: Sequence[int], events: list[Any]) -> Heard:
    blocks = [(index in stopped, block) for index, block in enumerate(message.content)]
    calls = [(block.id, block.name, block.input) for whole, block in blocks if whole and block.type == "tool_use"]
    text = "".join(block.text for _, block in blocks if block.type == "text")
    thought = "".join(block.thinking for _, block in blocks if block.type == "thinking")
    return Heard(text, thought, calls, message.stop_reason, message.usage.output_tokens, [*events, message])


def _ollama(client: ollama.Client, *, streamed: bool) -> Heard:
    lines: Any = list(client.chat("m", MESSAGES, stream=True)) if streamed else [client.chat("m", MESSAGES)]
    calls = [call.function for line in lines for call in line.message.tool_calls or ()]
    return Heard(
        "".join(line.message.content or "" for line in lines),
        "".join(line.message.thinking or "" for line in lines),
        [("", call.name, call.arguments) for call in calls],
        lines[-1].done_reason,
        lines[-1].eval_count,
        lines,
    )
