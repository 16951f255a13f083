"""Names of a package that are loaded at their first use, so that importing it stays light."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["export_lazily"]


def export_lazily(
    package: dict[str, Any],
    modules: Mapping[str, tuple[str, ...]],
    elsewhere: Mapping[str, tuple[str, ...]] | None = None,
) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package, whose `globals()` are given: it loads a name from the module that has it.

    `modules` says which names each module has; modules are named as seen from the package.  A name that is `elsewhere`
    is not loaded, but the AttributeError says where it is.
    """
    places = {name: module for module, names in modules.items() for name in names}
    other = {name: module for module, names in (elsewhere or {}).items() for name in names}

    def load(name: str) -> Any:
        if name not in places:
            place = f": it is in {package['__name__']}.{other[name]}" if name in other else ""
            message = f"module {package['__name__']!r} has no attribute {name!r}{place}"
            raise AttributeError(message, name=name, obj=sys.modules[package["__name__"]])
        value = package[name] = getattr(import_module(f"{package['__name__']}.{places[name]}"), name)
        return value

    return load
