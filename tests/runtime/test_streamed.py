"""Arguments that a function reads while the model still writes them, on both event loops."""

import json
import math

import anyio
import pytest
from turns import DONE, FAILED, TEXT

import streamparse as sp
from streamparse.repair import Finding

pytestmark = pytest.mark.anyio


class Model:
    """Writes an answer event by event, once it is told to."""

    def __init__(self):
        self._send, self.events = anyio.create_memory_object_stream(math.inf)

    async def write(self, *events):
        for event in events:
            self._send.send_nowait(event)
        await anyio.wait_all_tasks_blocked()

    async def end(self, *events):
        await self.write(*events)
        self._send.close()

    def close(self):
        self._send.close()
        self.events.close()


class Files:
    """Tools on files in memory; `log` is what happened, in order."""

    def __init__(self, effect="idempotent", *, lock="path", **options):
        self.log, self.files = [], {}
        self.failures = []  # to be raised when a call counts

        @sp.tool(effect=effect, lock=lock, **options)
        async def write_file(path: str, content: sp.Streamed[str], mode: str = "w") -> str:
            self.log.append(f"opened {path} {mode}")
            pieces = []
            try:
                async for text in content:
                    pieces.append(text)
                    self.log.append(text)
            except sp.CallBroken as error:
                self.log.append(f"broken: {error.reason}")
                raise
            if self.failures:
                raise self.failures.pop()
            self.log.append("counts")
            self.files[path] = "".join(pieces)
            return "written"

        @sp.tool(effect="read", lock="path")
        async def read_file(path: str) -> str:
            return self.files.get(path, "nothing")

        self.write_file, self.read_file = write_file, read_file
        self.tools = [write_file, read_file]


def begin(index=0, name="write_file"):
    return sp.ToolCallStart(index, f"call-{index}", name)


def piece(text, index=0):
    return sp.ToolCallDelta(index, text)


def whole(index=0, name="write_file", source="native", place="field", **arguments):
    return sp.ToolCallComplete(index, f"call-{index}", name, arguments, source, "", place)


HALF = (begin(), piece('{"path": "a", "content": "Once upon'))
REST = (piece(' a time"}'), whole(path="a", content="Once upon a time"))


class Play:
    """A run whose model writes when the test says so."""

    def __init__(self, tools, **options):
        self.model = Model()
        self._runner = sp.ToolRunner(tools, **options)

    async def __aenter__(self):
        self._runner = await self._runner.__aenter__()
        self.run = self._runner.run(self.model.events)
        return self

    async def __aexit__(self, *error):
        await self._runner.__aexit__(*error)
        self.model.close()

    async def write(self, *events):
        await self.model.write(*events)

    async def finish(self, *events):
        await self.model.end(*events)
        async for _ in self.run:
            pass
        return self.run.results


async def test_the_function_reads_what_the_model_has_written_so_far():
    files = Files()
    async with Play(files.tools) as play:
        await play.write(*HALF)
        assert files.log == ["opened a w", "Once upon"]
        await play.write(piece(" a"))
        assert files.log == ["opened a w", "Once upon", " a"]
        (result,) = await play.finish(piece(' time"}'), REST[1], DONE)
    assert files.log == ["opened a w", "Once upon", " a", " time", "counts"]
    assert files.files == {"a": "Once upon a time"}
    assert (result.result, result.attempts) == ("written", 1)
    assert result.arguments == {"path": "a", "content": "Once upon a time"}


@pytest.mark.parametrize("effect", ["read", "idempotent"])
async def test_the_text_ends_when_the_moment_of_the_effect_has_come(effect):
    files = Files(effect)
    async with Play(files.tools) as play:
        await play.write(*HALF, *REST)
        assert ("counts" in files.log) == (effect == "read")
        await play.write(TEXT)
        assert "counts" in files.log
        await play.finish(DONE)
    assert files.log.count("opened a w") == 1


@pytest.mark.parametrize("effect", ["read", "idempotent"])
async def test_a_call_without_a_marker_of_its_own_counts_at_the_good_end(effect):
    files = Files(effect)
    async with Play(files.tools) as play:
        await play.write(*HALF, REST[0], whole(source="inband", place="bare", path="a", content="Once upon a time"))
        assert "counts" not in files.log
        await play.finish(DONE)
    assert files.files == {"a": "Once upon a time"}


BAD_ENDS = {
    "revoked": [*REST, sp.ToolCallRevoked(0, "call-0", "error")],
    "cut": [],
    "broken": [sp.Error("call", "malformed_call", "not JSON", 0)],
    "stream-error": [sp.Error("stream", "provider_error", "overloaded")],
    "bad-end": [*REST, FAILED],
    "repaired": [REST[0], whole(source="repaired", path="a", content="Once upon a time")],
    "quoted": [REST[0], whole(source="inband", place="quoted", path="a", content="Once upon a time")],
    "refused": [REST[0], whole(path="a", content="Once upon a time", mode=3)],
    "text-behind-it": [
        REST[0],
        whole(source="inband", place="plain", path="a", content="Once upon a time"),
        TEXT,
        DONE,
    ],
}


@pytest.mark.parametrize("events", BAD_ENDS.values(), ids=BAD_ENDS)
async def test_a_call_that_does_not_count_breaks_the_text_and_is_answered_with_an_error(events):
    files = Files()
    async with Play(files.tools, coerce=False) as play:
        await play.write(*HALF)
        assert files.log == ["opened a w", "Once upon"]
        (result,) = await play.finish(*events)
    assert files.log[-1].startswith("broken: ")
    assert files.files == {}
    assert not result.success
    assert result.attempts == 0
    assert "had begun" not in result.error


async def test_a_function_that_is_broken_off_may_clean_up_and_what_it_returns_is_not_used():
    cleaned = []

    @sp.tool(effect="read")
    async def write(path: str, content: sp.Streamed[str]) -> str:
        try:
            async for _ in content:
                pass
        except sp.CallBroken:
            await anyio.lowlevel.checkpoint()
            cleaned.append(path)
        return "all is well"

    async with Play([write]) as play:
        await play.write(begin(name="write"), HALF[1])
        (result,) = await play.finish()
    assert cleaned == ["a"]
    assert result.failure.code == "unfinished"


@pytest.mark.parametrize("options", [{"effect": "write"}, {"needs_approval": lambda _: False}], ids=["write", "asks"])
async def test_a_call_that_is_not_to_be_opened_gets_its_text_whole(options):
    files = Files(**options)
    async with Play(files.tools) as play:
        await play.write(*HALF)
        assert files.log == []
        (result,) = await play.finish(*REST, DONE)
    assert files.log == ["opened a w", "Once upon a time", "counts"]
    assert result.success


async def test_a_gate_that_changes_texts_gives_them_whole():
    files = Files()
    async with Play(files.tools, sanitise=True) as play:
        await play.write(*HALF)
        assert files.log == []
        await play.finish(piece('\\u0007"}'), whole(path="a", content="Once upon\x07"), DONE)
    assert files.files == {"a": "Once upon"}


async def test_a_guard_that_refuses_the_path_keeps_the_function_from_being_called():
    def guard(call):
        return [Finding("forbidden", "not there")] if call.arguments["path"] == "a" else []

    files = Files()
    async with Play(files.tools, guards=[guard]) as play:
        (result,) = await play.finish(*HALF, *REST, DONE)
    assert files.log == []
    assert not result.success


async def test_a_guard_that_wants_to_see_the_text_sees_the_whole_one():
    def guard(call):
        return [Finding("forbidden", "no secrets")] if "secret" in call.arguments["content"] else []

    files = Files()
    async with Play(files.tools, guards=[guard]) as play:
        await play.write(*HALF)
        assert files.log == []
        (result,) = await play.finish(*REST, DONE)
    assert result.success


async def test_a_text_that_comes_first_is_read_once_the_path_is_closed():
    files = Files()
    async with Play(files.tools) as play:
        await play.write(begin(), piece('{"content": "Once", "path": "'))
        assert files.log == []
        await play.write(piece("a"), piece('"'))
        assert files.log == ["opened a w", "Once"]
        await play.finish(piece("}"), whole(path="a", content="Once"), DONE)
    assert files.log == ["opened a w", "Once", "counts"]


async def test_an_argument_that_comes_too_late_has_the_function_called_anew_with_all_of_them():
    files = Files()
    async with Play(files.tools) as play:
        await play.write(*HALF)
        (result,) = await play.finish(piece('", "mode": "x"}'), whole(path="a", content="Once upon", mode="x"), DONE)
    assert files.log[:2] == ["opened a w", "Once upon"]
    assert files.log[2].startswith("broken: ")
    assert files.log[3:] == ["opened a x", "Once upon", "counts"]
    assert (result.result, result.attempts) == ("written", 1)


async def test_an_argument_that_is_written_twice_is_the_one_of_the_whole_call():
    files = Files()
    async with Play(files.tools) as play:
        await play.write(*HALF, piece('", "content": "no more"}'))
        await play.finish(whole(path="a", content="no more"), DONE)
    assert files.files == {"a": "no more"}
    assert files.log.count("counts") == 1


async def test_what_the_gate_converts_is_what_was_opened():
    opened = []

    @sp.tool(effect="read")
    async def write(line: int, content: sp.Streamed[str]) -> str:
        opened.append(line)
        return "".join([text async for text in content])

    async with Play([write]) as play:
        await play.write(begin(name="write"), piece('{"line": "3", "content": "x'))
        assert opened == [3]
        (result,) = await play.finish(piece('"}'), whole(name="write", line="3", content="x"), DONE)
    assert opened == [3]
    assert (result.result, result.arguments) == ("x", {"line": 3, "content": "x"})


async def test_a_read_of_the_same_path_waits_for_the_write_that_is_open():
    reads = []

    @sp.tool(effect="read", lock="path")
    async def read(path: str) -> str:
        reads.append(path)
        return files.files.get(path, "nothing")

    files = Files("idempotent")
    async with Play([files.write_file, read]) as play:
        await play.write(*HALF, whole(1, "read", path="b"), whole(2, "read", path="a"))
        assert reads == ["b"]
        await play.write(*REST)
        results = await play.finish(DONE)
    assert [result.result for result in results] == ["written", "nothing", "Once upon a time"]


async def test_a_function_that_is_open_takes_a_place():
    files = Files()
    ran = []

    @sp.tool(effect="read")
    async def other() -> str:
        ran.append("other")
        return ""

    async with Play([files.write_file, other], limit=1) as play:
        await play.write(*HALF, whole(1, "other"))
        assert ran == []
        await play.finish(*REST, DONE)
    assert ran == ["other"]
    assert files.files == {"a": "Once upon a time"}


async def test_a_call_is_not_opened_while_its_lock_is_held():
    release, log = anyio.Event(), []

    @sp.tool(effect="idempotent", lock="path")
    async def hold(path: str) -> str:
        await release.wait()
        log.append("released")
        return ""

    files = Files()
    files.log = log
    async with Play([files.write_file, hold]) as play:
        await play.write(whole(0, "hold", path="a"), begin(1), piece('{"path": "a", "content": "Once', 1))
        assert log == []
        release.set()
        await anyio.wait_all_tasks_blocked()
        assert log == ["released", "opened a w", "Once"]
        await play.finish(piece('"}', 1), whole(1, path="a", content="Once"), DONE)
    assert files.files == {"a": "Once"}


async def test_another_attempt_gets_the_whole_text():
    files = Files()
    files.failures = [sp.ToolError("network", "no route")]
    async with Play(files.tools) as play:
        await play.write(*HALF)
        (result,) = await play.finish(*REST, DONE)
    assert files.log.count("opened a w") == 2
    assert files.log[-2:] == ["Once upon a time", "counts"]
    assert (result.result, result.attempts) == ("written", 2)


@pytest.mark.parametrize("counts", [True, False])
async def test_a_function_that_fails_before_the_call_counts_is_heard_only_if_it_does(counts):
    @sp.tool(effect="idempotent")
    async def write(path: str, content: sp.Streamed[str]) -> str:
        raise sp.ToolError("resource", "the disk is full")

    async with Play([write]) as play:
        await play.write(begin(name="write"), HALF[1])
        assert play.run.results == []
        last = whole(name="write", path="a", content="Once upon a time")
        (result,) = await play.finish(REST[0], last, DONE if counts else FAILED)
    assert result.failure.kind == ("resource" if counts else "execution")
    assert result.attempts == counts


async def test_a_function_that_reads_nothing_is_done_when_the_call_counts():
    @sp.tool(effect="idempotent")
    async def write(path: str, content: sp.Streamed[str]) -> str:
        return path

    async with Play([write]) as play:
        await play.write(begin(name="write"), HALF[1])
        assert play.run.results == []
        (result,) = await play.finish(REST[0], whole(name="write", path="a", content="Once upon a time"), DONE)
    assert (result.result, result.attempts) == ("a", 1)


async def test_reading_the_answer_does_not_wait_for_a_slow_function():
    go_on, pieces = anyio.Event(), []

    @sp.tool(effect="read")
    async def write(path: str, content: sp.Streamed[str]) -> str:
        async for text in content:
            pieces.append(text)
            await go_on.wait()
        return ""

    async with Play([write]) as play:
        await play.write(begin(name="write"), HALF[1])
        await play.write(*(piece(char) for char in " a time, long ago"))
        assert pieces == ["Once upon"]
        go_on.set()
        await play.finish(piece('"}'), whole(name="write", path="a", content="Once upon a time, long ago"), DONE)
    assert "".join(pieces) == "Once upon a time, long ago"
    assert pieces[1].startswith(" a time, long ago"), "what it has not taken is joined"


async def test_leaving_the_runner_breaks_what_is_open():
    files = Files()
    async with Play(files.tools) as play:
        await play.write(*HALF)
    assert files.log[-1].startswith("broken: ")
    (result,) = play.run.results
    assert result.failure.code == "stopped"


async def test_a_function_that_ignores_that_it_is_broken_off_is_cancelled_when_its_time_is_over():
    ended = []

    @sp.tool(effect="read", timeout=0.01)
    async def write(path: str, content: sp.Streamed[str]) -> str:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(path)

    async with Play([write]) as play:
        await play.write(begin(name="write"), HALF[1])
        (result,) = await play.finish()
    assert ended == ["a"]
    assert result.failure.code == "unfinished"


async def test_the_time_of_a_call_counts_from_its_beginning():
    deadlines = []

    @sp.tool(effect="read", timeout=30)
    async def write(path: str, content: sp.Streamed[str], ctx: sp.ToolContext) -> str:
        deadlines.append(ctx.deadline)
        async for _ in content:
            pass
        deadlines.append(ctx.deadline)
        return ctx.id

    now = 100.0

    def clock():
        return now

    async with Play([write], clock=clock) as play:
        await play.write(begin(name="write"), HALF[1])
        now = 1000.0
        (result,) = await play.finish(REST[0], whole(name="write", path="a", content="Once upon a time"), DONE)
    assert deadlines == [None, 1030.0]
    assert (result.result, result.started) == ("call-0", 1000.0)


async def test_two_texts_of_one_call_are_read_side_by_side():
    @sp.tool(effect="read")
    async def edit(path: str, old: sp.Streamed[str], new: sp.Streamed[str]) -> str:
        return f"{''.join([text async for text in old])} -> {''.join([text async for text in new])}"

    async with Play([edit]) as play:
        await play.write(begin(name="edit"), piece('{"path": "a", "old": "x'))
        last = whole(name="edit", path="a", old="xy", new="z")
        (result,) = await play.finish(piece('y", "new": "z"}'), last, DONE)
    assert result.result == "xy -> z"


TRICKY = 'a\n"b" \\ \ud83d\ude00'.encode("utf-16", "surrogatepass").decode("utf-16") + " é\t\x7f</x>"


@pytest.mark.parametrize("ascii_only", [True, False])
async def test_the_function_gets_whole_characters_only(ascii_only):
    pieces = []

    @sp.tool(effect="read")
    async def write(content: sp.Streamed[str]) -> str:
        async for text in content:
            pieces.append(text)
        return ""

    written = json.dumps({"content": TRICKY}, ensure_ascii=ascii_only)
    async with Play([write]) as play:
        await play.write(begin(name="write"))
        for char in written:
            await play.write(piece(char))
        await play.finish(whole(name="write", content=TRICKY), DONE)
    assert "".join(pieces) == TRICKY
    assert len(pieces) == len(TRICKY)


def openai_body(arguments):
    def frame(delta, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()

    yield frame({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "write_file", "arguments": ""}}]})
    for char in arguments:
        yield frame({"tool_calls": [{"index": 0, "function": {"arguments": char}}]})
    yield frame({}, "tool_calls") + b"data: [DONE]\n\n"


async def test_from_the_wire_to_the_file():
    files = Files()

    async def events():
        parser = sp.StreamParser("openai-chat", tools=files.tools)
        for chunk in openai_body(json.dumps({"path": "a", "content": TRICKY})):
            yield parser.feed(chunk)
            await anyio.lowlevel.checkpoint()
        yield parser.close()

    async with sp.ToolRunner(files.tools) as runner:
        async for _ in runner.run(events()):
            pass
    assert files.files == {"a": TRICKY}
    assert len(files.log) > 10


@pytest.mark.parametrize("dialect", ["hermes", "qwen3-coder"])
async def test_from_a_call_in_the_text_to_the_file(dialect):
    files = Files()
    text = {
        "hermes": '<tool_call>{"name": "write_file", "arguments": {"path": "a", "content": "x\\ny"}}</tool_call>',
        "qwen3-coder": "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\n"
        "x\ny\n</parameter>\n</function>\n</tool_call>",
    }[dialect]

    async def events():
        parser = sp.TextParser((dialect,), tools=files.tools)
        for char in text:
            yield parser.feed(char)
            await anyio.lowlevel.checkpoint()
        assert files.log[:2] == ["opened a w", "x"]
        assert "counts" not in files.log
        yield parser.close(stopped=True)

    async with sp.ToolRunner(files.tools) as runner:
        async for _ in runner.run(events()):
            pass
    assert files.files == {"a": "x\ny"}


def test_to_the_model_the_parameter_is_a_string():
    tool = Files().write_file.tool
    assert tool.parameters["properties"]["content"] == {"type": "string"}
    assert tool.parameters["required"] == ["path", "content"]
    assert tool.streamed == {"content"}


def test_a_function_that_is_no_coroutine_cannot_read_while_the_model_writes():
    def write(content: sp.Streamed[str]) -> str:
        return ""

    with pytest.raises(TypeError, match="streamed"):
        sp.tool(write)
    with pytest.raises(TypeError, match="streamed"):
        sp.Tool("write", parameters={"type": "object", "properties": {"content": {"type": "string"}}}, function=write)


def test_only_texts_are_streamed():
    async def write(content: sp.Streamed[bytes]) -> str:
        return ""

    with pytest.raises(TypeError, match="only texts"):
        sp.tool(write)


async def test_a_function_can_be_called_by_hand_with_pieces_of_a_text():
    assert await Files().write_file("a", sp.Streamed.of("x", "y")) == "written"


async def test_a_function_in_a_thread_shows_its_progress():
    @sp.tool(effect="read")
    def count(ctx: sp.ToolContext) -> str:
        ctx.progress("half")
        ctx.progress("nearly")
        return "done"

    async with sp.ToolRunner([count]) as runner:
        items = [item async for item in runner.run([whole(0, "count"), DONE])]
    shown = [item.value for item in items if isinstance(item, sp.Progress)]
    assert shown
    assert shown[-1] == "nearly"
    assert items.index(next(item for item in items if isinstance(item, sp.Progress))) < items.index(runner.results[0])


async def test_what_json_cannot_hold_is_no_progress():
    @sp.tool(effect="read")
    def count(ctx: sp.ToolContext) -> str:
        ctx.progress(object())
        return "done"

    async with sp.ToolRunner([count]) as runner:
        items = [item async for item in runner.run([whole(0, "count"), DONE])]
    assert not any(isinstance(item, sp.Progress) for item in items)
    assert not runner.results[0].success


@pytest.mark.parametrize("required", [None, "path", [None, "path"]], ids=repr)
async def test_a_streamed_tool_whose_schema_requires_nothing_that_can_be_read_is_answered(required):
    files = Files()
    parameters = {**files.write_file.tool.parameters, "required": required}
    tool = sp.Tool("write_file", parameters=parameters, function=files.write_file, effect="idempotent")
    async with sp.ToolRunner([tool]) as runner:
        async for _ in runner.run([*HALF, *REST, DONE]):
            pass
    assert runner.results[0].success == (required is None)
    assert files.files == ({"a": "Once upon a time"} if required is None else {})
