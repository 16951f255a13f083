"""What each provider refuses of a conversation, written from their documents and their errors; nothing is imported.

`check_messages` asserts that nothing of that is in the messages of a request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

__all__ = ["check_messages"]

JSON = dict[str, Any]

WORD = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NAMES = {
    **dict.fromkeys(("gemini", "gemini-openapi"), re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")),
    "cohere": re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*"),
    "anthropic": re.compile(r"[a-zA-Z0-9_-]{1,128}"),
    "ollama": re.compile(r"(?s).+"),
}
IDS = {
    "openai": re.compile(r"(?s).{1,40}"),
    "openai-responses": re.compile(r"(?s).{1,64}"),
    "mistral": re.compile(r"[a-zA-Z0-9]{9}"),
    "anthropic": re.compile(r"[a-zA-Z0-9_-]{1,128}"),
    "bedrock": re.compile(r"[a-zA-Z0-9_-]{1,64}"),
}
ANY = re.compile(r".+", re.DOTALL)


def check_messages(provider: str, messages: list[JSON], model: str = "") -> None:
    """Assert that a provider would take these messages; the last of them may be the assistant's."""
    json.dumps(messages)
    _CHECKS[provider](provider, messages)
    if provider.startswith("gemini") and model.startswith("gemini-3"):
        _check_signed(messages)


# -- what all share ----------------------------------------------------------------------------------------


def _check_ids(provider: str, ids: list[str]) -> None:
    assert len(set(ids)) == len(ids), f"an id comes twice: {ids}"
    assert all(IDS.get(provider, ANY).fullmatch(id) for id in ids), f"refused ids: {ids}"


def _check_names(provider: str, names: list[str]) -> None:
    assert all(NAMES.get(provider, WORD).fullmatch(name) for name in names), f"refused names: {names}"


def _check_alternation(roles: list[str], first: str) -> None:
    assert roles[0] == first, f"the first message is the {roles[0]}'s"
    assert all(one != other for one, other in pairwise(roles)), f"roles repeat: {roles}"


def _says(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())


# -- chat completions and those like them ------------------------------------------------------------------


def _check_chat(provider: str, messages: list[JSON]) -> None:
    roles = [message["role"] for message in messages]
    assert "system" not in roles[1:]
    rest = messages[1:] if roles[0] == "system" else messages
    turns = [message["role"] for message in rest if message["role"] != "tool"]
    assert turns[0] == "user"
    for one, other in pairwise(rest):
        assert not (one["role"] == other["role"] != "tool"), "two messages of one role"
    ids: list[str] = []
    place = 0
    while place < len(rest):
        message = rest[place]
        assert message["role"] != "tool", "a result without its call"
        _check_content(message, provider)
        calls = message.get("tool_calls", [])
        assert "tool_calls" not in message or calls
        asked = [_chat_id(call, provider) for call in calls]
        ids += asked
        _check_names(provider, [call["function"]["name"] for call in calls])
        _check_arguments(calls, provider)
        answers = rest[place + 1 : place + 1 + len(calls)]
        assert [answer["role"] for answer in answers] == ["tool"] * len(calls), "a call without its result"
        assert [answer.get("tool_call_id", "") for answer in answers] == asked
        for answer in answers:
            _check_result(answer, provider)
        place += 1 + len(calls)
    _check_ids(provider, ids)
    if provider == "mistral":
        pairs = pairwise(rest)
        assert not any(one["role"] == "tool" and other["role"] == "user" for one, other in pairs)
    if provider == "deepseek":
        answers = [message for message in rest if message["role"] == "assistant"]
        thinks = any("reasoning_content" in each or "tool_calls" in each for each in answers)
        assert not thinks or all(each.get("reasoning_content") for each in answers)


def _chat_id(call: JSON, provider: str) -> str:
    assert provider == "ollama" or call["type"] == "function"
    return str(call["id"])


def _check_arguments(calls: list[JSON], provider: str) -> None:
    for call in calls:
        arguments = call["function"]["arguments"]
        assert isinstance(arguments if provider == "ollama" else json.loads(arguments), dict)


def _check_content(message: JSON, provider: str) -> None:
    content = message.get("content")
    if isinstance(content, list):
        assert content
        for block in content:
            assert block["type"] in ("text", "image_url", "file", "thinking"), block
            if block["type"] == "text":
                assert _says(block["text"])
        return
    beside = message.get("tool_calls") or message.get("images")
    assert _says(content) or (beside and content in (None, "")), f"an empty message: {message}"
    assert provider != "ollama" or content is not None


def _check_result(answer: JSON, provider: str) -> None:
    content = answer["content"]
    if provider == "cohere":
        (block,) = content
        assert isinstance(block["document"]["data"], dict)
    else:
        assert _says(content) or answer.get("images")
    assert provider != "ollama" or answer["tool_name"]


# -- Anthropic ---------------------------------------------------------------------------------------------


def _check_anthropic(provider: str, messages: list[JSON]) -> None:
    _check_alternation([message["role"] for message in messages], "user")
    ids: list[str] = []
    waiting: list[str] = []
    for message in messages:
        blocks = message["content"]
        if isinstance(blocks, str):
            assert _says(blocks)
            blocks = [{"type": "text", "text": blocks}]
        assert blocks
        kinds = [block["type"] for block in blocks]
        assert all(_says(block["text"]) for block in blocks if block["type"] == "text")
        if message["role"] == "user":
            answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            assert answered == waiting, "calls and results are not the same"
            assert kinds[: len(answered)] == ["tool_result"] * len(answered), "results do not come first"
            assert all(block["content"] for block in blocks if block["type"] == "tool_result")
            assert not {"thinking", "tool_use"} & set(kinds)
            waiting = []
        else:
            waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
            ids += waiting
            _check_names(provider, [block["name"] for block in blocks if block["type"] == "tool_use"])
            assert all(isinstance(block["input"], dict) for block in blocks if block["type"] == "tool_use")
            _check_thinking(blocks)
            _check_server_calls(blocks, message is messages[-1])
    assert not waiting, "a call without its result"
    _check_ids(provider, ids)


def _check_thinking(blocks: list[JSON]) -> None:
    assert all(_says(block["signature"]) for block in blocks if block["type"] == "thinking")
    assert blocks[-1]["type"] not in ("thinking", "redacted_thinking"), "a thought ends the message"


def _check_server_calls(blocks: list[JSON], is_last: bool) -> None:
    used = [block["id"] for block in blocks if block["type"] == "server_tool_use"]
    gave = [block["tool_use_id"] for block in blocks if block["type"].endswith("_tool_result")]
    assert used == gave or (is_last and used[: len(gave)] == gave)


# -- Bedrock -----------------------------------------------------------------------------------------------


def _check_bedrock(provider: str, messages: list[JSON]) -> None:
    _check_alternation([message["role"] for message in messages], "user")
    ids: list[str] = []
    waiting: list[str] = []
    for message in messages:
        blocks = message["content"]
        assert blocks
        assert all(_says(block["text"]) for block in blocks if "text" in block)
        results = [block["toolResult"] for block in blocks if "toolResult" in block]
        if message["role"] == "user":
            assert [result["toolUseId"] for result in results] == waiting, "calls and results are not the same"
            assert all("toolResult" in block for block in blocks[: len(results)])
            assert all(result["content"] for result in results)
            waiting = []
        else:
            uses = [block["toolUse"] for block in blocks if "toolUse" in block]
            waiting = [use["toolUseId"] for use in uses]
            ids += waiting
            _check_names(provider, [use["name"] for use in uses])
            assert all(isinstance(use["input"], dict) for use in uses)
    assert not waiting, "a call without its result"
    _check_ids(provider, ids)


# -- Gemini ------------------------------------------------------------------------------------------------


def _check_gemini(provider: str, contents: list[JSON]) -> None:
    _check_alternation([content["role"] for content in contents], "user")
    ids: list[str] = []
    waiting: list[tuple[str, str]] = []
    for content in contents:
        parts = content["parts"]
        assert parts
        assert all(part["text"] or part.get("thoughtSignature") for part in parts if "text" in part)
        assert any(_says(part.get("text", "x")) and not part.get("thought") for part in parts)
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        given = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if content["role"] == "user":
            assert not calls
            assert [(each["id"], each["name"]) for each in given] == waiting, "calls and results are not the same"
            assert all(isinstance(each["response"], dict) for each in given)
            waiting = []
        else:
            assert not given
            waiting = [(call["id"], call["name"]) for call in calls]
            ids += [call["id"] for call in calls]
            _check_names(provider, [call["name"] for call in calls])
            assert all(isinstance(call["args"], dict) for call in calls)
    assert not waiting, "a call without its result"
    _check_ids(provider, ids)


def _check_signed(contents: list[JSON]) -> None:
    for content in contents:
        calls = [part for part in content["parts"] if "functionCall" in part]
        assert not calls or calls[0].get("thoughtSignature"), "the first call has no signature"


# -- Responses ---------------------------------------------------------------------------------------------


def _check_responses(provider: str, items: list[JSON]) -> None:
    messages = [item for item in items if "role" in item]
    assert [item["role"] for item in messages][:2] in (["user"], ["system", "user"], ["user", "assistant"])
    ids: list[str] = []
    waiting: list[str] = []
    for place, item in enumerate(items):
        kind = item.get("type", "message")
        if kind == "function_call_output":
            assert waiting, "a result without its call"
            assert item["call_id"] == waiting.pop(0)
            assert item["output"]
            continue
        assert not waiting or kind == "function_call" or _is_of_one_turn(items, place), "a call without its result"
        if kind == "message":
            _check_responses_message(item)
        elif kind == "function_call":
            waiting.append(item["call_id"])
            ids.append(item["call_id"])
            _check_names(provider, [item["name"]])
            assert isinstance(json.loads(item["arguments"]), dict)
        elif kind == "reasoning":
            behind = items[place + 1] if place + 1 < len(items) else {"role": "user"}
            assert behind.get("role") != "user", "a reasoning leads to nothing"
            assert behind.get("type") != "function_call_output", "a reasoning leads to nothing"
    assert not waiting, "a call without its result"
    _check_ids(provider, ids)


def _is_of_one_turn(items: list[JSON], place: int) -> bool:
    """Whether an item between calls and their results is the assistant's."""
    return items[place].get("role") != "user" and items[place].get("type") != "function_call_output"


def _check_responses_message(item: JSON) -> None:
    content = item["content"]
    if isinstance(content, str):
        assert _says(content)
        return
    assert content
    assert all(_says(block["text"]) for block in content if block["type"] == "input_text")


_CHECKS: dict[str, Callable[[str, list[JSON]], None]] = {
    **dict.fromkeys(("openai", "deepseek", "openrouter", "mistral", "cohere", "ollama"), _check_chat),
    "anthropic": _check_anthropic,
    "bedrock": _check_bedrock,
    **dict.fromkeys(("gemini", "gemini-openapi"), _check_gemini),
    "openai-responses": _check_responses,
}
