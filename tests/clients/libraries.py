"""Client libraries, each with its own loop of three rounds: ask, run the tools, send the results back.

A function takes the URL of a server, what the user says, and whether to stream; it returns the text of the last answer.
The tools note how they were called in `CALLED`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

__all__ = ["CALLED", "LIBRARIES", "MODEL", "TOOLS", "get_weather", "search"]

MODEL: Final = "copy"
KEY: Final = "none"
ROUNDS: Final = 5
"""More than are needed: a client that asks for ever is noticed."""
CALLED: list[tuple[str, dict[str, Any]]] = []

Run: TypeAlias = Callable[[str, str, bool], str]


def get_weather(city: str, days: int = 1) -> str:
    """Tell the weather."""
    CALLED.append(("get_weather", {"city": city, "days": days}))
    return f'{city}: "sunny", é'


def search(query: str) -> str:
    """Search for pages."""
    CALLED.append(("search", {"query": query}))
    return f"a page about {query}"


FUNCTIONS: Final = {"get_weather": get_weather, "search": search}
_CITY: Final = {"city": {"type": "string"}, "days": {"type": "integer"}}
TOOLS: Final[list[dict[str, Any]]] = [
    {
        "name": "get_weather",
        "description": "Tell the weather.",
        "parameters": {"type": "object", "properties": _CITY, "required": ["city"]},
    },
    {
        "name": "search",
        "description": "Search for pages.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
]
CHAT_TOOLS: Final[Any] = [{"type": "function", "function": tool} for tool in TOOLS]
RESPONSES_TOOLS: Final[Any] = [{"type": "function", "strict": False, **tool} for tool in TOOLS]
ANTHROPIC_TOOLS: Final[Any] = [
    {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]} for tool in TOOLS
]


def _run_tool(name: str, arguments: Any) -> str:
    return FUNCTIONS[name](**(json.loads(arguments) if isinstance(arguments, str) else arguments))


def _loop_chat(ask: Callable[[list[Any]], Any], prompt: str) -> str:
    """Run the loop of a client whose answer is a chat message, as an object or a dict."""
    messages: list[Any] = [{"role": "user", "content": prompt}]
    for _ in range(ROUNDS):
        message = ask(messages)
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            content = _run_tool(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": getattr(call, "id", None), "content": content})
    raise RuntimeError("the loop does not end")


# -- the official clients ----------------------------------------------------------------------------------


def run_openai_chat(url: str, prompt: str, streamed: bool) -> str:
    import openai

    client = openai.OpenAI(base_url=url + "/v1", api_key=KEY, max_retries=0)

    def ask(messages: list[Any]) -> Any:
        wanted: Any = {"model": MODEL, "messages": messages, "tools": CHAT_TOOLS}
        if not streamed:
            return client.chat.completions.create(**wanted).choices[0].message
        with client.chat.completions.stream(**wanted) as events:
            list(events)
            return events.get_final_completion().choices[0].message

    return _loop_chat(ask, prompt)


def run_openai_responses(url: str, prompt: str, streamed: bool) -> str:
    import openai

    client = openai.OpenAI(base_url=url + "/v1", api_key=KEY, max_retries=0)
    items: list[Any] = [{"role": "user", "content": prompt}]
    for _ in range(ROUNDS):
        wanted: Any = {"model": MODEL, "input": items, "tools": RESPONSES_TOOLS, "store": False}
        if streamed:
            with client.responses.stream(**wanted) as events:
                list(events)
                response: Any = events.get_final_response()
        else:
            response = client.responses.create(**wanted)
        items += [item.model_dump(exclude={"parsed_arguments"}, exclude_none=True) for item in response.output]
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return str(response.output_text)
        for call in calls:
            output = _run_tool(call.name, call.arguments)
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    raise RuntimeError("the loop does not end")


def run_anthropic(url: str, prompt: str, streamed: bool) -> str:
    import anthropic

    client = anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0)
    messages: list[Any] = [{"role": "user", "content": prompt}]
    for _ in range(ROUNDS):
        wanted: Any = {"model": MODEL, "max_tokens": 999, "messages": messages, "tools": ANTHROPIC_TOOLS}
        if streamed:
            with client.messages.stream(**wanted) as events:
                message: Any = events.get_final_message()
        else:
            message = client.messages.create(**wanted)
        messages.append({"role": "assistant", "content": message.content})
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in message.content if block.type == "text")
        results = [(call.id, _run_tool(call.name, call.input)) for call in calls]
        content = [{"type": "tool_result", "tool_use_id": id, "content": text} for id, text in results]
        messages.append({"role": "user", "content": content})
    raise RuntimeError("the loop does not end")


def run_ollama(url: str, prompt: str, streamed: bool) -> str:
    import ollama

    client = ollama.Client(host=url)

    def ask(messages: list[Any]) -> Any:
        if not streamed:
            return client.chat(MODEL, messages, tools=CHAT_TOOLS).message
        parts = [part.message for part in client.chat(MODEL, messages, tools=CHAT_TOOLS, stream=True)]
        calls = [call for part in parts for call in part.tool_calls or ()]
        text = "".join(part.content or "" for part in parts)
        return ollama.Message(role="assistant", content=text, tool_calls=calls or None)

    return _loop_chat(ask, prompt)


# -- LangChain ---------------------------------------------------------------------------------------------


def _run_langchain(model: Any, prompt: str, streamed: bool) -> str:
    from langchain_core.messages import HumanMessage, ToolMessage

    bound = model.bind_tools(CHAT_TOOLS)
    messages: list[Any] = [HumanMessage(prompt)]
    for _ in range(ROUNDS):
        if streamed:
            chunks = list(bound.stream(messages))
            answer = chunks[0]
            for chunk in chunks[1:]:
                answer += chunk
        else:
            answer = bound.invoke(messages)
        messages.append(answer)
        if not answer.tool_calls:
            return str(answer.text)
        for call in answer.tool_calls:
            messages.append(ToolMessage(_run_tool(call["name"], call["args"]), tool_call_id=call["id"]))
    raise RuntimeError("the loop does not end")


def run_langchain_chat(url: str, prompt: str, streamed: bool) -> str:
    from langchain_openai import ChatOpenAI

    return _run_langchain(ChatOpenAI(model=MODEL, base_url=url + "/v1", api_key=KEY, max_retries=0), prompt, streamed)


def run_langchain_responses(url: str, prompt: str, streamed: bool) -> str:
    from langchain_openai import ChatOpenAI

    options: Any = {"model": MODEL, "base_url": url + "/v1", "api_key": KEY, "max_retries": 0}
    return _run_langchain(ChatOpenAI(**options, use_responses_api=True), prompt, streamed)


def run_langchain_anthropic(url: str, prompt: str, streamed: bool) -> str:
    from langchain_anthropic import ChatAnthropic

    options: Any = {"model": MODEL, "base_url": url, "api_key": KEY, "max_retries": 0, "max_tokens": 999}
    return _run_langchain(ChatAnthropic(**options), prompt, streamed)


# -- frameworks with a loop of their own -------------------------------------------------------------------


_DICTATED: Final[Any] = {"may_tokenize_special_tokens_in_content": False}
"""A profile that leaves the special tokens by which the answers are dictated as they are."""


def _run_pydantic(model: Any, prompt: str, streamed: bool) -> str:
    from pydantic_ai import Agent

    async def watch(_context: Any, events: Any) -> None:
        async for _ in events:
            pass

    async def run() -> str:
        agent = Agent(model, tools=[get_weather, search])
        result = await agent.run(prompt, event_stream_handler=watch if streamed else None)
        return str(result.output)

    return asyncio.run(run())


def run_pydantic_chat(url: str, prompt: str, streamed: bool) -> str:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(url + "/v1", api_key=KEY)
    return _run_pydantic(OpenAIChatModel(MODEL, provider=provider, profile=_DICTATED), prompt, streamed)


def run_pydantic_responses(url: str, prompt: str, streamed: bool) -> str:
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(url + "/v1", api_key=KEY)
    return _run_pydantic(OpenAIResponsesModel(MODEL, provider=provider, profile=_DICTATED), prompt, streamed)


def run_pydantic_anthropic(url: str, prompt: str, streamed: bool) -> str:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(base_url=url, api_key=KEY)
    return _run_pydantic(AnthropicModel(MODEL, provider=provider), prompt, streamed)


def _run_agents(make_model: Callable[[Any], Any], url: str, prompt: str, streamed: bool) -> str:
    import agents
    import openai

    agents.set_tracing_disabled(True)

    async def run() -> str:
        model = make_model(openai.AsyncOpenAI(base_url=url + "/v1", api_key=KEY, max_retries=0))
        tools = [agents.function_tool(each, strict_mode=False) for each in (get_weather, search)]
        agent = agents.Agent(name="a", model=model, tools=tools)
        if not streamed:
            return str((await agents.Runner.run(agent, prompt)).final_output)
        result = agents.Runner.run_streamed(agent, prompt)
        async for _ in result.stream_events():
            pass
        return str(result.final_output)

    return asyncio.run(run())


def run_agents_chat(url: str, prompt: str, streamed: bool) -> str:
    import agents

    return _run_agents(lambda client: agents.OpenAIChatCompletionsModel(MODEL, client), url, prompt, streamed)


def run_agents_responses(url: str, prompt: str, streamed: bool) -> str:
    import agents

    return _run_agents(lambda client: agents.OpenAIResponsesModel(MODEL, client), url, prompt, streamed)


# -- instructor: no loop, one call is one object -----------------------------------------------------------


def run_instructor(url: str, prompt: str, streamed: bool) -> str:
    import instructor
    import openai
    import pydantic

    model = pydantic.create_model("get_weather", city=(str, ...), days=(int, 1))
    client: Any = instructor.from_openai(openai.OpenAI(base_url=url + "/v1", api_key=KEY, max_retries=0))
    messages: list[Any] = [{"role": "user", "content": prompt}]
    for _ in range(3):
        wanted: Any = {"model": MODEL, "messages": messages, "response_model": model, "max_retries": 0}
        if streamed:
            found = list(client.chat.completions.create_partial(**wanted))[-1]
        else:
            found = client.chat.completions.create(**wanted)
        CALLED.append(("get_weather", found.model_dump()))
        messages += [{"role": "assistant", "content": "Noted."}, {"role": "user", "content": "And then?"}]
    return ""


# -- LiteLLM -----------------------------------------------------------------------------------------------


def _run_litellm(model: str, base: str, prompt: str, streamed: bool) -> str:
    import litellm

    def ask(messages: list[Any]) -> Any:
        options: Any = {"model": model, "api_base": base, "api_key": KEY, "messages": messages, "tools": CHAT_TOOLS}
        answer: Any = litellm.completion(**options, stream=streamed, max_tokens=999)
        if streamed:
            chunks: Iterable[Any] = list(answer)
            answer = litellm.stream_chunk_builder(chunks, messages=messages)
        return answer.choices[0].message

    return _loop_chat(ask, prompt)


def run_litellm_openai(url: str, prompt: str, streamed: bool) -> str:
    return _run_litellm("openai/" + MODEL, url + "/v1", prompt, streamed)


def run_litellm_anthropic(url: str, prompt: str, streamed: bool) -> str:
    return _run_litellm("anthropic/" + MODEL, url, prompt, streamed)


LIBRARIES: Final[dict[tuple[str, str, str], Run]] = {
    ("openai", "openai", "chat"): run_openai_chat,
    ("openai", "openai", "Responses"): run_openai_responses,
    ("anthropic", "anthropic", "Messages"): run_anthropic,
    ("ollama", "ollama", "Ollama"): run_ollama,
    ("LangChain", "langchain-openai", "chat"): run_langchain_chat,
    ("LangChain", "langchain-openai", "Responses"): run_langchain_responses,
    ("LangChain", "langchain-anthropic", "Messages"): run_langchain_anthropic,
    ("pydantic-ai", "pydantic-ai-slim", "chat"): run_pydantic_chat,
    ("pydantic-ai", "pydantic-ai-slim", "Responses"): run_pydantic_responses,
    ("pydantic-ai", "pydantic-ai-slim", "Messages"): run_pydantic_anthropic,
    ("openai-agents", "openai-agents", "chat"): run_agents_chat,
    ("openai-agents", "openai-agents", "Responses"): run_agents_responses,
    ("instructor", "instructor", "chat"): run_instructor,
    ("LiteLLM", "litellm", "chat"): run_litellm_openai,
    ("LiteLLM", "litellm", "Messages"): run_litellm_anthropic,
}
"""The clients, by their name, their distribution and the API that they speak."""
