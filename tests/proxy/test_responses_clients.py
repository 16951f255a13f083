"""Clients of Responses through the proxy, to servers of every wire: what Codex and OpenAI's own client need."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import httpx
import openai
import pytest
from cuts import in_pieces
from emitting import ANSWER_TEXT, CALLS, TEXT, stream_of
from serving import Upstream, proxied
from upstreams import CALLS as NATIVE_CALLS
from upstreams import SENTENCE, UPSTREAMS, native

import streamparse as sp
from streamparse.providers.emitters import EMITTERS
from streamparse.proxy.client_request import read_client_request
from streamparse.proxy.settings import Settings

PATH = "/v1/responses"
EVENTS = [("content-type", "text/event-stream")]
JSON = [("content-type", "application/json")]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
WEATHER: dict[str, Any] = {"type": "function", "name": "get_weather", "parameters": SCHEMA, "strict": False}
CLOSE: dict[str, Any] = {"type": "function", "name": "close_agent", "parameters": {"type": "object"}}
NAMESPACE: dict[str, Any] = {"type": "namespace", "name": "multi_agent_v1", "tools": [CLOSE]}
PATCH: dict[str, Any] = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Change files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"},
}
QUESTION = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Weather?"}]}]
REQUEST: dict[str, Any] = {"model": "m", "input": QUESTION, "tools": [WEATHER], "stream": True, "store": False}
SERVERS = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama-chat", "cohere")

Events = list[dict[str, Any]]


def read_events(body: bytes) -> Events:
    """The events of a stream, each of which is named twice, and numbered without a gap."""
    events = []
    for block in body.decode().split("\n\n")[:-1]:
        name, _, data = block.partition("\n")
        events.append(json.loads(data.removeprefix("data: ")))
        assert name == "event: " + events[-1]["type"]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


def list_done(events: Events) -> Events:
    """The items that a client may act on."""
    return [event["item"] for event in events if event["type"] == "response.output_item.done"]


def list_calls(items: Events) -> list[tuple[str, Any]]:
    return [(item["name"], json.loads(item["arguments"])) for item in items if item["type"] == "function_call"]


def read_text(items: Events) -> str:
    return "".join(part["text"] for item in items if item["type"] == "message" for part in item["content"])


def ask(url: str, **changes: Any) -> httpx.Response:
    return httpx.post(url + PATH, json=REQUEST | changes, timeout=60, headers={"authorization": "Bearer secret"})


def write_chat(text: str, *deltas: dict[str, Any], finish: str | None = "stop") -> list[bytes]:
    """The stream of a chat server that says a text, and then what `deltas` hold."""
    said: list[dict[str, Any]] = [*({"content": piece} for piece in in_pieces(text, 5)), *deltas]
    chunks: Events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in said]
    if finish is not None:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks] + [b"data: [DONE]\n\n"] * bool(finish)


def write_call(name: str, arguments: dict[str, Any]) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def ask_chat(upstream: Upstream, **changes: Any) -> tuple[Events, dict[str, Any], httpx.Response]:
    """Ask through a proxy in front of a chat server; return the events, what the server was asked, and the answer."""
    with proxied(upstream) as url:
        answer = ask(url, **changes)
    return read_events(answer.content), json.loads(upstream.asked[0][3]), answer


# -- answers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("wire", SERVERS)
def test_calls_in_the_text_of_every_server_reach_openais_client(wire: str, streamed: bool) -> None:
    upstream = _answer_in_text(wire, streamed=streamed)
    with (
        proxied(upstream, wire=wire, dialects="all") as url,
        openai.OpenAI(base_url=url + "/v1", api_key="secret", max_retries=0) as client,
    ):
        response = _hear(client, streamed=streamed)
    assert response.output_text.strip() == TEXT
    assert response.status == "completed"
    assert [(item.name, json.loads(item.arguments)) for item in _calls(response)] == CALLS
    assert len({item.call_id for item in _calls(response)}) == len(CALLS)
    assert (response.usage.input_tokens, response.usage.output_tokens, response.usage.total_tokens) == (3, 4, 7)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("wire", UPSTREAMS)
def test_native_calls_of_every_server_reach_openais_client(wire: str, streamed: bool) -> None:
    headers = EVENTS if streamed else JSON
    with (
        proxied(Upstream([native(wire, streamed=streamed)], headers=headers), wire=wire, dialects="all") as url,
        openai.OpenAI(base_url=url + "/v1", api_key="secret", max_retries=0) as client,
    ):
        response = _hear(client, streamed=streamed)
    assert response.output_text.strip() == SENTENCE.strip()
    assert [(item.name, json.loads(item.arguments)) for item in _calls(response)] == NATIVE_CALLS


def test_native_calls_of_a_chat_server_are_done_one_after_the_other() -> None:
    first = {"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": '{"city":"x"}'}}
    second = {"index": 1, "id": "b", "function": {"name": "get_weather", "arguments": '{"city":"y"}'}}
    deltas: Events = [{"tool_calls": [first]}, {"tool_calls": [second]}]
    events, _, _ = ask_chat(Upstream(write_chat("Now.", *deltas, finish="tool_calls")))
    items = list_done(events)
    assert [item["type"] for item in items] == ["message", "function_call", "function_call"]
    assert [item["call_id"] for item in items[1:]] == ["a", "b"]
    assert events[-1]["response"]["output"] == items
    assert events[-1]["response"]["usage"] is None


def _answer_in_text(wire: str, *, streamed: bool) -> Upstream:
    events: list[sp.Event] = [
        sp.TextDelta(ANSWER_TEXT),
        sp.Done("stop", {"prompt_tokens": 3, "completion_tokens": 4}, True),
    ]
    if wire in EMITTERS and streamed:
        content_type, chunks = stream_of(wire)
        return Upstream(chunks, headers=[("content-type", content_type)])
    if wire in EMITTERS:
        chat = sp.StreamParser("openai-chat", dialects=())
        emitter = EMITTERS["openai-chat"](model="m")
        chat.feed(b"".join(map(emitter.emit, events)))
        chat.close()
        return Upstream([EMITTERS[wire](model="m").whole(chat.response)], headers=JSON)
    return Upstream(_write_others(wire, streamed=streamed), headers=EVENTS if streamed else JSON)


def _write_others(wire: str, *, streamed: bool) -> list[bytes]:
    """The same answer of a server whose wire only servers speak."""
    if wire == "gemini":
        used = {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7}
        content = {"role": "model", "parts": [{"text": ANSWER_TEXT}]}
        body = {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": used}
        return [(b"data: %b\n\n" if streamed else b"%b") % json.dumps(body).encode()]
    tokens = {"tokens": {"input_tokens": 3, "output_tokens": 4}}
    if not streamed:
        message = {"role": "assistant", "content": [{"type": "text", "text": ANSWER_TEXT}]}
        return [json.dumps({"id": "c", "finish_reason": "COMPLETE", "message": message, "usage": tokens}).encode()]
    begun = {"message": {"content": {"type": "text", "text": ""}}}
    said = {"message": {"content": {"text": ANSWER_TEXT}}}
    events: Events = [
        {"type": "message-start", "id": "c", "delta": {"message": {"role": "assistant", "content": []}}},
        {"type": "content-start", "index": 0, "delta": begun},
        {"type": "content-delta", "index": 0, "delta": said},
        {"type": "content-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": tokens}},
    ]
    return [b"data: " + json.dumps(event).encode() + b"\n\n" for event in events]


def _hear(client: openai.OpenAI, *, streamed: bool) -> Any:
    wanted: Any = {"model": "m", "input": "Weather?", "tools": [WEATHER]}
    if not streamed:
        return client.responses.create(**wanted)
    with client.responses.stream(**wanted) as events:
        for _ in events:
            pass
        return events.get_final_response()


def _calls(response: Any) -> list[Any]:
    return [item for item in response.output if item.type == "function_call"]


# -- when a call may run -----------------------------------------------------------------------------------

BARE = json.dumps({"name": "get_weather", "arguments": {"city": "x"}})


@pytest.mark.parametrize(
    "chunks",
    [
        write_chat("<tool_call>\n" + '{"name": "get_weather", "arguments": {"city": "x', finish="length"),
        write_chat("<tool_call>\n" + '{"name": "get_weather", "arguments": {"city": "x', finish="stop"),
        write_chat("<tool_call>\n" + '{"name": "get_weather", "arguments": {"city": "x', finish=None),
        write_chat(BARE, finish="length"),
        write_chat(BARE, finish=None),
        write_chat(BARE + "\nThat is how a call looks."),
    ],
    ids=["by length", "lying", "connection", "bare, by length", "bare, connection", "bare, text behind it"],
)
def test_a_call_that_is_cut_or_revoked_is_never_done(chunks: list[bytes]) -> None:
    events, _, _ = ask_chat(Upstream(chunks))
    assert list_calls(list_done(events)) == []
    assert list_calls(events[-1]["response"]["output"]) == []


def test_a_call_in_its_own_markup_is_done_at_its_close_and_a_bare_one_at_the_good_end() -> None:
    assert _find_when_done(write_call("get_weather", {"city": "x"}) + "\n" + "Text behind. " * 9) == "before"
    assert _find_when_done(BARE) == "after"


def _find_when_done(text: str) -> str:
    """Whether a call is done before or after the server has given its finish reason."""
    settings = Settings(upstream="http://127.0.0.1:9")
    asked = read_client_request("openai-responses", json.dumps(REQUEST).encode(), settings)
    assert asked is not None
    rewriter = asked.make_rewriter(settings)
    *said, finish, end = write_chat(text)
    before = b"".join(map(rewriter.feed, said))
    after = rewriter.feed(finish) + rewriter.feed(end) + rewriter.close()
    calls = [list_calls(list_done(_split(body))) for body in (before, after)]
    assert len(calls[0]) + len(calls[1]) == 1
    return "before" if calls[0] else "after"


def _split(body: bytes) -> Events:
    return [json.loads(line[6:]) for line in body.split(b"\n") if line.startswith(b"data: ")]


# -- tools that only this client declares ------------------------------------------------------------------


def test_a_namespace_tool_is_flat_for_the_model_and_named_back_with_its_namespace() -> None:
    upstream = Upstream(write_chat(write_call("multi_agent_v1__close_agent", {"id": 7})))
    events, asked, _ = ask_chat(upstream, tools=[WEATHER, NAMESPACE])
    names = [tool["function"]["name"] for tool in asked["tools"]]
    assert names == ["get_weather", "multi_agent_v1__close_agent"]
    [call] = list_done(events)
    assert (call["name"], call["namespace"], json.loads(call["arguments"])) == (
        "close_agent",
        "multi_agent_v1",
        {"id": 7},
    )
    begun = [event["item"] for event in events if event["type"] == "response.output_item.added"]
    assert [(item["name"], item["namespace"]) for item in begun] == [("close_agent", "multi_agent_v1")]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("tools", [[{**CLOSE, "name": "multi_agent_v1__close_agent"}, NAMESPACE], [NAMESPACE] * 2])
def test_of_two_tools_with_one_name_for_the_model_the_first_counts(tools: list[Any], first: int) -> None:
    ordered = tools[first:] + tools[:first]
    upstream = Upstream(write_chat(write_call("multi_agent_v1__close_agent", {"id": 7})))
    events, asked, answer = ask_chat(upstream, tools=ordered)
    assert [tool["function"]["name"] for tool in asked["tools"]] == ["multi_agent_v1__close_agent"]
    [call] = list_done(events)
    is_plain = ordered[0] is not NAMESPACE
    assert call["name"] == ("multi_agent_v1__close_agent" if is_plain else "close_agent")
    assert ("namespace" in call) is not is_plain
    assert "multi_agent_v1__close_agent" in answer.headers["streamparse-lost"]


def test_a_call_of_a_namespace_in_the_history_has_the_name_that_the_model_knows() -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "close_agent", "arguments": "{}"}
    result = {"type": "function_call_output", "id": "fco_1", "call_id": "a", "output": "closed"}
    history = [*QUESTION, {**call, "namespace": "multi_agent_v1"}, result]
    _, asked, _ = ask_chat(Upstream(write_chat("Done.")), input=history, tools=[NAMESPACE])
    assert [message["role"] for message in asked["messages"]] == ["user", "assistant", "tool"]
    assert asked["messages"][1]["tool_calls"][0]["function"]["name"] == "multi_agent_v1__close_agent"
    assert (asked["messages"][2]["tool_call_id"], asked["messages"][2]["content"]) == ("a", "closed")


def test_a_custom_tool_is_a_function_of_one_text_for_the_model_and_its_call_is_custom_again() -> None:
    patch = '*** Begin "Patch"\n+é\n'
    upstream = Upstream(write_chat(write_call("apply_patch", {"input": patch})))
    events, asked, _ = ask_chat(upstream, tools=[PATCH])
    [tool] = asked["tools"]
    assert tool["function"]["parameters"]["required"] == ["input"]
    assert "start: /.+/" in json.dumps(tool)
    [call] = list_done(events)
    assert (call["type"], call["name"], call["input"]) == ("custom_tool_call", "apply_patch", patch)
    assert "arguments" not in call
    kinds = [event["type"] for event in events]
    assert "response.function_call_arguments.delta" not in kinds
    [told] = [event for event in events if event["type"] == "response.custom_tool_call_input.done"]
    assert told["input"] == patch


def test_a_custom_call_and_its_result_in_the_history_are_those_of_a_function() -> None:
    call = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "a", "name": "apply_patch", "input": "+x"}
    result = {"type": "custom_tool_call_output", "call_id": "a", "output": "applied"}
    _, asked, _ = ask_chat(Upstream(write_chat("Done.")), input=[*QUESTION, call, result], tools=[PATCH])
    [written] = asked["messages"][1]["tool_calls"]
    assert (written["function"]["name"], json.loads(written["function"]["arguments"])) == (
        "apply_patch",
        {"input": "+x"},
    )
    assert asked["messages"][2]["content"] == "applied"


def test_openais_client_reads_a_custom_call() -> None:
    upstream = Upstream(write_chat(write_call("apply_patch", {"input": "+x"})))
    with (
        proxied(upstream) as url,
        openai.OpenAI(base_url=url + "/v1", api_key="secret", max_retries=0) as client,
        client.responses.stream(model="m", input="Change it.", tools=[PATCH]) as events,  # type: ignore[list-item]
    ):
        list(events)
        [item] = events.get_final_response().output
    assert (item.type, item.input) == ("custom_tool_call", "+x")  # type: ignore[union-attr]


def test_a_tool_that_only_its_provider_runs_is_dropped_and_named() -> None:
    tools = [WEATHER, {"type": "web_search", "external_web_access": False}]
    _, asked, answer = ask_chat(Upstream(write_chat("x")), tools=tools)
    assert [tool["function"]["name"] for tool in asked["tools"]] == ["get_weather"]
    assert "web_search" in answer.headers["streamparse-lost"].split(", ")


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", "auto"),
        ("required", "required"),
        ({"type": "function", "name": "get_weather"}, {"type": "function", "function": {"name": "get_weather"}}),
        (
            {"type": "function", "name": "close_agent", "namespace": "multi_agent_v1"},
            {"type": "function", "function": {"name": "multi_agent_v1__close_agent"}},
        ),
        ({"type": "web_search"}, "auto"),
        ({"type": "custom", "name": "apply_patch"}, {"type": "function", "function": {"name": "apply_patch"}}),
    ],
)
def test_a_choice_names_the_tool_as_the_model_knows_it(choice: Any, expected: Any) -> None:
    tools = [WEATHER, NAMESPACE, PATCH]
    _, asked, _ = ask_chat(Upstream(write_chat("x")), tools=tools, tool_choice=choice)
    assert asked.get("tool_choice", "auto") == expected


def test_allowed_tools_leave_the_others_out() -> None:
    choice = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "get_weather"}]}
    _, asked, _ = ask_chat(Upstream(write_chat("x")), tools=[WEATHER, PATCH], tool_choice=choice)
    assert [tool["function"]["name"] for tool in asked["tools"]] == ["get_weather"]
    assert asked["tool_choice"] == "required"


def test_without_a_choice_of_tools_no_call_is_looked_for() -> None:
    text = "I look. " + write_call("get_weather", {"city": "x"})
    events, asked, _ = ask_chat(Upstream(write_chat(text)), tool_choice="none")
    assert read_text(list_done(events)) == text
    assert list_calls(list_done(events)) == []
    assert asked.get("tool_choice", "none") == "none"


# -- the conversation --------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["previous_response_id", "conversation", "background", "prompt"])
@pytest.mark.parametrize("wire", ["openai-chat", "anthropic", "gemini"])
def test_what_goes_on_from_a_stored_answer_is_refused_in_one_sentence(field: str, wire: str) -> None:
    upstream = Upstream(write_chat("x"))
    with proxied(upstream, wire=wire) as url:
        answer = ask(url, **{field: True if field == "background" else "resp_1"})
    assert (answer.status_code, upstream.asked) == (400, [])
    message = answer.json()["error"]["message"]
    assert message.startswith(field + ": ")
    assert "\n" not in message


def test_a_reference_to_a_stored_item_is_refused() -> None:
    with proxied(Upstream(write_chat("x"))) as url:
        answer = ask(url, input=[*QUESTION, {"type": "item_reference", "id": "msg_1"}])
    assert (answer.status_code, "item_reference" in answer.text) == (400, True)


def test_messages_of_the_developer_are_one_system_message_before_all_others() -> None:
    def say(role: str, *texts: str) -> dict[str, Any]:
        return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text} for text in texts]}

    messages = [say("developer", "one"), say("developer", "two", "three"), say("user", "context"), say("user", "do")]
    _, asked, _ = ask_chat(Upstream(write_chat("x")), input=messages, instructions="zero")
    system, user = asked["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    found = [str(system["content"]).find(word) for word in ("zero", "one", "two", "three")]
    assert all(before < after for before, after in pairwise([-1, *found]))
    assert "context" in str(user["content"])


REASONING = {"type": "reasoning", "id": "rs_0a1b", "summary": [], "encrypted_content": "gAAAA=="}


def test_encrypted_thought_goes_back_to_a_server_of_responses_as_it_came() -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "close_agent", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "a", "output": "closed"}
    history = [*QUESTION, REASONING, {**call, "namespace": "multi_agent_v1"}, result]
    upstream = Upstream([native("openai-responses", streamed=True)])
    include = ["reasoning.encrypted_content"]
    with proxied(upstream, wire="openai-responses", dialects="all") as url:
        ask(url, input=history, tools=[NAMESPACE], include=include).raise_for_status()
    asked = json.loads(upstream.asked[0][3])
    assert REASONING in asked["input"]
    assert asked["include"] == include


def test_encrypted_thought_of_a_server_of_responses_reaches_the_client_with_its_id() -> None:
    done = [
        REASONING,
        {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Hm."}]},
    ]
    sent: Events = [{"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}}]
    for place, item in enumerate(done):
        sent.append({"type": "response.output_item.added", "output_index": place, "item": item})
        sent.append({"type": "response.output_item.done", "output_index": place, "item": item})
    sent.append({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": done}})
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in sent)
    with proxied(Upstream([body]), wire="openai-responses", dialects="all") as url:
        answer = ask(url)
    [thought, *_] = list_done(read_events(answer.content))
    assert {key: thought[key] for key in ("id", "encrypted_content")} == {
        "id": "rs_0a1b",
        "encrypted_content": "gAAAA==",
    }


def test_a_thought_of_the_text_is_an_item_and_may_come_back() -> None:
    events, _, _ = ask_chat(Upstream(write_chat("<think>Hm.</think>So.")))
    thought, message = list_done(events)
    assert (thought["type"], thought["content"][0]["text"]) == ("reasoning", "Hm.")
    assert message["content"][0]["text"] == "So."
    back = {**thought, "encrypted_content": None}
    _, asked, _ = ask_chat(Upstream(write_chat("x")), input=[*QUESTION, back, message, *QUESTION])
    assert [turn["role"] for turn in asked["messages"]] == ["user", "assistant", "user"]
    assert "So." in str(asked["messages"][1])


def test_an_orphan_result_is_dropped_and_named() -> None:
    orphan = {"type": "function_call_output", "call_id": "gone", "output": "who asked?"}
    _, asked, answer = ask_chat(Upstream(write_chat("x")), input=[*QUESTION, orphan])
    assert [message["role"] for message in asked["messages"]] == ["user"]
    assert "tool_result" in answer.headers["streamparse-lost"]


# -- errors ------------------------------------------------------------------------------------------------

TOO_LONG = {"error": {"message": "too many tokens", "type": "invalid_request_error", "code": "context_length_exceeded"}}


def test_an_error_in_the_stream_is_a_failed_response_with_its_message_and_code() -> None:
    chunks = [*write_chat("Now.", finish=None), b"data: " + json.dumps(TOO_LONG).encode() + b"\n\n"]
    events, _, _ = ask_chat(Upstream(chunks))
    assert events[-1]["type"] == "response.failed"
    error = events[-1]["response"]["error"]
    assert (error["code"], error["message"]) == ("context_length_exceeded", "too many tokens")
    assert not [event for event in events if event["type"] == "response.completed"]


def test_a_connection_that_breaks_is_a_failed_response() -> None:
    upstream = Upstream(write_chat("Now.", finish=None))
    upstream.breaks = True
    events, _, _ = ask_chat(upstream)
    assert events[-1]["type"] == "response.failed"
    assert events[-1]["response"]["error"]["message"]


@pytest.mark.parametrize("status", [400, 404, 429, 503])
def test_the_status_of_an_error_stays_with_its_message_and_code(status: int) -> None:
    with proxied(Upstream([json.dumps(TOO_LONG).encode()], status=status, headers=JSON)) as url:
        answer = ask(url)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert (error["code"], error["message"]) == ("context_length_exceeded", "too many tokens")


def test_an_answer_without_calls_of_a_server_of_responses_passes_as_it_came() -> None:
    body = native("openai-responses", streamed=True)
    with proxied(Upstream([body]), wire="openai-responses") as url:
        assert ask(url).content == body


@pytest.mark.parametrize("changes", [{}, {"tool_choice": "auto"}, {"text": {"format": {"type": "text"}}}])
def test_a_request_of_functions_alone_reaches_a_server_of_responses_as_it_came(changes: dict[str, Any]) -> None:
    upstream = Upstream([native("openai-responses", streamed=True)])
    with proxied(upstream, wire="openai-responses", dialects="all") as url:
        ask(url, **changes).raise_for_status()
    assert json.loads(upstream.asked[0][3]) == REQUEST | changes


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
def test_a_model_without_tools_is_taught_those_of_a_client_of_responses(wire: str) -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "close_agent", "arguments": '{"id": 7}'}
    result = {"type": "function_call_output", "call_id": "a", "output": "closed"}
    history = [*QUESTION, {**call, "namespace": "multi_agent_v1"}, result]
    written = "I close it. " + write_call("multi_agent_v1__close_agent", {"id": 8})
    emitter = EMITTERS[wire](model="m")
    upstream = Upstream([emitter.emit(sp.TextDelta(written)) + emitter.emit(sp.Done("stop", None, True))])
    with proxied(upstream, wire=wire, tools="prompt") as url:
        items = list_done(read_events(ask(url, input=history, tools=[WEATHER, NAMESPACE, PATCH]).content))
    asked = upstream.asked[0][3].decode()
    assert not json.loads(asked).get("tools")
    assert "function_call" not in asked
    assert all(name in asked for name in ("get_weather", "multi_agent_v1__close_agent", "apply_patch", "closed"))
    assert read_text(items).strip() == "I close it."
    assert [(item["name"], item["namespace"]) for item in items[1:]] == [("close_agent", "multi_agent_v1")]
