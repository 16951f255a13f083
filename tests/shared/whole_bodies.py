"""The body that a server would have sent whole, put together from the events of a stream.

It is the plain sum that each provider's reference describes, and knows nothing of the habits of other servers: who
leaves out indexes or sends a field twice has no sum.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from streamparse.frames import AutoFramer
from streamparse.limits import Limits

__all__ = ["SUMS", "messages_of"]

JSONObject = dict[str, Any]


def messages_of(body: bytes) -> list[JSONObject]:
    """The JSON objects of a stream; raises ValueError for frames that are none."""
    framer = AutoFramer(Limits())
    frames = [frame for frame in framer.feed(body) + framer.close() if frame.field == b"data"]
    found = [json.loads(frame.data) for frame in frames if frame.data.strip() not in (b"", b"[DONE]")]
    return [message for message in found if isinstance(message, dict)]


def _anthropic(events: list[JSONObject]) -> JSONObject:
    message: JSONObject = {}
    for event in events:
        match event["type"]:
            case "message_start":
                message = dict(event["message"])
                message["content"] = list(message.get("content") or [])
            case "content_block_start":
                message["content"].append(dict(event["content_block"]))
            case "content_block_delta":
                _add_to_block(message["content"][event["index"]], event["delta"])
            case "message_delta":
                message |= {key: value for key, value in event["delta"].items() if value is not None}
                message["usage"] = {**(message.get("usage") or {}), **(event.get("usage") or {})}
    for block in message["content"]:
        if isinstance(block.get("input"), str):
            block["input"] = json.loads(block["input"] or "{}")
    return message


def _add_to_block(block: JSONObject, delta: JSONObject) -> None:
    match delta["type"]:
        case "input_json_delta":
            block["input"] = (block["input"] if isinstance(block.get("input"), str) else "") + delta["partial_json"]
        case "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        case _:
            for key in delta.keys() - {"type"}:
                _add(block, key, delta[key])


def _chat(chunks: list[JSONObject]) -> JSONObject:
    message: JSONObject = {}
    body: JSONObject = {}
    choice: JSONObject = {"index": 0, "message": message, "finish_reason": None}
    for chunk in chunks:
        body |= {key: value for key, value in chunk.items() if value}
        for part in chunk.get("choices") or ():
            if part.get("index"):
                continue
            choice["finish_reason"] = part.get("finish_reason") or choice["finish_reason"]
            for key, value in (part.get("delta") or {}).items():
                _add(message, key, value)
    return {**body, "object": "chat.completion", "choices": [choice]}


def _add(whole: JSONObject, key: str, value: Any) -> None:
    """Add one field of a delta: texts and numbered lists grow, anything else is said once."""
    old = whole.get(key)
    if isinstance(old, str) and isinstance(value, str) and key not in ("role", "type", "id", "name"):
        whole[key] = old + value
    elif isinstance(old, dict) and isinstance(value, dict):
        for inner, each in value.items():
            _add(old, inner, each)
    elif isinstance(old, list) and isinstance(value, str):  # Mistral, where a thought came before the text
        whole[key] = [*old, {"type": "text", "text": value}]
    elif isinstance(value, list) and value and all(isinstance(each, dict) and "index" in each for each in value):
        whole[key] = _numbered(old or [], value)
    elif isinstance(old, list) and isinstance(value, list):
        whole[key] = old + value
    elif value or old is None:
        whole[key] = value


def _numbered(old: list[JSONObject], new: list[JSONObject]) -> list[JSONObject]:
    """Add pieces of items to those of the same index; what is of another type is another item (`reasoning_details`)."""
    items = list(old)
    for piece in new:
        known = (item for item in items if item["index"] == piece["index"] and _fits(item, piece))
        item = next(known, None)
        if item is None:
            items.append(item := {})
        for key, value in piece.items():
            _add(item, key, value)
    return items


def _fits(item: JSONObject, piece: JSONObject) -> bool:
    return not piece.get("type") or piece["type"] == item.get("type")


def _responses(events: list[JSONObject]) -> JSONObject:
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    *_, last = (event["response"] for event in events if event["type"] in _ENDS)
    return {**last, "object": "response", "output": last.get("output") or done}


_ENDS = ("response.completed", "response.incomplete", "response.failed")


def _gemini(chunks: list[JSONObject]) -> JSONObject:
    parts: list[JSONObject] = []
    candidate: JSONObject = {}
    body: JSONObject = {}
    for chunk in chunks:
        body |= chunk
        for part in chunk.get("candidates") or ():
            if not part.get("index"):
                candidate |= part
                parts += (part.get("content") or {}).get("parts") or []
    return {**body, "candidates": [{**candidate, "content": {"role": "model", "parts": parts}}]}


SUMS: dict[str, Callable[[list[JSONObject]], JSONObject]] = {
    "anthropic": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini": _gemini,
    "gemini-json-array": _gemini,
}
"""How the whole body is made, by the family of the stream."""
