"""Formats of grammars D and E: a tag for the call, and tags for its parameters."""

from __future__ import annotations

from streamparse.dialects.grammar import Dialect, Opener, markers
from streamparse.dialects.xml_params import XmlParams

__all__ = ["ROWS"]

_NS = "antml:"

_QWEN3_CODER = Dialect(
    "qwen3-coder",
    (Opener("<tool_call>"), Opener("<function=", inclusive=True, auto="start")),
    r"\s{0,64}<function=",
    XmlParams(
        call=r"<function=(?P<name>[^>\s]{1,256})>",
        parameter=r"<parameter=(?P<key>[^>\n]{1,256})>",
        parameter_closes=("</parameter>",),
        call_closes=("</function>",),
        block_closes=("</tool_call>",),
        call_begins=("<function=", "<tool_call>"),
        parameter_begins=("<parameter=",),
    ),
    models="Qwen3-Coder, Qwen3.5, Nemotron 3 Nano, Step-3.5",
    example="<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
    in_thought="ends",
)

_ANTHROPIC_INVOKE = Dialect(
    "anthropic-invoke",
    (
        *markers("<function_calls>", f"<{_NS}function_calls>"),
        Opener("<invoke name=", inclusive=True),
        Opener(f"<{_NS}invoke name=", inclusive=True),
    ),
    rf"\s{{0,64}}<(?:{_NS})?invoke\s",
    XmlParams(
        call=rf"""<(?:{_NS})?invoke\s+name=(?P<q>["']?)(?P<name>[^"'>\s]{{1,256}})(?P=q)\s{{0,8}}>""",
        parameter=rf"""<(?:{_NS})?parameter\s+name=(?P<p>["']?)(?P<key>[^"'>]{{1,256}})(?P=p)[^>]{{0,64}}>""",
        parameter_closes=("</parameter>", f"</{_NS}parameter>"),
        call_closes=("</invoke>", f"</{_NS}invoke>"),
        block_closes=("</function_calls>", f"</{_NS}function_calls>"),
        call_begins=("<invoke ", f"<{_NS}invoke "),
        parameter_begins=("<parameter ", f"<{_NS}parameter "),
        trim=False,
    ),
    models="Claude 2 and 3 prompts; MiniMax-M2, Kimi K2.5, GLM behind proxies",
    example='<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>\n'
    "</function_calls>",
)

ROWS = (_QWEN3_CODER, _ANTHROPIC_INVOKE)
