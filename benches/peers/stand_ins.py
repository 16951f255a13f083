"""Imports the parsing modules of a package that is a whole server, without the server.

The parsers of SGLang and vLLM are plain Python, but the packages around them import PyTorch and CUDA kernels. Here only
the parsing modules are real; every other module that they ask for is an empty stand-in.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import logging
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

__all__ = ["import_from"]

_ABSENT = (
    *("torch", "transformers", "triton", "xgrammar", "mistral_common", "tokenizers", "prometheus_client"),
    "openai_harmony",
)
"""What the servers import besides, and the parsing of text does not use."""


def import_from(package: str, real: Sequence[str], name: str) -> ModuleType:
    """Import a module of a package of which only the modules under `real` are real."""
    if not any(isinstance(finder, _StandIns) and finder.package == package for finder in sys.meta_path):
        sys.meta_path.insert(0, _StandIns(package, real))
    return importlib.import_module(name)


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a package's parsing modules as they are, and an empty module for the rest."""

    def __init__(self, package: str, real: Sequence[str]) -> None:
        self.package = package
        self._real = tuple(real)
        self._members = _list_members()
        found = importlib.machinery.PathFinder.find_spec(package)
        if found is None or not found.submodule_search_locations:
            raise ModuleNotFoundError(package)
        self._root = found.submodule_search_locations[0]

    def find_spec(self, name: str, path: Any = None, _target: Any = None) -> Any:
        if name.split(".", 1)[0] not in {self.package, *_ABSENT}:
            return None
        if name.startswith(self._real):
            return importlib.machinery.PathFinder.find_spec(name, path)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> ModuleType:
        module = _EmptyModule(spec.name)
        module.__path__ = ["/".join([self._root, *spec.name.split(".")[1:]])]
        return module

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(self._members.get(module.__name__, {}))


def _list_members() -> dict[str, dict[str, Any]]:
    """What the parsers call of the modules that are not real."""
    import pydantic

    tokens = {"tool_calls": "[TOOL_CALLS]", "args": "[ARGS]", "begin_think": "[THINK]", "end_think": "[/THINK]"}
    special = SimpleNamespace(**{name: SimpleNamespace(value=value) for name, value in tokens.items()})
    return {
        "mistral_common.tokens.tokenizers.base": {"SpecialTokens": special},
        "vllm.entrypoints.serve.engine.protocol": {"OpenAIBaseModel": pydantic.BaseModel},
        "vllm.exceptions": {"VLLMValidationError": ValueError},
        "vllm.logger": {"init_logger": logging.getLogger},
        "vllm.renderers.chat_utils": {
            "get_tool_call_id_type": lambda *_: "random",
            "make_tool_call_id": lambda *_, **__: "call_0",
        },
        "vllm.utils.mistral": {"is_mistral_tokenizer": lambda _: False},
    }


class _EmptyModule(ModuleType):
    """Has every name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = _make_anything(name)
        setattr(self, name, found)
        return found


class _Anything(type):
    """A class whose every attribute is another such class."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _make_anything(name)

    def __or__(cls, other: Any) -> Any:
        return cls

    __ror__ = __or__

    def __getitem__(cls, _: Any) -> Any:
        return cls

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and callable(args[0]) and not kwargs:
            return args[0]  # a decorator
        return cls

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __bool__(cls) -> bool:
        return False


def _make_anything(name: str) -> Any:
    return _Anything(name, (), {"__get_pydantic_core_schema__": classmethod(_any_schema)})


def _any_schema(*_: Any) -> Any:
    """Tell pydantic that a field of such a class may be anything."""
    from pydantic_core import core_schema

    return core_schema.any_schema()
