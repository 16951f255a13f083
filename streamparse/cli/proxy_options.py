"""The options of `streamparse proxy` and `streamparse run`: which server, and what it is asked in.

A profile of a configuration file (`--config FILE --profile NAME`) stands for options; an option that is given counts
before it.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import anyio
import msgspec

from streamparse import proxy
from streamparse.cli.options import CommandError, add_dialect_option, read_dialects
from streamparse.negotiate import Configuration, ConfigurationError, Profile
from streamparse.providers.names import PROVIDERS, find_provider
from streamparse.proxy.asgi import RequestRefused

NEEDED = ("httpx", "uvicorn")


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options; `make_proxy` reads them."""
    command.add_argument("--upstream", metavar="URL", help="the server: http://127.0.0.1:8080")
    wires = ", ".join(name for name in proxy.PATHS if name != "openai-chat")
    command.add_argument("--wire", help=f"what it speaks: openai-chat (the default), {wires}")
    command.add_argument(
        "--model", metavar="NAME", help="ask for this model, whatever a client names; default: the server's only one"
    )
    command.add_argument("--key-env", metavar="VARIABLE", help="the environment variable with the server's key")
    add_dialect_option(command)
    command.add_argument(
        "--tools",
        choices=("native", "prompt"),
        default="native",
        help="hand the tools to the server (the default), or teach them to the model in the system prompt",
    )
    command.add_argument(
        "--system-messages",
        choices=("user", "join"),
        help="write a system message after the first turn as the user's text (the default), or join it to the first",
    )
    command.add_argument("--config", metavar="FILE", help="a TOML file with profiles")
    command.add_argument("--profile", metavar="NAME", help="the profile of --config to use")


def make_proxy(arguments: argparse.Namespace, **settings: Any) -> proxy.Proxy:
    """Return the proxy that the options ask for; `settings` are fields of `proxy.Settings`.  Raises CommandError.

    Asks the server for its models: its only one becomes the model of all requests, and its context is known then.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise CommandError(f"{' and '.join(missing)} not found: pip install 'llm-streamparse[proxy]'")
    try:
        found = proxy.Settings(**_read_settings(arguments), **settings).validate()
    except ValueError as error:
        raise CommandError(str(error)) from error
    return proxy.Proxy(anyio.run(_find_model, found))


def _read_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    profile = _read_profile(arguments)
    upstream = arguments.upstream or profile.url
    if not upstream:
        raise CommandError("no server is named: --upstream URL, or a profile with a url")
    provider = find_provider(profile.provider or "")
    given = {
        "upstream": upstream,
        "wire": arguments.wire or profile.wire or (PROVIDERS[provider].wire if provider else None),
        "dialects": read_dialects(arguments) if arguments.dialect else profile.dialects or "auto",
        "tools": arguments.tools,
        "model": arguments.model or profile.model,
        "context": profile.context_window,
        "system_messages": arguments.system_messages or profile.system_messages,
        "key": _read_key(arguments.key_env, os.environ),
    }
    return {name: value for name, value in given.items() if value is not None}


def _read_profile(arguments: argparse.Namespace) -> Profile:
    if arguments.config is None:
        if arguments.profile is not None:
            raise CommandError("--profile names a profile of --config FILE")
        return Profile()
    try:
        profiles = Configuration.load(arguments.config).profiles
    except (OSError, ConfigurationError) as error:
        raise CommandError(str(error)) from error
    if arguments.profile not in profiles:
        raise CommandError(f"--profile: {arguments.config} has {', '.join(profiles) or 'no profiles'}")
    return profiles[arguments.profile]


def _read_key(variable: str | None, environment: Mapping[str, str]) -> str:
    if variable is None:
        return ""
    if not environment.get(variable):
        raise CommandError(f"--key-env: {variable} is not set")
    return environment[variable]


async def _find_model(settings: proxy.Settings) -> proxy.Settings:
    """Return the settings with the server's only model, and with its context, as far as the server says them."""
    async with proxy.Proxy(msgspec.structs.replace(settings, connect_timeout=2.0, read_timeout=5.0)) as asking:
        try:
            models = await asking.list_models()
        except RequestRefused:
            return settings  # it may come up later, or list none
    model = settings.model or (models[0].id if len(models) == 1 else "")
    known = next((each.context for each in models if each.id == model), 0)
    return msgspec.structs.replace(settings, model=model, context=settings.context or known)
