"""Misuse of an agent or a tool raises at once, and says what to write instead."""

import inspect
from functools import partial
from typing import Any

import msgspec
import pytest
from scripted import Scripted, says, stream

import streamparse as sp
from streamparse.runtime import model as model_module
from streamparse.runtime.runner import RunnerOptions
from streamparse.tools.declaration import ToolOptions

pytestmark = pytest.mark.anyio


@sp.tool(effect="read")
def look(path: str) -> str:
    return path


def make_agent(**options: Any) -> sp.Agent:
    return sp.Agent(Scripted(says("hi")), [look], **options)


SAVED = msgspec.json.encode(sp.History().with_prompt("hi"))


@pytest.mark.parametrize(
    "history", [[{"role": "user", "content": "hi"}], msgspec.json.decode(SAVED), SAVED], ids=["list", "dict", "bytes"]
)
def test_a_history_that_is_none_says_how_a_saved_one_is_read(history: Any):
    with pytest.raises(TypeError, match=r"type=streamparse\.History"):
        make_agent().run("hi", history=history)


async def test_a_saved_history_is_read_as_the_message_says():
    assert (await make_agent().run(history=msgspec.json.decode(SAVED, type=sp.History))).output == "hi"


def test_a_run_with_nothing_to_ask_is_refused():
    for history in (None, sp.History(), sp.History(system="Be brief.")):
        with pytest.raises(ValueError, match="give a prompt"):
            make_agent().run(history=history)


@pytest.mark.parametrize(
    ("make", "keyword", "message"),
    [
        (
            make_agent,
            "instructions",
            r"^Agent\(\) got an unexpected keyword argument 'instructions'; known are: .*\bsystem,",
        ),
        (make_agent, "limt", r"^Agent\(\) got .* 'limt'; did you mean 'limit'\?$"),
        (partial(sp.ToolRunner, []), "limits", r"^ToolRunner\(\) got .* 'limits'; did you mean 'limit'\?$"),
        (sp.tool, "efect", r"^tool\(\) got an unexpected keyword argument 'efect'; did you mean 'effect'\?$"),
    ],
)
def test_an_unknown_keyword_is_a_type_error_of_the_function_that_was_called(make: Any, keyword: str, message: str):
    with pytest.raises(TypeError, match=message):
        make(**{keyword: "x"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": [1]}, "settings are a dict .* not list"),
        ({"settings": "temperature"}, "settings are a dict .* not str"),
        ({"tier": "a"}, "tier is an integer, or a function"),
        ({"stop": 5}, "stop is a list"),
    ],
)
@pytest.mark.parametrize("give", [make_agent, lambda **own: make_agent().run("hi", **own)], ids=["agent", "run"])
def test_an_option_that_cannot_be_says_what_it_is(give: Any, options: Any, message: str):
    with pytest.raises(TypeError, match=message):
        give(**options)


@pytest.mark.parametrize("decisions", ["key", ["key"], {"key": 1}, {"key": None}])
def test_a_decision_is_a_bool_or_why_not(decisions: Any):
    with pytest.raises(TypeError, match=r"True, False|dict by the keys"):
        make_agent().run("hi", decisions=decisions)


def test_a_history_is_prepared_by_a_function():
    with pytest.raises(TypeError, match="prepare_history is a function"):
        make_agent(prepare_history=5)


def test_the_typed_options_are_those_that_are_taken():
    own = inspect.signature(sp.ToolRunner).parameters.values()
    assert {*RunnerOptions.__annotations__} == {
        each.name for each in own if each.kind is inspect.Parameter.KEYWORD_ONLY
    }
    assert {*ToolOptions.__annotations__} == {*sp.Tool.__struct_fields__} - {"function"}
    make_agent(**dict.fromkeys(("limit", "max_result", "max_buffered"), 1), timeout=None, system="s", stop=())


def reply(request: sp.Request) -> Any:
    return stream(*says("hi"))


async def generate(request: sp.Request) -> Any:
    for chunk in says("hi"):
        yield chunk


@pytest.mark.parametrize("model", [reply, generate])
async def test_a_model_that_is_no_async_function_is_refused(model: Any):
    with pytest.raises(TypeError, match=r"`async def` that returns a source.*not an awaitable"):
        await sp.Agent(model, [look]).run("hi")


async def test_a_plain_function_that_returns_an_awaitable_is_a_model():
    scripted = Scripted(says("hi"))

    def model(request: sp.Request) -> Any:
        return scripted(request)

    assert (await sp.Agent(model, [look]).run("hi")).output == "hi"


async def test_run_sync_in_an_event_loop_says_to_await():
    with pytest.raises(RuntimeError, match=r"await agent\.run"):
        make_agent().run_sync("hi")


def test_a_model_without_httpx_is_refused_when_it_is_made(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "httpx", None)
    with pytest.raises(ModuleNotFoundError, match="pip install httpx"):
        model_module.http_model("http://127.0.0.1:1/v1", "openai-chat", "m")


@pytest.mark.parametrize("stop", [sp.max_turns(2), [20]])
def test_stops_that_are_no_list_of_functions_are_a_type_error(stop: Any):
    with pytest.raises(TypeError, match=r"max_turns\(20\)"):
        make_agent(stop=stop)
    with pytest.raises(TypeError, match=r"max_turns\(20\)"):
        make_agent().run("Hello", stop=stop)
