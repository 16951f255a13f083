"""Picks how to speak with a model: from the user's configuration, then the model, then the provider's defaults."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from streamparse.negotiate.call_stats import NATIVE, Figures
from streamparse.negotiate.capabilities import Capabilities, Provider, capabilities_of, provider_of
from streamparse.negotiate.learner import CapabilityLearner
from streamparse.negotiate.preference import (
    ENOUGH_CALLS,
    Wanted,
    choose_dialects,
    dialect_to_ask_for,
    is_good,
    seen_dialects,
)
from streamparse.negotiate.profiles import Configuration, OutputMode, Profile
from streamparse.protocols import ToolDefinitionAdapter, ToolResultAdapter
from streamparse.providers.adapters import adapter_for
from streamparse.providers.names import PROVIDERS

__all__ = ["FormatNegotiator", "NegotiatedFormat"]

MOST_KEPT = 1000
"""Answers that are kept: the names of models may come from outside, without end."""
MAX_RETRIES = 2
"""How often a model is asked again whose calls cannot be run, if no profile says it."""
GENERAL = Provider(wire="auto", adapter="openai", source="the general rules: most servers take what OpenAI takes")
"""An unknown server."""
_ADAPTERS = {row.wire: row.adapter for row in reversed(PROVIDERS.values())}
"""Who writes what a server reads that speaks a wire, though it is not its provider's."""


class NegotiatedFormat(msgspec.Struct, frozen=True, kw_only=True):
    """How to speak with one model on one server (`protocols.ToolFormat`)."""

    name: str
    """The profile's name, or the provider's, or "general"."""
    wire: str
    dialects: Wanted
    """What to look for in the text: the preferred formats by name, then a word for the rest; or that word alone."""
    reasoning: Literal["auto", "open", "closed"]
    tools_in: Literal["request", "prompt"]
    """Where the tools are declared: in the request's field, or as text in the prompt."""
    call_parser: str
    """The name of the parser for whole responses, as `parser_for` and `register_parser` know it."""
    definitions: ToolDefinitionAdapter
    results: ToolResultAdapter
    provider: str
    """The name of the adapter that writes the requests."""
    dialect: str
    """The format in which a prompt asks for calls."""
    capabilities: Capabilities
    model: str | None = None
    """The model to ask for: the one that was meant, or that of the profile."""
    url: str | None = None
    """The base URL of the server, if the profile says it."""
    output_modes: tuple[OutputMode, ...] = ()
    """How an answer may be bound to a shape, the preferred way first."""
    max_retries: int = MAX_RETRIES
    """How often a model is asked again whose calls cannot be run (`RepairLoop`)."""
    instructions: str = ""
    """What the system prompt says besides, for this model."""
    context_window: int | None = None
    """In tokens."""

    def parsing(self) -> dict[str, Any]:
        """The keywords for `StreamParser` and the loops: wire, dialects, reasoning."""
        return {"wire": self.wire, "dialects": self.dialects, "reasoning": self.reasoning}


class FormatNegotiator:
    """Answers how to speak with a model; each answer is kept until something new is learnt.

    Safe to use from several threads.
    """

    def __init__(
        self, configuration: Configuration | Mapping[str, Any] | None = None, learner: CapabilityLearner | None = None
    ) -> None:
        """Take the configuration, read or as decoded values; raises ConfigurationError."""
        given = configuration or Configuration()
        self._configuration = given if isinstance(given, Configuration) else Configuration.of(given)
        self._learner = learner
        self._lock = threading.Lock()
        self._answers: dict[tuple[str | None, str | None, str | None], NegotiatedFormat] = {}
        self._learnt = -1

    def negotiate(
        self, provider: str | None = None, model: str | None = None, *, profile: str | None = None
    ) -> NegotiatedFormat:
        """Return the format for a model of a provider, or the one that a profile names.

        Raises ValueError for a profile or provider that nobody knows; a model may be any.
        """
        key = (provider, model, profile)
        with self._lock:
            learnt = self._learner.version if self._learner is not None else 0
            if learnt != self._learnt or len(self._answers) >= MOST_KEPT:
                self._answers.clear()
                self._learnt = learnt
            if key not in self._answers:
                self._answers[key] = self._negotiated(*key)
            return self._answers[key]

    def _negotiated(self, provider: str | None, model: str | None, profile: str | None) -> NegotiatedFormat:
        name, chosen = self._profile(provider, model, profile)
        provider = _meant(name, chosen) or provider
        model = model or chosen.model
        find_known_name, row = _provider(provider)
        capabilities = chosen.capabilities.over(capabilities_of(provider, model))
        figures = self._learner.recent(model) if self._learner is not None and model else {}
        adapter = row.adapter if chosen.wire in (None, row.wire) else _ADAPTERS.get(chosen.wire, row.adapter)
        definitions, results = (
            adapter_for(each or adapter) for each in (chosen.tools.definition_format, chosen.tools.result_format)
        )
        wire = chosen.wire or row.wire
        seen = seen_dialects(figures)
        in_prompt = _in_prompt(chosen, capabilities, figures)
        asked = dialect_to_ask_for(chosen, capabilities, seen, definitions.traits.dialect)
        return NegotiatedFormat(
            name=name or find_known_name,
            wire=wire,
            dialects=choose_dialects(chosen, capabilities, wire, seen, asked if in_prompt else None),
            reasoning=chosen.reasoning,
            tools_in="prompt" if in_prompt else "request",
            call_parser=chosen.tools.call_parser or "composite",
            definitions=definitions.with_prompt_dialect(asked),
            results=results,
            provider=adapter,
            dialect=asked,
            capabilities=capabilities,
            model=model,
            url=chosen.url,
            output_modes=chosen.output_modes or _output_modes(capabilities),
            max_retries=MAX_RETRIES if chosen.max_retries is None else chosen.max_retries,
            instructions=chosen.instructions,
            context_window=chosen.context_window,
        )

    def _profile(self, provider: str | None, model: str | None, name: str | None) -> tuple[str | None, Profile]:
        """The profile that was named, or else the first that fits, those that name models before the others."""
        profiles = self._configuration.profiles
        if name is not None:
            if name not in profiles:
                raise ValueError(f"unknown profile {name!r}; known are: {', '.join(profiles) or 'none'}")
            return name, profiles[name]
        fitting = [(key, each) for key, each in profiles.items() if _fits(key, each, provider, model)]
        fitting.sort(key=lambda pair: not _names_models(pair[1]))
        return fitting[0] if fitting else (None, Profile())


def _fits(name: str, profile: Profile, provider: str | None, model: str | None) -> bool:
    """Whether a profile speaks of this; one that speaks of no provider and no models must be asked for by name."""
    meant = _meant(name, profile)
    if meant is None and not _names_models(profile):
        return False
    if meant is not None and _name(meant) != _name(provider):
        return False
    if model is None or not _names_models(profile):
        return not _names_models(profile)
    asked = model.casefold()
    is_its_own = profile.model is not None and asked == profile.model.casefold()
    return is_its_own or any(fnmatchcase(asked, each.casefold()) for each in profile.models)


def _names_models(profile: Profile) -> bool:
    return bool(profile.models) or profile.model is not None


def _meant(name: str | None, profile: Profile) -> str | None:
    """The provider that a profile speaks of: the one it is called after, if it names neither that nor models."""
    is_called_so = name is not None and not _names_models(profile) and provider_of(name) is not None
    return profile.provider or (name if is_called_so else None)


def _name(provider: str | None) -> str | None:
    found = provider_of(provider) if provider else None
    return found[0] if found else provider


def _provider(name: str | None) -> tuple[str, Provider]:
    if name is None:
        return "general", GENERAL
    found = provider_of(name)
    if found is None:
        raise ValueError(f"unknown provider {name!r}: leave it out for the general rules, or write a profile")
    return found


def _output_modes(capabilities: Capabilities) -> tuple[OutputMode, ...]:
    """The modes that the model and its server are known to have; text always goes."""
    modes: list[OutputMode] = ["text"]
    if capabilities.json_object:
        modes.insert(0, "json_object")
    if capabilities.json_schema:
        modes.insert(0, "json_schema")
    return tuple(modes)


def _in_prompt(profile: Profile, capabilities: Capabilities, figures: Mapping[str, Figures]) -> bool:
    """Whether tools belong into the prompt: so configured, or the server takes none, or native calls mostly failed."""
    if profile.capabilities.native_tools is not None:
        return not profile.capabilities.native_tools
    return capabilities.native_tools is False or _native_fails(figures.get(NATIVE, Figures()))


def _native_fails(native: Figures) -> bool:
    """Whether this model's server refuses tools, or enough native calls came of late and most were bad.

    A native call that came after the last refusal shows that the server takes tools by now.
    """
    refuses = native.refused > native.calls and (not native.calls or native.last <= native.last_refused)
    return refuses or (native.calls >= ENOUGH_CALLS and not is_good(native))
