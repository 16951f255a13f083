"""What is known of providers and of families of models: the table `capabilities.toml`, each row with its source."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from streamparse.negotiate.model_names import fits, spellings
from streamparse.providers.names import PROVIDERS, find_provider
from streamparse.providers.names import Provider as Named

__all__ = [
    "Capabilities",
    "Family",
    "Provider",
    "capabilities_of",
    "family_of",
    "known_families",
    "known_providers",
    "provider_of",
]

Streamed: TypeAlias = Literal["pieces", "whole"]
Most: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]

_ABILITIES: Final = ("native_tools", "parallel_calls", "json_schema", "json_object")
_BOUNDS: Final = ("max_tools", "max_calls")


class Capabilities(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model on a server can do; None is not known."""

    native_tools: bool | None = None
    """Whether the request takes tools, and calls come in fields of their own."""
    calls_in_text: bool | None = None
    """Whether calls are known to come as text in its answers, too; False if the server parses them itself."""
    parallel_calls: bool | None = None
    streamed_arguments: Streamed | None = None
    """Whether a call's arguments come in pieces as they are written, or whole."""
    json_schema: bool | None = None
    """Whether an answer can be bound to a JSON Schema."""
    json_object: bool | None = None
    tool_choice: tuple[Literal["auto", "none", "required", "named"], ...] | None = None
    max_tools: Most | None = None
    max_calls: Most | None = None
    """The largest number of calls in one answer."""
    dialects: tuple[str, ...] = ()
    """The formats in which calls are known to come as text."""
    quirks: tuple[str, ...] = ()
    source: str = ""
    """Where this was read: an address, or files of this project."""

    def over(self, other: Capabilities) -> Capabilities:
        """Return what is known here, and where nothing is, what is known there."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__}
        kept = {name: getattr(other, name) if _is_unsaid(name, value) else value for name, value in fields.items()}
        kept["quirks"] = tuple(dict.fromkeys((*self.quirks, *other.quirks)))
        kept["source"] = "; ".join(dict.fromkeys(each for each in (self.source, other.source) if each))
        return Capabilities(**kept)


def _is_unsaid(name: str, value: object) -> bool:
    """Whether a row says nothing of this; that there is no choice of tools is said with an empty list."""
    return value is None or (value in ((), "") and name != "tool_choice")


class Provider(Capabilities, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A provider or server: what it can do, its wire, and the adapter that writes for it."""

    wire: str
    adapter: str
    aliases: tuple[str, ...] = ()


class Family(Capabilities, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A family of models, by patterns of their names."""

    models: tuple[str, ...]


class _Table(msgspec.Struct, frozen=True):
    providers: dict[str, Capabilities]
    families: dict[str, Family]


@cache
def _table() -> _Table:
    text = (files(__package__) / "capabilities.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Table)


@cache
def _providers() -> dict[str, Provider]:
    told = _table().providers
    return {name: _joined(row, told.get(name, Capabilities())) for name, row in PROVIDERS.items()}


def _joined(row: Named, told: Capabilities) -> Provider:
    fields = {name: getattr(told, name) for name in Capabilities.__struct_fields__}
    return Provider(wire=row.wire, adapter=row.adapter, aliases=row.aliases, **fields)


def known_providers() -> dict[str, Provider]:
    """The providers of the table, by name."""
    return {name: _providers()[name] for name in _table().providers}


def known_families() -> dict[str, Family]:
    """The families of models of the table, by name; of two that fit a model the first counts."""
    return dict(_table().families)


def provider_of(name: str) -> tuple[str, Provider] | None:
    """Find a provider by any of its names (`streamparse.providers`), though nothing else may be known of it."""
    found = find_provider(name)
    return (found, _providers()[found]) if found is not None else None


def family_of(model: str) -> tuple[str, Family] | None:
    """Find the family of a model by its name, as any server or person writes it (see `model_names`)."""
    spelled = spellings(model)
    rows = _table().families.items()
    return next(((name, row) for name, row in rows if any(fits(each, spelled) for each in row.models)), None)


def capabilities_of(provider: str | None = None, model: str | None = None) -> Capabilities:
    """What is known of a model on a server: of the model first, but what one of them cannot do both cannot."""
    of_family = family_of(model) if model else None
    of_provider = provider_of(provider) if provider else None
    rows = [_plain(found[1]) for found in (of_family, of_provider) if found is not None]
    return _together(*rows) if len(rows) == 2 else rows[0] if rows else Capabilities()


def _plain(row: Capabilities) -> Capabilities:
    return Capabilities(**{name: getattr(row, name) for name in Capabilities.__struct_fields__})


def _together(model: Capabilities, server: Capabilities) -> Capabilities:
    known = {name: [getattr(row, name) for row in (model, server)] for name in (*_ABILITIES, *_BOUNDS)}
    abilities = {name: False for name in _ABILITIES if False in known[name]}
    bounds = {name: min(known[name]) for name in _BOUNDS if None not in known[name]}
    return msgspec.structs.replace(model.over(server), **abilities, **bounds)
