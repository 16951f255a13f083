"""Facts about Bedrock's API that several modules need."""

from __future__ import annotations

from typing import Final

SERVER_TOOL_KEYS: Final = frozenset(("cachepoint", "systemtool"))
"""What the entries of `tools` are called that are no functions, as `normalize_keys` spells it.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Tool.html
"""
