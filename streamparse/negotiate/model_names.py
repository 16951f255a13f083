"""How the names of models are read: by many servers one model is called otherwise.

| as people write it | read as |
|---|---|
| `Qwen/Qwen3-8B`, `C:\\models\\Qwen3-8B.gguf`, `Qwen_Qwen3-8B` | what stands behind maker and folder |
| `us.meta.llama3-1-8b-instruct-v1:0` (Bedrock) | also without region and maker |
| `accounts/me/models/glm-4p5#accounts/me/deployments/x` (Fireworks) | `p` between digits is a point; no deployment |
| `llama3-1-8b`, `Meta-Llama-3_1-8B` | a single digit behind a digit is the minor version |
| `qwen-2.5`, `qwen2.5` | no hyphen between letter and digit |
| `ft:gpt-4o:me::x` (OpenAI) | what was tuned |

What stands behind the name (`:7b-instruct-q4_K_M`, `:free`, `-GGUF:Q4`, `@20240620`) is left to the patterns, which end
in `*`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache

__all__ = ["fits", "spellings"]

_BEFORE = re.compile(r"(?:.*[/\\])?(?:ft:)?", re.DOTALL)
_MAKER = re.compile(r"(?:[a-z-]+|ai21)\.|[a-z-]+_")
_POINT = re.compile(r"(?<=\d)p(?=\d)")
_MINOR = re.compile(r"(?<=\d)-(?=\d(?![\da-z.]))")
_HYPHEN = re.compile(r"(?<=[a-z])-(?=\d)")

_LONGEST = 200
"""Characters that are looked at: the names of models may come from outside."""


def spellings(model: str) -> list[str]:
    """The plain spellings that a model's name may stand for, the longest first."""
    name = _BEFORE.sub("", model.strip().lower().partition("#")[0], count=1)[:_LONGEST]
    return [each for part in _without_makers(name) for each in _versions(part)]


def fits(pattern: str, spelled: list[str]) -> bool:
    """Whether a pattern of the table, in small letters, is that of a model which is spelled so."""
    return any(fnmatchcase(each, _plain(pattern)) for each in spelled)


@cache
def _plain(pattern: str) -> str:
    return _HYPHEN.sub("", pattern)


def _without_makers(name: str) -> Iterator[str]:
    """The name, and what is left of it as each maker or region before it is taken away."""
    yield name
    while maker := _MAKER.match(name):
        name = name[maker.end() :]
        yield name


def _versions(name: str) -> Iterator[str]:
    """The name without what stands between a word and its number; if it may hide a minor version, with that, too."""
    name = _HYPHEN.sub("", _POINT.sub(".", name.replace("_", "-")))
    yield name
    minor = _MINOR.sub(".", name, count=1)
    if minor != name:
        yield minor
