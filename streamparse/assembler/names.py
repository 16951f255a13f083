"""The names and ids of calls: what servers leave around a name, and which ones are refused."""

from __future__ import annotations

from streamparse.limits import Limits
from streamparse.patterns import BLANKS
from streamparse.tools import Toolset


def clean_name(name: str, tools: Toolset) -> tuple[str, bool]:
    """Return a native call's name without what the model or its server left around it, and whether that was markup.

    Behind a tool's name it may be markup: Fireworks has sent `get_weather</arg_value>` for GLM, vLLM
    `get_weather<|channel|>commentary` for gpt-oss.
    """
    name = tools.resolve_name(name)
    before, markup, _ = name.partition("<")
    meant = tools.resolve_name(before) if markup and name not in tools else ""
    if meant in tools:
        return meant, True
    return name if name in tools else name.strip(BLANKS) or name, False


def find_name_problem(name: str, id: str, tools: Toolset, limits: Limits) -> tuple[str, str] | None:
    """Return code and message of what is wrong with a call's name or id; None if both are sound."""
    if limits.max_name is not None and len(name) > limits.max_name:
        return "limit_name", f"a name of {len(name)} characters"
    if limits.max_id is not None and len(id) > limits.max_id:
        return "limit_id", f"an id of {len(id)} characters"
    if not name.isprintable() and name not in tools and _has_invisible_characters(name):
        return "name_characters", f"the name {name!r} holds invisible characters"
    return None


def _has_invisible_characters(name: str) -> bool:
    """Whether a name has control characters, or those of format, which change the direction of text."""
    from unicodedata import category  # noqa: PLC0415 - hardly any name needs it

    return any(category(character) in ("Cc", "Cf") for character in name)
