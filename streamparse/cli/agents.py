"""What a coding agent must be told so that it asks the proxy, and nobody else: variables and arguments.

| command | what it needs |
|---|---|
| `claude` | the base URL and a token, or it is "not logged in"; a model for each of its three sizes |
| `codex` | a provider of its own, by `-c` before the subcommand; Responses is the only wire that it speaks |
| `opencode` | its whole configuration in one variable |
| any other | the variables that the SDKs of OpenAI, Anthropic and Ollama read |

Tried with Claude Code 2.1.197, Codex 0.171 and opencode 1.18.33.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

_CONTEXT: Final = 32_768  # bound: a prompt of a coding agent has some 20,000
"""Tokens that an agent is told where the server does not say its context."""
_OTHER_SERVERS: Final = (
    "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "CODEX_API_KEY",
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS",
    "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_USE_VERTEX",
    "OLLAMA_API_KEY", "OLLAMA_HOST",
)  # fmt: skip
"""Variables of the user that must not reach the agent: they lead it to other servers, or are keys for these."""
_HOST: Final = "127.0.0.1"
_TOKEN: Final = "STREAMPARSE_TOKEN"


class Server(msgspec.Struct, frozen=True):
    """A running proxy: its URL without a path, the token that it takes, and the model that is asked."""

    url: str
    token: str
    model: str
    context: int = 0

    @property
    def tokens(self) -> int:
        """The context that an agent is told."""
        return self.context or _CONTEXT


class Launch(msgspec.Struct, frozen=True):
    """How an agent is started: its command line, and what is set in its environment."""

    command: list[str]
    variables: dict[str, str]


def prepare_launch(command: Sequence[str], server: Server, *, keep_tools: bool = False) -> Launch:
    """Return how to start an agent so that it asks `server`.

    With `keep_tools` Codex keeps the tools that its own provider would run.
    """
    name = Path(command[0]).name.removesuffix(".exe").removesuffix(".cmd")
    prepare = _AGENTS.get(name, _prepare_any)
    return prepare(list(command), server, keep_tools)


def make_environment(launch: Launch, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the agent: the user's, without keys and addresses for other servers.

    A proxy that the user has for the Internet is not asked for this machine.
    """
    kept = {name: value for name, value in environment.items() if name not in _OTHER_SERVERS}
    if any(name.lower() in ("http_proxy", "https_proxy", "all_proxy") for name in kept):
        direct = kept.get("NO_PROXY") or kept.get("no_proxy")
        kept |= dict.fromkeys(("NO_PROXY", "no_proxy"), f"{direct},{_HOST}" if direct else _HOST)
    return kept | launch.variables


def _prepare_claude(command: list[str], server: Server, _keep_tools: bool) -> Launch:
    models = ("ANTHROPIC_MODEL", *(f"ANTHROPIC_DEFAULT_{size}_MODEL" for size in ("HAIKU", "SONNET", "OPUS")))
    variables = {
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_AUTH_TOKEN": server.token,
        **dict.fromkeys(models, server.model),
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max(1024, server.tokens // 4)),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    return Launch(command, variables)


def _prepare_codex(command: list[str], server: Server, keep_tools: bool) -> Launch:
    provider = {
        "name": "streamparse",
        "base_url": f"{server.url}/v1",
        "wire_api": "responses",
        "env_key": _TOKEN,  # arguments are seen by every user of the machine
        "request_max_retries": 0,
        "stream_max_retries": 0,
    }
    table = "{" + ",".join(f"{key}={json.dumps(value)}" for key, value in provider.items()) + "}"
    settings = [
        "model_provider=streamparse",
        f"model_providers.streamparse={table}",
        f"model={json.dumps(server.model)}",
        f"model_context_window={server.tokens}",
    ]
    if not keep_tools:
        settings += ["features.multi_agent=false", 'web_search="disabled"']
    options = [each for setting in settings for each in ("-c", setting)]
    return Launch([command[0], *options, *command[1:]], {_TOKEN: server.token})


def _prepare_opencode(command: list[str], server: Server, _keep_tools: bool) -> Launch:
    limit = {"context": server.tokens, "output": max(1024, server.tokens // 4)}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "streamparse",
        "options": {"baseURL": f"{server.url}/v1", "apiKey": server.token},
        "models": {server.model: {"name": server.model, "limit": limit}},
    }
    named = f"streamparse/{server.model}"
    configuration = {"provider": {"streamparse": provider}, "model": named, "small_model": named}
    variables = {"OPENCODE_CONFIG_CONTENT": json.dumps(configuration), "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    return Launch(command, variables)


def _prepare_any(command: list[str], server: Server, _keep_tools: bool) -> Launch:
    variables = {
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "OPENAI_API_KEY": server.token,
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": server.token,
        "ANTHROPIC_AUTH_TOKEN": server.token,
        "OLLAMA_HOST": server.url,
        "OLLAMA_API_KEY": server.token,
    }
    return Launch(command, variables)


_AGENTS: Final[Mapping[str, Callable[[list[str], Server, bool], Launch]]] = {
    "claude": _prepare_claude,
    "codex": _prepare_codex,
    "opencode": _prepare_opencode,
}
