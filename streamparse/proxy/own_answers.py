"""What the proxy answers itself, whatever the server speaks.

| request | answer |
|---|---|
| `GET /healthz`, `HEAD /` | `ok`: the proxy runs, also without the token; the server is not asked |
| `GET /metrics` | its counters, for Prometheus |
| `GET /v1/models`, `/v1/models/NAME` | the server's models, for clients of OpenAI, of Anthropic and of Ollama |
| `GET /api/tags`, `/api/version`, `POST /api/show` | the same for Ollama's clients, unless the server is Ollama |
| `POST /api/generate`, `/api/chat` that ask nothing | that the model is loaded, unless the server is Ollama |
| `POST /v1/messages/count_tokens` | an estimate, unless the server is one of Anthropic's |

With `--model` that name is the first of the list, for the server knows no other by it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from streamparse.json.json_safety import try_decode
from streamparse.proxy.asgi import Headers, RequestRefused, Scope
from streamparse.proxy.client_request import estimate_tokens
from streamparse.proxy.counters import Counters
from streamparse.proxy.models import (
    Model,
    list_for_clients,
    list_for_ollama,
    show_for_clients,
    show_for_ollama,
    write_loaded,
)
from streamparse.proxy.settings import Settings
from streamparse.writing.json_access import get_str

_JSON: Final = [(b"content-type", b"application/json")]
_TEXT: Final = [(b"content-type", b"text/plain; version=0.0.4; charset=utf-8")]
_ESTIMATE: Final = [*_JSON, (b"streamparse-estimate", b"input_tokens")]
_MODELS: Final = ("/v1/models", "/models")
_OLLAMA: Final = ("/api/tags", "/api/version", "/api/show")
_LOADING: Final = {"/api/generate": ("prompt", "images"), "/api/chat": ("messages",)}
"""Where Ollama's clients have a model loaded, by a request without any of these fields."""
_COUNT: Final = "/v1/messages/count_tokens"
_VERSION: Final = "0.12.0"
"""The version of Ollama's API that these answers follow; its clients look for a lowest one."""
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])

ListModels = Callable[[], Awaitable[list[Model]]]
"""Asks the server for its models; raises `RequestRefused` if it gives none."""


def is_open(scope: Scope) -> bool:
    """Whether a request needs no token: it asks only whether the proxy runs."""
    return (scope["method"], scope["path"]) in (("GET", "/healthz"), ("HEAD", "/"))


def is_answered_here(scope: Scope, body: bytes, settings: Settings) -> bool:
    """Whether the proxy answers a request itself."""
    method, path = scope["method"], scope["path"]
    is_list = path in ("/metrics", *_MODELS) or path.startswith("/v1/models/")
    if is_open(scope) or (method == "GET" and is_list):
        return True
    if path in _OLLAMA:
        return settings.wire != "ollama-chat" and method == ("POST" if path == "/api/show" else "GET")
    if path in _LOADING:
        return settings.wire != "ollama-chat" and method == "POST" and _asks_nothing(path, body)
    return path == _COUNT and method == "POST" and settings.wire != "anthropic"


def _asks_nothing(path: str, body: bytes) -> bool:
    asked = try_decode(_OBJECT.decode, body)
    return asked is not None and not any(asked.get(field) for field in _LOADING[path])


async def answer_here(
    scope: Scope, body: bytes, settings: Settings, counters: Counters, list_models: ListModels
) -> tuple[Headers, bytes]:
    """Return the headers and the body of such an answer.  Raises `RequestRefused`."""
    path: str = scope["path"]
    if path in _LOADING:
        said = {"response": ""} if path == "/api/generate" else {"message": {"role": "assistant", "content": ""}}
        return _JSON, write_loaded(get_str(_read_object(body), "model"), said)
    if path in _OLLAMA or path in _MODELS or path.startswith(_MODELS[0]):
        if path == "/api/version":
            return _JSON, msgspec.json.encode({"version": _VERSION})
        return _JSON, _write_models(path, body, settings, await list_models())
    if path == _COUNT:
        return _ESTIMATE, msgspec.json.encode(
            {"input_tokens": estimate_tokens(msgspec.json.encode(_read_object(body)))}
        )
    return _TEXT, counters.write().encode() if path == "/metrics" else b"ok\n"


def _write_models(path: str, body: bytes, settings: Settings, models: list[Model]) -> bytes:
    """Write the models, or the one that is asked for, as the clients of a path read them."""
    if settings.model:
        named = [model for model in models if model.id == settings.model] or [Model(settings.model, settings.context)]
        models = [*named, *(model for model in models if model.id != settings.model)]
    if path in _MODELS:
        return list_for_clients(models)
    if path == "/api/tags":
        return list_for_ollama(models)
    if path == "/api/show":
        asked = _read_object(body)
        return show_for_ollama(_find(models, get_str(asked, "model") or get_str(asked, "name"), settings))
    return show_for_clients(_find(models, unquote(path.removeprefix("/v1/models/")), settings))


def _read_object(body: bytes) -> dict[str, Any]:
    found = try_decode(_OBJECT.decode, body)
    if found is None:
        raise RequestRefused("the body of the request is no JSON object")
    return found


def _find(models: list[Model], name: str, settings: Settings) -> Model:
    """Return the model of a name; any name is that of the only model that is asked."""
    found = next((model for model in models if name in (model.id, f"{model.id}:latest")), None)
    if found is None and settings.model:
        found = models[0]
    if found is None:
        raise RequestRefused(f"the server has no model {name[:100]!r}", 404, "model_not_found")
    return found
