"""Decide what the copy model says.

The model repeats what lies N tokens back, N being named by a token `<|off:N|>` in its prompt.  So a user message

    <|off:N|>PAYLOAD<|endoftext|>        with N = tokens(PAYLOAD<|endoftext|>) - 1 + tokens(what the template adds)

makes it say PAYLOAD, token by token, and stop.  The counts come from the server's own tokenizer and template.

The answers of a whole conversation are dictated by its first message: the template `hermes` keeps what stands behind
`<|turn|>` in it, and puts the payload of each turn at the end of that turn's prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import httpx

from live_server.vocabulary import END, offset_token

__all__ = ["Scripted"]

PLACE = "\N{SECTION SIGN}"
TURN = "<|turn|>"


class Scripted:
    """A running server whose answers the caller dictates."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._http = httpx.Client(base_url=url, timeout=30)
        self._tails: dict[str, int] = {}

    def close(self) -> None:
        """Close the connection that counts tokens."""
        self._http.close()

    def chat(self, answer: str, tools: Sequence[dict[str, Any]] = (), **fields: Any) -> dict[str, Any]:
        """The body of a streaming chat request to which the model answers exactly `answer`.

        With `tools` the server reads the calls out of the answer and sends them in fields of their own; without them
        it sends the answer as it is.  `fields` are further fields of the request.
        """
        request: dict[str, Any] = {"model": "copy", "stream": True, "temperature": 0, "max_tokens": 3000}
        request["stream_options"] = {"include_usage": True}
        if tools:
            request |= {"tools": list(tools), "parallel_tool_calls": True}
        request["messages"] = [{"role": "user", "content": self.script(answer, tools)}]
        return request | fields

    def script(self, answer: str, tools: Sequence[dict[str, Any]] = ()) -> str:
        """The user message, the last of its prompt, that makes the model say `answer`."""
        distance = self._count(answer + END) - 1 + self._tail(tools)
        return f"{offset_token(distance)}{answer}{END}"

    def script_turns(self, answers: Iterable[str], prompt: str, tools: Sequence[dict[str, Any]] = ()) -> str:
        """The user message that makes the model say one answer after the other, whatever stands between them.

        The model sees `prompt`.  Once the answers are used up the server refuses the request.
        """
        return TURN.join([prompt, *(self.script(answer, tools) for answer in answers)])

    def _count(self, text: str) -> int:
        """How many tokens the text has."""
        reply = self._post("/tokenize", {"content": text, "parse_special": True, "add_special": False})
        return len(reply["tokens"])

    def _tail(self, tools: Sequence[dict[str, Any]]) -> int:
        """How many tokens the template puts between the last user message and the answer."""
        key = repr(tools)
        if key not in self._tails:
            body: dict[str, Any] = {"messages": [{"role": "user", "content": PLACE}]}
            prompt = self._post("/apply-template", body | ({"tools": list(tools)} if tools else {}))["prompt"]
            self._tails[key] = self._count(prompt.rpartition(PLACE)[2])
        return self._tails[key]

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        return self._http.post(path, json=body).raise_for_status().json()
