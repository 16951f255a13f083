"""What `import streamparse` gives, and what it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import streamparse as sp

CONTRACT = """
    StreamParser TextParser iter_events aiter_events parse_response CompositeParser ToolRunner Tool tool ToolCall
    ToolResult ToolIntent ParsedResponse Limits Event WIRES DIALECTS TextDelta ReasoningDelta ToolCallStart
    ToolCallDelta ToolCallComplete ToolCallRevoked RefusalDelta ProviderItem Error Done
"""


def printed(program: str) -> list[str]:
    """Run a program in a fresh interpreter and return the words it prints."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout.split()


def test_every_name_of_the_interface_is_there_and_listed() -> None:
    assert set(CONTRACT.split()) <= set(sp.__all__) <= set(dir(sp))
    assert all(getattr(sp, name) is not None for name in sp.__all__)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'streamparse' has no attribute 'StreamParse'"):
        sp.StreamParse  # type: ignore[attr-defined] # noqa: B018


def test_importing_the_package_loads_no_event_loop_no_client_and_no_sdk() -> None:
    loaded = printed("import streamparse, sys; print(*{name.partition('.')[0] for name in sys.modules})")
    assert "msgspec" in loaded
    heavy = {"anyio", "trio", "asyncio", "httpx", "httpx_sse", "requests", "openai", "anthropic", "ollama", "pydantic"}
    assert not heavy & set(loaded)


def test_the_tool_runner_is_loaded_on_first_use_and_then_kept() -> None:
    program = "import streamparse as sp, sys; sp.ToolRunner; print('anyio' in sys.modules, 'ToolRunner' in vars(sp))"
    assert printed(program) == ["True", "True"]


def test_a_sync_loop_needs_no_event_loop() -> None:
    assert printed("import streamparse as sp, sys; list(sp.iter_events([])); print('anyio' in sys.modules)") == [
        "False"
    ]
