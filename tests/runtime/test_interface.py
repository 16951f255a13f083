"""The public interface, as the design shows it, runs as it stands."""

import json
from typing import Any

import msgspec
import pytest
from scripted import calls, frame, says, stream
from serving import read_body, serving

import streamparse as sp

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n"
SAFE = ("ls", "pwd")
CHAT = b"".join(calls(("read_file", {"path": "a"}), before="Reading. "))


class PartFile:
    """A file that counts only once it is committed."""

    def __init__(self, files: dict[str, str], path: str):
        self.files, self.path, self.pieces = files, path, []

    async def __aenter__(self):
        return self

    async def __aexit__(self, *error: object) -> None:
        self.pieces.clear()

    async def write(self, text: str) -> None:
        self.pieces.append(text)

    async def commit(self) -> None:
        self.files[self.path] = "".join(self.pieces)


class Deps:
    """What the tools work on."""

    def __init__(self) -> None:
        self.files = {"a": "alpha"}
        self.ran: list[str] = []

    def part_file(self, path: str) -> PartFile:
        return PartFile(self.files, path)


@sp.tool(effect="read")
async def read_file(path: str) -> str:
    return "alpha"


@sp.tool(effect="idempotent", lock="path", timeout=30)
async def write_file(path: str, content: sp.Streamed[str], ctx: sp.ToolContext[Deps]) -> str:
    async with ctx.deps.part_file(path) as part:
        async for text in content:
            await part.write(text)
        await part.commit()
    return "written"


@sp.tool(lock="*", needs_approval=lambda call: call.arguments["command"] not in SAFE)
async def bash(command: str, ctx: sp.ToolContext[Deps]) -> str:
    ctx.deps.ran.append(command)
    await ctx.progress("started")
    raise sp.ToolError("network", "no route", suggestion="retry later")


@sp.tool(ends=True)
def submit(answer: str) -> str:
    return answer


TOOLS = [read_file, write_file, bash, submit]


def test_a_parser_takes_bytes_text_and_messages_and_tells_of_a_call_so_far():
    parser = sp.StreamParser("openai-chat", dialects="auto", tools=TOOLS, limits=sp.Limits())
    function = {"name": "read_file", "arguments": '{"path": "a/b", "n": 1'}
    events = parser.feed(frame({"tool_calls": [{"index": 0, "id": "c", "function": function}]}))
    assert parser.partial(0) == {"path": "a/b"}
    assert isinstance(parser.response, sp.ParsedResponse)
    events += parser.close()
    assert isinstance(events[-1], sp.Done)


async def test_the_loops_read_any_source():
    chunks = [CHAT[:40], CHAT[40:]]
    read = [*sp.iter_events(chunks, "openai-chat", tools=TOOLS)]
    assert [event async for event in sp.aiter_events(stream(*chunks), "openai-chat", tools=TOOLS)] == read
    with pytest.raises(TypeError):
        sp.iter_events(42, "openai-chat")


def test_texts_and_whole_answers_are_read():
    text = sp.TextParser(["kimi-k2"], tools=TOOLS)
    assert text.feed("hello") == [sp.TextDelta("hello")]
    message = {
        "content": "hi",
        "tool_calls": [{"id": "c", "function": {"name": "read_file", "arguments": '{"path":"a"}'}}],
    }
    parsed = sp.parse_response({"choices": [{"message": message, "finish_reason": "tool_calls"}]}, "auto", tools=TOOLS)
    assert (parsed.stop, parsed.tool_calls[0].arguments) == ("tools", {"path": "a"})
    assert parsed.tokens.total == 0


async def test_a_runner_yields_events_progress_and_results():
    events = sp.iter_events([CHAT], "openai-chat", tools=TOOLS)
    async with sp.ToolRunner(TOOLS, limit=8) as runner:
        items = [item async for item in runner.run(events)]
    assert isinstance(items[0], sp.TextDelta)
    assert [result.result for result in runner.results] == ["alpha"]


def ollama(*tool_calls: dict[str, Any], content: str = "") -> bytes:
    message = {"role": "assistant", "content": content, "tool_calls": [{"function": call} for call in tool_calls]}
    return json.dumps({"model": "m", "message": message, "done": True, "done_reason": "stop"}).encode() + b"\n"


class OllamaServer:
    """Answers each request with the next of its bodies, or with 404."""

    def __init__(self, *bodies: bytes):
        self.bodies = list(bodies)
        self.asked: list[dict[str, Any]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = await read_body(receive)
        assert scope["path"] == "/api/chat"
        self.asked.append(json.loads(body))
        status = 200 if self.bodies else 404
        headers = [(b"content-type", b"application/x-ndjson")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": self.bodies.pop(0) if self.bodies else b"no such model"})


async def test_an_agent_over_two_models_with_approvals_and_a_cancel():
    deps = Deps()
    server = OllamaServer(
        ollama({"name": "write_file", "arguments": {"path": "b", "content": "beta"}}),
        ollama({"name": "bash", "arguments": {"command": "rm b"}}, {"name": "bash", "arguments": {"command": "ls"}}),
        ollama({"name": "submit", "arguments": {"answer": "fixed"}}),
    )
    asked = []

    async def cloud(request: sp.Request):
        asked.append(request.body("anthropic", "claude-sonnet-4-5"))
        texts = ("One, two, ", "three.")
        start = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": {}}}
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        deltas = [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": t}} for t in texts
        ]
        return stream(*(b"data: " + json.dumps(each).encode() + b"\n\n" for each in (start, block, *deltas)))

    with serving(server) as URL:
        async with sp.http_model(URL, "ollama-chat", "qwen3-coder:30b") as local:
            agent = sp.Agent([local, cloud], TOOLS, system="Be careful.", stop=[sp.max_turns(20)])
            async with agent.run("Fix it", deps=deps) as run:
                async for item in run:
                    if isinstance(item, sp.ApprovalRequest):
                        run.deny(item, "keep it")
            result = run.result
            assert (result.output, result.stopped_by, result.approvals) == ("fixed", None, ())
            assert (deps.files["b"], deps.ran) == ("beta", ["ls"])

            async with agent.run(["and this?", sp.Image(PNG)], history=result.history, deps=deps) as run:
                async for item in run:
                    if isinstance(item, sp.TextDelta):
                        run.cancel(heard="One")
    assert run.result.stopped_by == "cancelled"
    assert asked[0]["messages"][0] == {"role": "user", "content": "Fix it"}
    assert run.result.history.truncated(tokens=100_000).messages("anthropic")[-1]["content"] == [
        {"type": "text", "text": "One"}
    ]
    contents = run.result.history.truncated(tokens=100_000).messages("gemini", "gemini-3-pro")
    assert contents[-1] == {"role": "model", "parts": [{"text": "One"}]}


async def test_a_turn_is_pure():
    turn = sp.Turn(TOOLS, limit=8)
    event = sp.ToolCallComplete(0, "c", "read_file", {"path": "a"}, "native", "", "field")
    commands = turn.take(sp.runtime.Received(event, at=0.0))
    assert [type(command).__name__ for command in commands][:1] == ["Start"]
    assert msgspec.json.decode(msgspec.json.encode(commands[0]))["name"] == "read_file"


async def test_await_gives_the_result():
    async def model(request: sp.Request):
        request.read_as("openai-chat")
        return stream(*says("done"))

    result = await sp.Agent(model).run("Fix it")
    assert (result.output, result.stopped_by, result.usage.total) == ("done", None, 0)
    assert sp.Agent(model, []).tools.names == frozenset()
