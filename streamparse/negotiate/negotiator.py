"""Picks how to speak with a model: from the user's configuration, then the model, then the provider's defaults."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from streamparse.adapters import PROMPTS, Adapter, adapter_for
from streamparse.dialects import DIALECTS
from streamparse.negotiate.capabilities import Capabilities, Provider, capabilities_of, provider_of
from streamparse.negotiate.figures import Figures
from streamparse.negotiate.learner import CapabilityLearner
from streamparse.negotiate.outcomes import NATIVE
from streamparse.negotiate.profiles import Configuration, Profile
from streamparse.protocols import ToolDefinitionAdapter, ToolResultAdapter
from streamparse.providers import PROVIDERS

__all__ = ["FormatNegotiator", "NegotiatedFormat"]

ENOUGH_CALLS = 5
"""So many calls say something of a format."""
TOO_FEW_GOOD = 0.5
MOST_KEPT = 1000
"""Answers that are kept: the names of models may come from outside, without end."""
GENERAL = Provider(wire="auto", adapter="openai", source="the general rules: most servers take what OpenAI takes")
"""An unknown server."""
_ADAPTERS = {row.wire: row.adapter for row in reversed(PROVIDERS.values())}
"""Who writes what a server reads that speaks a wire, though it is not its provider's."""


class NegotiatedFormat(msgspec.Struct, frozen=True, kw_only=True):
    """How to speak with one model on one server (`protocols.ToolFormat`)."""

    name: str
    """The profile's name, or the provider's, or "general"."""
    wire: str
    dialects: tuple[str, ...] | Literal["auto"]
    reasoning: Literal["auto", "open", "closed"]
    tools_in: Literal["request", "prompt"]
    """Where the tools are declared: in the request's field, or as text in the prompt."""
    call_parser: str
    """The name of the parser for whole responses, as `parser_for` and `register_parser` know it."""
    definitions: ToolDefinitionAdapter
    results: ToolResultAdapter
    capabilities: Capabilities

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
        known_as, row = _provider(provider)
        capabilities = chosen.capabilities.over(capabilities_of(provider, model))
        figures = self._learner.recent(model) if self._learner is not None and model else {}
        adapter = row.adapter if chosen.wire in (None, row.wire) else _ADAPTERS.get(chosen.wire, row.adapter)
        definitions, results = (
            adapter_for(each or adapter) for each in (chosen.tools.definition_format, chosen.tools.result_format)
        )
        in_prompt = _in_prompt(chosen, capabilities, figures)
        seen = _seen(figures)
        dialects = _dialects(chosen, capabilities, seen)
        asked = _asked(dialects, seen, definitions)
        if in_prompt and chosen.dialects is None and dialects != "auto" and asked not in dialects:
            dialects = (*dialects, asked)
        return NegotiatedFormat(
            name=name or known_as,
            wire=chosen.wire or row.wire,
            dialects=dialects,
            reasoning=chosen.reasoning,
            tools_in="prompt" if in_prompt else "request",
            call_parser=chosen.tools.call_parser or "composite",
            definitions=definitions.asking_for(asked),
            results=results,
            capabilities=capabilities,
        )

    def _profile(self, provider: str | None, model: str | None, name: str | None) -> tuple[str | None, Profile]:
        """The profile that was named, or else the first that fits, those that name models before the others."""
        profiles = self._configuration.profiles
        if name is not None:
            if name not in profiles:
                raise ValueError(f"unknown profile {name!r}; known are: {', '.join(profiles) or 'none'}")
            return name, profiles[name]
        fitting = [(key, each) for key, each in profiles.items() if _fits(key, each, provider, model)]
        fitting.sort(key=lambda pair: not pair[1].models)
        return fitting[0] if fitting else (None, Profile())


def _fits(name: str, profile: Profile, provider: str | None, model: str | None) -> bool:
    """Whether a profile speaks of this; one that speaks of no provider and no models must be asked for by name."""
    meant = _meant(name, profile)
    if meant is None and not profile.models:
        return False
    if meant is not None and _name(meant) != _name(provider):
        return False
    if model is None or not profile.models:
        return not profile.models
    return any(fnmatchcase(model.casefold(), each.casefold()) for each in profile.models)


def _meant(name: str | None, profile: Profile) -> str | None:
    """The provider that a profile speaks of: the one it is called after, if it names neither that nor models."""
    is_called_so = name is not None and not profile.models and provider_of(name) is not None
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


def _seen(figures: Mapping[str, Figures]) -> list[str]:
    """The dialects in which a model was seen to write good calls, the most used first."""
    seen = [
        name for name, each in figures.items() if name in DIALECTS and each.calls >= ENOUGH_CALLS and _is_good(each)
    ]
    return sorted(seen, key=lambda name: -figures[name].calls)


def _dialects(profile: Profile, capabilities: Capabilities, seen: Sequence[str]) -> tuple[str, ...] | Literal["auto"]:
    """What was configured; else what the family is known for, and beside it what the model was seen to write; else all.

    Experience takes no dialect away: one that is not looked for would never be seen again.  It adds none whose markers
    may as well be prose: by its name that is looked for wherever it stands.
    """
    if profile.dialects is not None:
        return profile.dialects
    if profile.capabilities.dialects:
        return profile.capabilities.dialects
    clear = [name for name in seen if all(opener.auto == "armed" for opener in DIALECTS[name].openers)]
    return tuple(dict.fromkeys((*clear, *capabilities.dialects))) if capabilities.dialects else "auto"


def _asked(dialects: tuple[str, ...] | Literal["auto"], seen: Sequence[str], adapter: Adapter) -> str:
    """The dialect that a prompt asks for: one that is looked for in the answer, if there is a prompt for any."""
    armed = [name for name in seen if DIALECTS[name].openers[0].auto == "armed"]
    return next((name for name in (armed if dialects == "auto" else dialects) if name in PROMPTS), adapter.dialect)


def _is_good(figures: Figures) -> bool:
    return (figures.rate or 0.0) >= TOO_FEW_GOOD


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
    return refuses or (native.calls >= ENOUGH_CALLS and not _is_good(native))
