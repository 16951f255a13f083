"""A request to a model, in no provider's words."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from streamparse.writing.definitions import DeclaredTool
from streamparse.writing.parts import Message

SAMPLING_FIELDS = ("temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty")
"""The settings of sampling, by the names that most providers have for them."""

ACCOUNT_FIELDS = (
    "metadata", "user", "safety_identifier", "service_tier", "prompt_cache_key", "prompt_cache_retention", "store",
)  # fmt: skip
"""Settings that only OpenAI has, in both of its APIs: for whom, at which price, and where it is kept."""

SCHEMA_NAME = "answer"
"""The name of an answer's schema where none is given: OpenAI wants one."""


class Choice(msgspec.Struct, frozen=True):
    """Which tools the model may or must call; `name` allows one alone.  `parallel` None is the server's own."""

    mode: Literal["auto", "none", "required"] | None = None
    name: str = ""
    parallel: bool | None = None


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is asked.

    `schema` is the schema of an answer in JSON, `{}` for any JSON, `schema_name` its name with OpenAI, and `strict`
    whether to enforce it where that can be chosen; `written` are messages that follow the others, and stand as the
    provider has them (`Adapter.write_separately`); `think` whether thought is asked for, and `effort` OpenAI's word for
    how much; `account` holds the settings of `ACCOUNT_FIELDS`.
    """

    model: str = ""
    messages: list[Message] = []
    written: list[dict[str, Any]] = []
    tools: list[DeclaredTool] = []
    choice: Choice = Choice()
    max_tokens: int | None = None
    stop: list[str] = []
    sampling: dict[str, Any] = {}
    stream: bool = False
    schema: dict[str, Any] | None = None
    schema_name: str = ""
    strict: bool = False
    think: bool | None = None
    effort: str = ""
    account: dict[str, Any] = {}
