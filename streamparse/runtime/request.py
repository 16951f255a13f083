"""What a model is asked: the conversation so far, the tools, and the settings of one request.

Settings have the words of most APIs; each is written in the provider's own word, or listed as lost:

| setting | value |
|---|---|
| `max_tokens` | the most tokens of the answer |
| `stop` | a text, or texts, at which the answer ends |
| `temperature`, `top_p`, `top_k`, `seed`, `presence_penalty`, `frequency_penalty` | numbers |
| `tool_choice` | "auto", "none", "required", or the name of the one tool to call |
| `parallel_tool_calls` | whether one answer may hold several calls |
| `think`, `reasoning_effort` | whether to think; OpenAI's word for how much |
| `schema`, `schema_name`, `strict` | a JSON Schema of the answer (`{}`: any JSON), its name, whether to enforce it |
| `metadata`, `user`, `service_tier`, … | what only OpenAI's two APIs have (`writing.request.ACCOUNT_FIELDS`) |
| `extra_body` | an object that is merged into the body: a provider's own settings |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from streamparse.dialects import Dialects, Reasoning
from streamparse.loss import Loss
from streamparse.parser import StreamParser
from streamparse.providers.adapters import ADAPTERS, find_format, write_extras, write_request
from streamparse.providers.wires import WireName, find_wire_name
from streamparse.runtime.history import History
from streamparse.runtime.messages import write_entries
from streamparse.tools import Toolset
from streamparse.unknown_names import list_known
from streamparse.writing.definitions import read_json_tools
from streamparse.writing.markup import PromptDialect
from streamparse.writing.parts import Message, Text
from streamparse.writing.prompts import Lesson
from streamparse.writing.request import ACCOUNT_FIELDS, SAMPLING_FIELDS, Choice
from streamparse.writing.request import Request as Question
from streamparse.writing.request_format import pick

ToolsIn: TypeAlias = Literal["request", "prompt"]
"""Where tools are declared: in the request's own field, or as text in the system prompt."""

_DIRECT: Final = ("max_tokens", "think", "schema", "schema_name", "strict")
_CHOICES: Final = ("auto", "none", "required")
_SPECIAL: Final = ("stop", "tool_choice", "parallel_tool_calls", "reasoning_effort", "extra_body")

SETTINGS: Final = frozenset((*_DIRECT, *_SPECIAL, *SAMPLING_FIELDS, *ACCOUNT_FIELDS))  # the names of all settings


class Request:
    """One request to one model.

        async def model(request: sp.Request):
            return await client.messages.create(**request.body("anthropic", "claude-sonnet-4-5"))

    `body` writes the whole JSON body, and remembers which wire the answer is in: the answer is parsed with `wire`,
    `dialects` and `reasoning`; `provider` and `model` were asked, as `History.with_round` wants them.  A model
    whose answer is to be read otherwise says so with `read_as`.  `lost` lists what the provider has no words for.
    `tools_in` is "prompt" once the server has said that it takes no tools; `body` then teaches them in the prompt.
    `number` counts the turns of the run from 0.  Each attempt, and each model, gets a Request of its own.
    """

    __slots__ = (
        "_is_read_as", "dialects", "history", "lost", "model", "number", "provider", "reasoning", "run_id", "settings",
        "tools", "tools_in", "wire",
    )  # fmt: skip

    def __init__(
        self,
        history: History,
        tools: Iterable[Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        *,
        number: int = 0,
        run_id: str = "",
        tools_in: ToolsIn = "request",
    ) -> None:
        """Take the conversation, tools of any kind, and settings; raises TypeError for an unknown setting."""
        self.history: History = history
        self.tools: Toolset = Toolset.of(tools)
        self.settings: dict[str, Any] = dict(settings or {})
        check_settings(self.settings)
        self.number: int = number
        self.run_id: str = run_id
        self.tools_in = tools_in
        self.provider: str = ""
        self.model: str = ""
        self.wire: str = "auto"
        self.dialects: Dialects = "auto"
        self.reasoning: Reasoning = "auto"
        self.lost: list[Loss] = []
        self._is_read_as = False

    def body(
        self,
        provider: str,
        model: str,
        *,
        stream: bool = True,
        tools_in: ToolsIn | None = None,
        dialect: PromptDialect = "hermes",
        instructions: str = "",
        **settings: Any,
    ) -> dict[str, Any]:
        """Return the JSON body that asks a provider's model for an answer, as a stream unless `stream` is false.

        `settings` (see the module) go over those of the request; None takes one back.  With `tools_in="prompt"` the
        system prompt teaches the tools in a `dialect`, for servers and models without tools of their own, and the
        answer is read by it.  `instructions` follow the system's text.
        The body for Gemini and Bedrock names neither model nor stream: the path does, or an argument of the SDK.

        Raises ValueError for a provider whose requests are not known, a dialect that has no prompt, and a value that
        cannot be; TypeError for an unknown setting.
        """
        name = find_format(provider)
        check_settings(settings)
        tools_in = "prompt" if self.tools_in == "prompt" else tools_in or "request"
        wanted = {key: value for key, value in {**self.settings, **settings}.items() if value is not None}
        self.lost = []
        question = replace(self._read_question(instructions, wanted), model=model, stream=stream)
        lesson = Lesson(question, dialect, self.lost) if tools_in == "prompt" else None
        question = lesson.teach(question, self.lost) if lesson else question
        question = replace(question, written=self._write_entries(question, name, lesson))
        body = write_request(question, name, self.lost)
        self.lost = list(dict.fromkeys(self.lost))
        self.provider, self.model = name, model
        if not self._is_read_as:
            self.wire, self.reasoning = find_wire_name(provider), "auto"
            self.dialects = (dialect, "auto") if tools_in == "prompt" else "auto"
        return merge_body({**body, **write_extras(name, model, stream=stream)}, wanted.get("extra_body") or {})

    def read_as(
        self, wire: WireName, *, dialects: Dialects = "auto", reasoning: Reasoning = "auto", provider: str | None = None
    ) -> None:
        """Say how the answer is to be parsed, whatever `body` was or will be asked.

        `provider` is who answered, as in `body`, if that was not asked.
        Raises ValueError for an unknown wire, dialect or provider.
        """
        StreamParser(wire, dialects=dialects, reasoning=reasoning)  # raises for unknown words, before a source is open
        self.wire, self.dialects, self.reasoning = wire, dialects, reasoning
        self.provider = self.provider if provider is None else find_format(provider)
        self._is_read_as = True

    def _read_question(self, instructions: str, settings: Mapping[str, Any]) -> Question:
        """Read what is asked, without the entries of the history."""
        stop = settings.get("stop") or ()
        system = "\n\n".join(filter(None, (self.history.system, instructions)))
        return Question(
            messages=[Message("system", [Text(system)])] if system.strip() else [],
            tools=read_json_tools(self.tools.values()),
            **pick(settings, _DIRECT),
            choice=self._read_choice(settings),
            stop=[stop] if isinstance(stop, str) else [*stop],
            sampling=pick(settings, SAMPLING_FIELDS),
            effort=settings.get("reasoning_effort", ""),
            account=pick(settings, ACCOUNT_FIELDS),
        )

    def _write_entries(self, question: Question, provider: str, lesson: Lesson | None) -> list[dict[str, Any]]:
        adapter, history = ADAPTERS[provider], self.history
        start = 0 if adapter.traits.separate_system else len(question.messages)
        return write_entries(
            history.entries, history.omitted, adapter, question.model, self.lost,
            start=start, declared=self.tools, lesson=lesson,
        )  # fmt: skip

    def _read_choice(self, settings: Mapping[str, Any]) -> Choice:
        choice, parallel = settings.get("tool_choice"), settings.get("parallel_tool_calls")
        if choice is None or choice in _CHOICES:
            return Choice(choice, parallel=parallel)
        if choice not in self.tools:
            known = list_known(choice, (*_CHOICES, *self.tools))
            raise ValueError(f"tool_choice {choice!r} is no tool of this request; {known}")
        return Choice("required", choice, parallel)


def merge_body(body: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body with an object merged into it: objects are merged, all else is replaced."""
    merged = dict(body)
    for key, value in extra.items():
        own = merged.get(key)
        is_object = isinstance(own, Mapping) and isinstance(value, Mapping)
        merged[key] = merge_body(dict(own or {}), value) if is_object else value
    return merged


def check_settings(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings.  Raises TypeError for what is no mapping, and for an unknown setting."""
    if not isinstance(settings, Mapping):
        raise TypeError(f"settings are a dict of what goes into each request, not {type(settings).__name__}")
    if unknown := sorted(settings.keys() - SETTINGS):
        known = list_known(unknown[0], sorted(SETTINGS))
        raise TypeError(f"unknown settings {unknown}; {known}; a provider's own go into extra_body")
    return settings
