"""Configuration: profiles in TOML, each for a provider or for models of one.

    [profiles.local-coder]
    provider = "ollama"
    model = "qwen3-coder:30b"         # the one to ask for
    models = ["qwen3-coder*"]         # and others for which this holds
    url = "http://127.0.0.1:11434"
    wire = "ollama-chat"
    dialects = ["qwen3-coder", "auto"]
    output_modes = ["json_schema", "json_object", "text"]
    max_retries = 2
    instructions = "Paths are absolute."
    context_window = 32768            # tokens
    system_messages = "user"          # or "join": what a proxy makes of a system message after the first turn

    [profiles.local-coder.tools]
    definition_format = "ollama"      # an adapter, or a provider that has one
    call_parser = "auto"              # a parser of whole responses
    result_format = "ollama"          # an adapter, or a provider that has one

Every key may be left out: its value then comes from the table of providers, and with a `wire` that is not the
provider's own the adapter is that of the wire's first provider.  `model` is a name, `models` are patterns (`*`, `?`,
`[...]`) of names as they are asked for, both in any case.  A profile without them is for the whole provider; one
without all three must be asked for by name.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from streamparse.dialects import DIALECTS
from streamparse.negotiate.capabilities import Capabilities, find_provider
from streamparse.plugins import PluginError, load
from streamparse.providers.adapters import ADAPTERS
from streamparse.providers.names import PROVIDERS, find_known_name
from streamparse.providers.wires import find_wire_name
from streamparse.unknown_names import list_known

OutputMode: TypeAlias = Literal["tools", "json_schema", "json_object", "text"]
"""How an answer is bound to a shape: by a call, by a JSON Schema, as any JSON object, not at all."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")


class ConfigurationError(ValueError):
    """A configuration that cannot be used; the message names the key."""


class ToolSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The formats of tools, calls and results."""

    definition_format: str | None = None
    call_parser: str | None = None
    result_format: str | None = None


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A user's configuration of a provider, or of its models that fit a pattern of `models`."""

    provider: str | None = None
    model: str | None = None
    models: tuple[str, ...] = ()
    url: str | None = None
    wire: str | None = None
    dialects: tuple[str, ...] | Literal["auto", "all", "reasoning"] | None = None
    reasoning: Literal["auto", "open", "closed"] = "auto"
    tools: ToolSettings = ToolSettings()
    capabilities: Capabilities = Capabilities()
    output_modes: tuple[OutputMode, ...] = ()
    max_retries: Annotated[int, msgspec.Meta(ge=0)] | None = None
    instructions: str = ""
    context_window: Annotated[int, msgspec.Meta(ge=1)] | None = None
    system_messages: Literal["user", "join"] | None = None


class Configuration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The profiles by name, in the order of the file."""

    profiles: dict[str, Profile] = {}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Configuration:
        """Read a TOML file.  Raises OSError, or ConfigurationError that names the file and the key."""
        data = Path(path).read_bytes()
        try:
            return cls.loads(data.decode("utf-8-sig"))
        except (ConfigurationError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{os.fspath(path)}: {error}") from error

    @classmethod
    def loads(cls, text: str) -> Configuration:
        """Read TOML text.  Raises ConfigurationError."""
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigurationError(f"not TOML: {error}") from error
        except RecursionError as error:
            raise ConfigurationError("not TOML that can be read: values are nested too deeply") from error
        return cls.of(values)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Configuration:
        """Read decoded values.  Raises ConfigurationError."""
        try:
            configuration = msgspec.convert(values, cls)
        except msgspec.ValidationError as error:
            raise ConfigurationError(_add_dotted_path(str(error), values)) from error
        for name, profile in configuration.profiles.items():
            _check_names(f"profiles.{_quote_key(name)}", profile)
        return configuration


def _check_names(key: str, profile: Profile) -> None:
    """Refuse each name that is not known, nor among what installed distributions offer."""
    tools, adapters = profile.tools, dict.fromkeys((*ADAPTERS, *PROVIDERS))
    if profile.wire not in (None, "auto"):
        _try(f"{key}.wire", find_wire_name, profile.wire)
    for place, name in (("definition_format", tools.definition_format), ("result_format", tools.result_format)):
        if name is not None and find_known_name(name, ADAPTERS) is None:
            _check(f"{key}.tools.{place}", name, adapters)
    dialects = () if isinstance(profile.dialects, str) else profile.dialects or ()
    for place, names in (("dialects", dialects), ("capabilities.dialects", profile.capabilities.dialects)):
        for number, name in enumerate(names):
            _check(f"{key}.{place}[{number}]", name, (*DIALECTS, "auto", "all", "reasoning"), "streamparse.dialects")
    if profile.provider is not None and find_provider(profile.provider) is None:
        _check(f"{key}.provider", profile.provider, PROVIDERS)
    if tools.call_parser is not None:
        from streamparse.parser.registry import find_factory  # noqa: PLC0415 - a parser is what few profiles name

        _try(f"{key}.tools.call_parser", find_factory, tools.call_parser)


def _try(key: str, find: Callable[[str], object], name: str) -> None:
    try:
        find(name)
    except ValueError as error:
        raise ConfigurationError(f"{key}: {error}") from error


def _check(key: str, value: str | None, known: Iterable[str], group: str = "") -> None:
    names = list(known)
    if value is None or value in names:
        return
    try:
        offered = bool(group) and load(group, value)
    except PluginError as error:
        raise ConfigurationError(f"{key}: {error}") from error
    if not offered:
        raise ConfigurationError(f"{key}: unknown {value!r}; {list_known(value, names)}")


def _add_dotted_path(message: str, values: Mapping[str, Any]) -> str:
    """Put the key first, with the name of the profile that msgspec writes as `[...]`."""
    text, _, path = message.partition(" - at `$")
    path = path.rstrip("`").lstrip(".")
    for name, profile in values.get("profiles", {}).items() if "[...]" in path else ():
        try:
            msgspec.convert(profile, Profile)
        except msgspec.ValidationError:
            path = path.replace("[...]", f".{_quote_key(name)}", 1)
            break
    return f"{path}: {text}" if path else text


def _quote_key(name: str) -> str:
    """A key as TOML writes it."""
    return name if _BARE.fullmatch(name) else msgspec.json.encode(name.encode("utf-8", "replace").decode()).decode()
