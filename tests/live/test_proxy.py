"""The proxy before a real server that does not read calls: official clients get what the server's own reader gives.

Two servers run the same model and template: one reads the calls out of its answers, the other leaves them in the text.
The clients ask the first directly and the second through the proxy.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import anthropic
import openai
import pytest
from dictation import TOOLS, Call, nasty
from live_server import Scripted
from serving import serving
from test_templates import AT_THE_START, ONE_CALL, SEARCH, SHORT, WEATHER, WRITTEN

from streamparse import proxy

pytestmark = pytest.mark.live


class Both(NamedTuple):
    """A server that reads its answers itself, one that does not, and the proxy before it."""

    template: str
    reading: Scripted
    plain: Scripted
    proxy: str


class Heard(NamedTuple):
    """What a client got."""

    text: str
    calls: list[Call]
    reason: str | None


@pytest.fixture(scope="session")
def both(template: str, reading: Scripted, plain: Scripted) -> Iterator[Both]:
    """The servers with each of the templates."""
    with serving(proxy.app(plain.url)) as url:
        yield Both(template, reading, plain, url)


def _openai(url: str, content: str, *, stream: bool = True, **options: Any) -> Heard:
    messages: Any = [{"role": "user", "content": content}]
    wanted: Any = {
        "model": "copy",
        "messages": messages,
        "tools": TOOLS,
        "temperature": 0,
        "max_tokens": 3000,
    } | options
    with openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0) as client:
        if stream:
            with client.chat.completions.stream(**wanted, parallel_tool_calls=True) as chunks:
                for _ in chunks:
                    pass
                completion: Any = chunks.get_final_completion()
        else:
            completion = client.chat.completions.create(**wanted, parallel_tool_calls=True)
    [choice] = completion.choices
    calls = [(call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls or ()]
    return Heard((choice.message.content or "").strip(), calls, choice.finish_reason)


def _anthropic(url: str, content: str, *, stream: bool = True) -> Heard:
    functions = [tool["function"] for tool in TOOLS]
    tools = [{"name": f["name"], "description": f["description"], "input_schema": f["parameters"]} for f in functions]
    messages = [{"role": "user", "content": content}]
    wanted: Any = {"model": "copy", "messages": messages, "tools": tools, "max_tokens": 3000}
    wanted["extra_body"] = {"temperature": 0}
    with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client:
        if stream:
            with client.messages.stream(**wanted) as events:
                message: Any = events.get_final_message()
        else:
            message = client.messages.create(**wanted)
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = [(block.name, block.input) for block in message.content if block.type == "tool_use"]
    return Heard(text.strip(), calls, message.stop_reason)


CLIENTS = {"openai": _openai, "anthropic": _anthropic}
REASONS = {"openai": ("tool_calls", "stop"), "anthropic": ("tool_use", "end_turn")}

GIVES_UP = {"function-tag", "llama3-json"}
"""What llama.cpp makes of these templates ends some of the answers here with an error instead of reading them."""

each_client = pytest.mark.parametrize("client", CLIENTS)


def _assert_same(both: Both, client: str, answer: str, calls: list[Call]) -> None:
    listen = CLIENTS[client]
    content = both.plain.script(answer, TOOLS)
    through = listen(both.proxy, content)
    assert through.calls == calls
    assert through.reason == REASONS[client][0 if calls else 1]
    assert listen(both.proxy, content, stream=False) == through
    try:
        native = listen(both.reading.url, both.reading.script(answer, TOOLS))
    except (openai.APIError, anthropic.APIError):
        assert both.template in GIVES_UP
        return
    assert native.calls == (calls[:1] if both.template in ONE_CALL else calls)
    assert (native.text, native.reason) == (through.text, through.reason)


@each_client
def test_one_call_is_the_one_that_the_server_reads(both: Both, client: str) -> None:
    for call in (WEATHER, SEARCH, SHORT):
        _assert_same(both, client, WRITTEN[both.template](call), [call])


@each_client
def test_parallel_calls_are_those_that_the_server_reads(both: Both, client: str) -> None:
    calls = [WEATHER, SEARCH, WEATHER, SHORT]
    _assert_same(both, client, WRITTEN[both.template](*calls), calls)


@each_client
def test_text_before_a_call_is_what_the_server_reads(both: Both, client: str) -> None:
    before = "" if both.template in AT_THE_START else "I will look.\n"
    _assert_same(both, client, before + WRITTEN[both.template](SEARCH), [SEARCH])


@each_client
def test_an_answer_without_a_call_is_the_text_that_the_server_reads(both: Both, client: str) -> None:
    _assert_same(both, client, "Nothing to call, {really}: é 🎉.", [])


@each_client
def test_nasty_arguments_reach_the_client(both: Both, client: str) -> None:
    call: Call = ("search", {"query": nasty(3, 20), "limit": 3})
    content = both.plain.script(WRITTEN[both.template](call), TOOLS)
    assert CLIENTS[client](both.proxy, content).calls == [call]


@each_client
@pytest.mark.parametrize("template", ["hermes", "qwen3-coder", "glm-4.5", "minimax-m2"], indirect=True)
def test_a_server_that_is_never_given_tools_is_taught_them(template: str, reading: Scripted, client: str) -> None:
    with serving(proxy.app(reading.url, dialects=[template], tools="prompt")) as url:
        heard = CLIENTS[client](url, reading.script("I will look.\n" + WRITTEN[template](WEATHER, SEARCH)))
    assert heard.calls == [WEATHER, SEARCH]
    assert heard.text == "I will look."


def test_a_call_that_the_token_limit_cuts_is_no_json_and_ends_as_cut(both: Both) -> None:
    content = both.plain.script(WRITTEN[both.template](SEARCH), TOOLS)
    with openai.OpenAI(base_url=both.proxy + "/v1", api_key="none", max_retries=0) as client:
        messages: Any = [{"role": "user", "content": content}]
        tools: Any = TOOLS
        arguments, reason = "", None
        for chunk in client.chat.completions.create(
            model="copy", messages=messages, tools=tools, stream=True, max_tokens=24, temperature=0
        ):
            for call in chunk.choices[0].delta.tool_calls or () if chunk.choices else ():
                arguments += (call.function and call.function.arguments) or ""
            reason = chunk.choices[0].finish_reason or reason if chunk.choices else reason
    assert reason == "length"
    if arguments:
        with pytest.raises(ValueError):
            json.loads(arguments)
