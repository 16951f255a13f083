"""A request to a model, in nobody's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from streamparse.adapters.definitions import Declared
from streamparse.adapters.loss import Loss
from streamparse.adapters.parts import Turn

__all__ = ["SAMPLING", "Choice", "Request", "chosen", "drop_unread", "tell_unread_choice"]

SAMPLING = ("temperature", "top_p", "top_k", "seed")
"""The settings of sampling that go by one name everywhere, if they exist."""


class Choice(msgspec.Struct, frozen=True):
    """Which tools the model may or must call; `name` is that of the only one.  `parallel` None is the server's own."""

    mode: Literal["auto", "none", "required"] | None = None
    name: str = ""
    parallel: bool | None = None


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a model.

    `schema` is that of an answer in JSON, `{}` for any JSON; `think` whether thought is asked for.
    """

    model: str = ""
    turns: list[Turn] = []
    tools: list[Declared] = []
    choice: Choice = Choice()
    max_tokens: int | None = None
    stop: list[str] = []
    sampling: dict[str, Any] = {}
    stream: bool = False
    schema: dict[str, Any] | None = None
    think: bool | None = None


def drop_unread(request: Mapping[str, Any], read: Iterable[str], lost: list[Loss]) -> None:
    """Tell of the settings that are read by nobody."""
    unread = [key for key, value in request.items() if key not in set(read) and value is not None]
    lost += [Loss("request", "", key, "dropped: no setting elsewhere") for key in unread]


def tell_unread_choice(request: Mapping[str, Any], choice: Choice, lost: list[Loss]) -> None:
    """Tell of a choice of tools that says something nobody else can."""
    if choice.mode is None and request.get("tool_choice") is not None:
        lost.append(Loss("request", "", "tool_choice", "dropped: no such choice elsewhere"))


def chosen(settings: Any, names: Iterable[str]) -> dict[str, Any]:
    """The settings of these names that are set."""
    known = settings if isinstance(settings, Mapping) else {}
    return {name: known[name] for name in names if known.get(name) is not None}
