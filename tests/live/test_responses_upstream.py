"""A real server asked by its Responses endpoint: clients of other wires get the calls, and go on with their results."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from dictation import TOOLS
from live_server import Scripted
from serving import serving
from test_proxy import CLIENTS, REASONS
from test_templates import SEARCH, WEATHER, WRITTEN

from streamparse import proxy

pytestmark = [pytest.mark.live, pytest.mark.parametrize("template", ["hermes"], indirect=True)]

each_client = pytest.mark.parametrize("client", CLIENTS)


@pytest.fixture(params=["reading", "plain"], ids=["reads its calls", "leaves them in the text"])
def server(request: pytest.FixtureRequest, template: str) -> Scripted:
    server: Scripted = request.getfixturevalue(request.param)
    return server


@each_client
def test_the_calls_of_a_server_that_is_asked_for_a_response_reach_every_client(server: Scripted, client: str) -> None:
    calls = [WEATHER, SEARCH]
    content = server.script("I will look.\n" + WRITTEN["hermes"](*calls), TOOLS)
    with serving(proxy.app(server.url, "openai-responses", dialects="all")) as url:
        streamed = CLIENTS[client](url, content)
        assert CLIENTS[client](url, content, stream=False) == streamed
    assert (streamed.text, streamed.calls, streamed.reason) == ("I will look.", calls, REASONS[client][0])


def test_a_server_that_is_asked_for_a_response_takes_the_conversation_with_its_results(server: Scripted) -> None:
    name, arguments = WEATHER
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": "call_a", "type": "function", "function": function}
    turns: Any = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_a", "content": "22 degrees"},
        {"role": "user", "content": server.script("It is mild.", TOOLS)},
    ]
    tools: Any = TOOLS
    with (
        serving(proxy.app(server.url, "openai-responses")) as url,
        openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0) as client,
    ):
        completion = client.chat.completions.create(
            model="copy", messages=turns, tools=tools, temperature=0, max_tokens=200
        )
    assert completion.choices[0].message.content == "It is mild."
    assert completion.usage is not None
    assert completion.usage.prompt_tokens > 0
