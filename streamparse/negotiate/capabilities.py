"""Knowledge about providers and families of models: the table `capabilities.toml`, each row with its source.

A family is found by the model's name, which every server and every person writes differently:

| as people write it | is read as |
|---|---|
| `Qwen/Qwen3-8B`, `C:\\models\\Qwen3-8B.gguf`, `Qwen_Qwen3-8B` | what follows maker and folder |
| `us.meta.llama3-1-8b-instruct-v1:0` (Bedrock) | also without region and maker |
| `accounts/me/models/glm-4p5#accounts/me/deployments/x` (Fireworks) | `p` between digits is a point; no deployment |
| `llama3-1-8b`, `Meta-Llama-3_1-8B` | a single digit after a digit is the minor version |
| `qwen-2.5`, `qwen2.5` | no hyphen between letter and digit |
| `ft:gpt-4o:me::x` (OpenAI) | the model that was tuned |

What follows the name (`:7b-instruct-q4_K_M`, `:free`, `-GGUF:Q4`, `@20240620`) is left to the patterns, which end in
`*`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import asdict, replace

from streamparse.providers import names
from streamparse.providers.names import PROVIDERS

Most: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]

_ABILITIES: Final = ("native_tools", "parallel_calls", "json_schema", "json_object")
_BOUNDS: Final = ("max_tools", "max_calls")


class Capabilities(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model on a server can do; None is not known.

    - `native_tools`: whether the request takes tools, and calls come in fields of their own.
    - `calls_in_text`: whether calls are known to come as text in its answers, too; False if the server parses them
      itself.
    - `streamed_arguments`: whether a call's arguments come in pieces as they are written, or whole.
    - `json_schema`: whether an answer can be bound to a JSON Schema.
    - `max_calls`: the largest number of calls in one answer.
    - `dialects`: the dialects in which calls are known to come as text.
    - `source`: where this was read: an address, or files of this project.
    """

    native_tools: bool | None = None
    calls_in_text: bool | None = None
    parallel_calls: bool | None = None
    streamed_arguments: Literal["pieces", "whole"] | None = None
    json_schema: bool | None = None
    json_object: bool | None = None
    tool_choice: tuple[Literal["auto", "none", "required", "named"], ...] | None = None
    max_tools: Most | None = None
    max_calls: Most | None = None
    dialects: tuple[str, ...] = ()
    quirks: tuple[str, ...] = ()
    source: str = ""

    def fill_from(self, other: Capabilities) -> Capabilities:
        """Return the known values, `other`'s where one is unknown here; quirks and sources of both."""
        values = {name: getattr(self, name) for name in Capabilities.__struct_fields__}
        known = {name: getattr(other, name) if _is_unknown(name, each) else each for name, each in values.items()}
        known["quirks"] = tuple(dict.fromkeys((*self.quirks, *other.quirks)))
        known["source"] = "; ".join(dict.fromkeys(each for each in (self.source, other.source) if each))
        return Capabilities(**known)


def _is_unknown(name: str, value: object) -> bool:
    # An empty list of choices is a fact: the server ignores `tool_choice`.
    return value is None or (value in ((), "") and name != "tool_choice")


class Provider(Capabilities, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A provider or server: what it can do, its wire, and the adapter that writes for it."""

    wire: str
    adapter: str
    aliases: tuple[str, ...] = ()


class Family(Capabilities, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A family of models, by patterns of their names."""

    models: tuple[str, ...]


@cache
def _read_table() -> dict[str, dict[str, Any]]:
    return tomllib.loads((files(__package__) / "capabilities.toml").read_text(encoding="utf-8"))


@cache
def _read_providers() -> dict[str, Provider]:
    """All providers, including those with nothing but a name."""
    rows = {name: {**asdict(named), **_read_row("providers", name)} for name, named in PROVIDERS.items()}
    return msgspec.convert(rows, dict[str, Provider])


@cache
def _read_families() -> dict[str, Family]:
    families: dict[str, Family] = {}
    for name, row in _read_table()["families"].items():
        page = f"docs/internals/dialects.md: {', '.join(row.get('dialects', ()))}"
        families[name] = msgspec.convert({"source": page, **_read_row("families", name)}, Family)
    return families


def _read_row(of: str, name: str) -> dict[str, Any]:
    """The facts about a provider or a family, and what its kind has in common."""
    table = _read_table()
    facts = {"quirks": table["quirks"][of].get(name), "source": table["sources"][of].get(name)}
    row = {**table[of].get(name, {}), **{key: each for key, each in facts.items() if each is not None}}
    while "kind" in row:
        row = {**table["kinds"][row.pop("kind")], **row}
    return row


@cache
def _list_patterns() -> list[tuple[str, str]]:
    """The patterns of all families, spelled as `_list_spellings` spells names, each with its family."""
    return [(_HYPHEN.sub("", each), name) for name, row in _read_families().items() for each in row.models]


def list_providers() -> dict[str, Provider]:
    """The providers of the table, by name."""
    return {name: _read_providers()[name] for name in _read_table()["providers"]}


def list_families() -> dict[str, Family]:
    """The families of models of the table, by name; of two that fit a model the first counts."""
    return dict(_read_families())


def find_provider(name: str) -> tuple[str, Provider] | None:
    """Find a provider by any of its names (`streamparse.providers`), also one of which nothing else is known."""
    found = names.find_provider(name)
    return (found, _read_providers()[found]) if found is not None else None


def find_family(model: str) -> tuple[str, Family] | None:
    """Find the family of a model by its name, as any server or person writes it."""
    spellings = list(_list_spellings(model))
    for pattern, name in _list_patterns():
        if any(fnmatchcase(spelling, pattern) for spelling in spellings):
            return name, _read_families()[name]
    return None


def find_capabilities(provider: str | None = None, model: str | None = None) -> Capabilities:
    """The capabilities of a model on a server: the model's row first, but what one cannot do both cannot."""
    found = (find_family(model) if model else None, find_provider(provider) if provider else None)
    rows: list[Capabilities] = [row for _, row in filter(None, found)]
    both = Capabilities()
    for row in reversed(rows):
        both = row.fill_from(both)
    limits: dict[str, Any] = {name: False for name in _ABILITIES if any(getattr(row, name) is False for row in rows)}
    for name in _BOUNDS:
        limits[name] = min((each for row in rows if (each := getattr(row, name)) is not None), default=None)
    return replace(both, **limits)


# -- the names of models ---------------------------------------------------------------------------

_FOLDERS = re.compile(r"(?:.*[/\\])?(?:ft:)?", re.DOTALL)
_MAKER = re.compile(r"(?:[a-z-]+|ai21)\.|[a-z-]+_")
_POINT = re.compile(r"(?<=\d)p(?=\d)")
_MINOR = re.compile(r"(?<=\d)-(?=\d(?![\da-z.]))")
_HYPHEN = re.compile(r"(?<=[a-z])-(?=\d)")

_LONGEST = 200  # bound: the spellings of a name from outside that are compared


def _list_spellings(model: str) -> Iterator[str]:
    """Yield the plain spellings that a model's name may stand for, the longest first."""
    name = _FOLDERS.sub("", model.strip().lower().partition("#")[0], count=1)[:_LONGEST]
    yield from _list_versions(name)
    while maker := _MAKER.match(name):
        name = name[maker.end() :]
        yield from _list_versions(name)


def _list_versions(name: str) -> Iterator[str]:
    name = _HYPHEN.sub("", _POINT.sub(".", name.replace("_", "-")))
    yield name
    if (minor := _MINOR.sub(".", name, count=1)) != name:
        yield minor
