"""One answer of each provider, as its wire tells it: a signed thought, text, and two calls with ids that repeat."""

from __future__ import annotations

from typing import Any

import streamparse as sp

__all__ = ["ANSWERS", "WIRES", "answer_of", "results_of"]

JSON = dict[str, Any]

WIRES = {
    **dict.fromkeys(("openai", "deepseek", "openrouter", "mistral"), "openai-chat"),
    "openai-responses": "openai-responses",
    "anthropic": "anthropic",
    **dict.fromkeys(("gemini", "gemini-openapi"), "gemini"),
    "ollama": "ollama-chat",
    "cohere": "cohere",
    "bedrock": "bedrock-converse",
}


def _chat(message: JSON) -> JSON:
    calls = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": text}}
        for id, name, text in [("call_0", "look up", '{"city":"Bern"}'), ("call_1", "functions.now", "{}")]
    ]
    choice = {"index": 0, "message": {"role": "assistant", **message, "tool_calls": calls}}
    return {"object": "chat.completion", "choices": [{**choice, "finish_reason": "tool_calls"}]}


def _calls_of_chat(*ids: str) -> list[JSON]:
    return [{"id": id, "function": {"name": "look up", "arguments": {"city": "Bern"}}} for id in ids]


_DETAIL = {"type": "reasoning.text", "text": "Hm.", "signature": "sig", "format": "anthropic-claude-v1", "index": 0}
_ENCRYPTED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
_SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Bern"}}
_FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
_SIGNATURE = "c2lnbmF0dXJl"

ANSWERS: dict[str, JSON] = {
    "openai": _chat({"content": "I will look."}),
    "deepseek": _chat({"content": "I will look.", "reasoning_content": "Hm."}),
    "openrouter": _chat({"content": "I will look.", "reasoning": "Hm.", "reasoning_details": [_DETAIL]}),
    "mistral": _chat({"content": "I will look."}),
    "openai-responses": {
        "object": "response",
        "status": "completed",
        "output": [
            _ENCRYPTED,
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I will look."}]},
            {"type": "function_call", "call_id": "call_0", "name": "look up", "arguments": '{"city":"Bern"}'},
            {"type": "function_call", "call_id": "call_1", "name": "functions.now", "arguments": "{}"},
        ],
    },
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
            _SEARCH,
            _FOUND,
            {"type": "text", "text": "I will look."},
            {"type": "tool_use", "id": "toolu_0", "name": "look up", "input": {"city": "Bern"}},
            {"type": "tool_use", "id": "toolu_1", "name": "functions.now", "input": {}},
        ],
        "stop_reason": "tool_use",
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "parts": [
                        {"text": "Hm.", "thought": True},
                        {"text": "I will look."},
                        {
                            "functionCall": {"name": "look_up", "args": {"city": "Bern"}},
                            "thoughtSignature": _SIGNATURE,
                        },
                        {"functionCall": {"name": "functions.now", "args": {}}},
                    ]
                },
                "finishReason": "STOP",
            }
        ]
    },
    "ollama": {
        "message": {
            "role": "assistant",
            "thinking": "Hm.",
            "content": "I will look.",
            "tool_calls": _calls_of_chat("", ""),
        },
        "done": True,
        "done_reason": "stop",
    },
    "cohere": {
        "message": {
            "role": "assistant",
            "tool_plan": "I will look.",
            "tool_calls": _chat({})["choices"][0]["message"]["tool_calls"],
        },
        "finish_reason": "TOOL_CALL",
    },
    "bedrock": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "sig"}}},
                    {"text": "I will look."},
                    {"toolUse": {"toolUseId": "tooluse_0", "name": "look up", "input": {"city": "Bern"}}},
                    {"toolUse": {"toolUseId": "tooluse_1", "name": "functions.now", "input": {}}},
                ],
            }
        },
        "stopReason": "tool_use",
    },
}
ANSWERS["gemini-openapi"] = ANSWERS["gemini"]


def answer_of(provider: str) -> sp.ParsedResponse:
    """The answer as the provider's wire tells it."""
    parser = sp.StreamParser(WIRES[provider])
    parser.feed(ANSWERS[provider])
    parser.close()
    return parser.response


def results_of(response: sp.ParsedResponse) -> list[sp.ToolResult]:
    """A result for each call."""
    return [sp.ToolResult(call.id, call.name, {"sunny": True}, index=call.index) for call in response.tool_calls]
