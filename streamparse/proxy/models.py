"""The models of the server: asked once in a while, and listed for every client.

| `--wire` | where the server lists its models |
|---|---|
| `ollama-chat` | `/api/tags` |
| `gemini` | `/v1beta/models` |
| all others | `/v1/models` |

What a prompt and its answer may have together is `max_model_len` (vLLM, SGLang), `meta.n_ctx` (llama.cpp),
`loaded_context_length` (LM Studio) or `context_length` (OpenRouter, LiteLLM); Ollama does not say it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from streamparse.json.json_safety import try_decode
from streamparse.writing.json_access import get_at, get_objects, get_str

_PATHS: Final = {"ollama-chat": "/api/tags", "gemini": "/v1beta/models"}
_USUAL_PATH: Final = "/v1/models"
_CONTEXTS: Final = (
    ("max_model_len",), ("meta", "n_ctx"), ("loaded_context_length",), ("context_length",), ("context_window",)
)  # fmt: skip
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])
_DIGEST: Final = "0" * 64  # source: the length of a SHA-256
"""Ollama's clients want a digest of each model, and none of them compares it."""


class Model(msgspec.Struct, frozen=True):
    """A model of the server; `context` is 0 where the server does not say it, `details` what the server says."""

    id: str
    context: int = 0
    details: dict[str, Any] = {}


def find_models_path(wire: str) -> str:
    """Return where a server of a wire lists its models."""
    return _PATHS.get(wire, _USUAL_PATH)


def read_models(body: bytes) -> list[Model]:
    """Return the models that a server lists; none if its answer is no list of models."""
    listed = try_decode(_OBJECT.decode, body)
    return list(_read_entries(listed)) if listed is not None else []


def _read_entries(listed: Mapping[str, Any]) -> Iterator[Model]:
    for entry in get_objects(listed.get("data") or listed.get("models")):
        id = get_str(entry, "id") or get_str(entry, "name").removeprefix("models/")
        contexts = (get_at(entry, *path) for path in _CONTEXTS)
        context = next((found for found in contexts if isinstance(found, int) and found > 0), 0)
        if id:
            yield Model(id, context, dict(entry))


def list_for_clients(models: list[Model]) -> bytes:
    """Write the list that clients of OpenAI, of Anthropic and of Ollama read at `/v1/models`."""
    data = [_describe(model) for model in models]
    ends = {"first_id": models[0].id, "last_id": models[-1].id} if models else {}
    whole = {"object": "list", "data": data, "has_more": False, **ends, "models": [_tag(model) for model in models]}
    return msgspec.json.encode(whole)


def show_for_clients(model: Model) -> bytes:
    """Write one model, as clients of OpenAI and of Anthropic read it at `/v1/models/NAME`."""
    return msgspec.json.encode(_describe(model))


def list_for_ollama(models: list[Model]) -> bytes:
    """Write the list that Ollama's clients read at `/api/tags`."""
    return msgspec.json.encode({"models": [_tag(model) for model in models]})


def show_for_ollama(model: Model) -> bytes:
    """Write what Ollama's clients read at `/api/show`: that the model takes tools, and its context."""
    info = {"general.architecture": "unknown"} | ({"unknown.context_length": model.context} if model.context else {})
    shown = {
        "modelfile": "",
        "parameters": "",
        "template": "",
        "details": _tag(model)["details"],
        "model_info": info,
        "capabilities": ["completion", "tools"],
    }
    return msgspec.json.encode(shown)


def write_loaded(name: str, said: Mapping[str, Any]) -> bytes:
    """Write what Ollama answers to a request that only has a model loaded."""
    end = {"done": True, "done_reason": "load"}
    return msgspec.json.encode({"model": name, "created_at": _write_now(), **said, **end}) + b"\n"


def _describe(model: Model) -> dict[str, Any]:
    usual = {"id": model.id, "object": "model", "created": int(time.time()), "owned_by": "upstream"}
    created = {"type": "model", "display_name": model.id, "created_at": _write_now()}
    own = model.details if get_str(model.details, "id") else {}
    return {**usual, **created, **own}


def _tag(model: Model) -> dict[str, Any]:
    details = {"format": "", "family": "", "families": [], "parameter_size": "", "quantization_level": ""}
    usual = {"name": model.id, "model": model.id, "modified_at": _write_now(), "size": 0, "digest": _DIGEST}
    return {**usual, "details": details}


def _write_now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
