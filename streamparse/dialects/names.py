"""The names of the dialects, for type checkers and editors; the rows themselves are in `table`."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["DialectName"]

DialectName: TypeAlias = Literal[
    "hermes", "ernie45", "granite-20b-fc", "internlm2", "minimax-m1", "gigachat3", "inkling", "lmstudio",
    "tool-use-json", "tools-tag-json", "hyperclova-x", "rwkv", "llama3-json", "bare-json", "fenced-json",
    "xai-tool-call", "mistral-array", "tool_calls-array", "toolcall-upper", "granite-array", "functools",
    "cohere-action", "command-r-plus", "apertus", "xlam", "guided-json-array", "sarashina", "function_calls-array",
    "mistral-v11", "deepseek-v3", "deepseek-v3.1", "kimi-k2", "solar-open", "plamo3", "functionary-v3.2",
    "function-tag-json", "react", "qwen3-coder", "mimo", "seed-oss", "anthropic-invoke", "minimax-m2", "step3", "dots",
    "minicpm5", "dsml-v3.2", "dsml-v4", "dsml-v4.1", "gcml", "kimi-k3", "solar-open-2", "glm-4.5", "glm-4.7",
    "spark2.5", "glm-5.3", "iquest-q1", "iquest-coder-v2", "longcat", "hunyuan-v3", "hunyuan-v4", "k2-horizon",
    "minimax-m3", "tool-name-tag", "tool-text-tag", "tool-tag", "cwm", "pythonic", "llama4-pythonic", "llama3-builtin",
    "lfm2", "olmo3", "gemma4", "functiongemma", "muse-atem", "harmony", "beam",
] | str  # fmt: skip
"""The name of a dialect: one of ours, which editors complete, or one that was registered."""
