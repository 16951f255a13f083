"""Who the providers are is known to their folders, to tables, and to applications; the engines know none of them.

Counted are the tokens of the code: names and strings, without docstrings and comments.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

import streamparse

PACKAGE = Path(streamparse.__file__).parent
NAMES = re.compile(
    r"open_?ai|anthropic|claude|gemini|vertex|bedrock|cohere|mistral|ollama|deep_?seek|open_?router|lite_?llm|grok|groq"
    r"|langchain|google",
    re.IGNORECASE,
)
KNOWING = (
    *("providers/", "dialects/table/", "cli/", "proxy/", "negotiate/capabilities"),
    *("dialects/names.py", "writing/markup.py"),
)
"""Where the names belong: providers, tables, and applications; the last two are tables of dialects."""
FACES = ("__init__.py", "writing/__init__.py", "runtime/__init__.py")
MODULES = [str(path.relative_to(PACKAGE)) for path in sorted(PACKAGE.rglob("*.py"))]


def _named(source: str) -> set[str]:
    """The tokens of a module's code that name a provider."""
    docstrings = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return {
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type in (tokenize.NAME, tokenize.STRING)
        and token.start[0] not in docstrings
        and NAMES.search(token.string)
    }


@pytest.mark.parametrize("name", [name for name in MODULES if not name.startswith(KNOWING) and name not in FACES])
def test_no_engine_names_a_provider(name: str) -> None:
    named = _named((PACKAGE / name).read_text(encoding="utf-8"))
    assert named == set()
