"""Formats of grammar E: a tag for the call, its name, and a pair of tags for each parameter."""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Dialect, Opener
from streamparse.dialects.engine.markers import GAP
from streamparse.dialects.grammars.call_block import Either
from streamparse.dialects.grammars.json_calls import JsonCalls
from streamparse.dialects.grammars.name_then_json import NAME, MarkedCalls
from streamparse.dialects.grammars.stray_closers import leftovers
from streamparse.dialects.table.tag_families import pair_tags

_PAIRS = pair_tags("", "tool_call")
_PAIRS_LEFT = leftovers("pairs", _PAIRS, "</arg_value")
_PAIR = "<arg_key>city</arg_key>{}<arg_value>Paris</arg_value>"


def _row(
    name: str, *openers: str, models: str, example: str, ends_thought: bool = False, drops: tuple[str, ...] = ()
) -> Dialect:
    """One of the formats that differ only in white space and in the block around the calls."""
    return Dialect(
        name,
        tuple(Opener(text, inclusive=True) for text in openers),
        _PAIRS,
        models=models,
        example=example,
        # SGLang ends a thought at <tool_call>; cases of Ling 3.
        in_thought="ends" if ends_thought else "text",
        drops=drops,
        companions=(_PAIRS_LEFT,),
    )


def _iquest(name: str, word: str, models: str, ends_thought: bool = False) -> Dialect:
    """A model of IQuest; each has a word of its own for the tag."""
    tags = pair_tags("", word)
    return Dialect(
        name,
        (Opener(f"<{word}>", inclusive=True),),
        tags,
        models=models,
        example=f"<{word}>get_weather" + _PAIR.format("") + f"</{word}>",
        # As SGLang and vLLM do for this opener.
        in_thought="ends" if ends_thought else "text",
        companions=(leftovers(name, tags, "</arg_value"),),
    )


_GLM_JSON_HEAD = rf"<tool_call>{GAP}{NAME}>"
_GLM_JSON = MarkedCalls(_GLM_JSON_HEAD, closes=("</tool_call>",), again=rf"{GAP}<tool_call>", opens=("<tool_call>",))

_IFM = pair_tags("ifm|", "tool_call")
_IFM_OPEN = rf"(?:<ifm\|tool_calls>{GAP})?<ifm\|tool_call>"
_IFM_JSON = JsonCalls(closes=("</ifm|tool_call>",), opens=("<ifm|tool_call>",), lead=_IFM_OPEN)

ROWS = (
    _row(
        "glm-4.5",
        "<tool_call>",
        models="GLM-4.5, GLM-4.6, Ling-3, Laguna",
        example="<tool_call>get_weather\n" + _PAIR.format("\n") + "\n</tool_call>",
        ends_thought=True,
        drops=("<|observation|>", "<|role_end|>"),  # Ling 3 ends each turn with the second
    ),
    _row(
        "glm-4.7",
        "<tool_call>",
        models="GLM-4.7, GLM-5",
        example="<tool_call>get_weather" + _PAIR.format("") + "</tool_call>",
        ends_thought=True,
        drops=("<|observation|>",),
    ),
    _row(
        "spark2.5",
        "<tool_call>",
        models="iFlytek Spark 2.5",
        example="<tool_call>get_weather\n" + _PAIR.format("") + "\n</tool_call>",
        ends_thought=True,
    ),
    Dialect(
        "glm-5.3",
        (Opener("<tool_call>", inclusive=True),),
        Either(rf"{_GLM_JSON_HEAD}{GAP}\{{", _GLM_JSON, _PAIRS),
        models="GLM-5.3-Flash",
        example='<tool_call>get_weather>{"city": "Paris"}</tool_call>',
        # VLLM's parser: a call may come without a closing think token.
        in_thought="ends",
        drops=("<|observation|>",),
        companions=(_PAIRS_LEFT,),
    ),
    _iquest("iquest-q1", "iquest_tool_call", "IQuest-Q1"),
    _iquest("iquest-coder-v2", "iquestcoder_tool_call", "IQuest Coder V2", ends_thought=True),
    _row(
        "hunyuan-v3",
        *("<tool_calls>", "<tool_calls:", "<tool_call>", "<tool_call:"),
        models="Hunyuan V3, Hy3",
        example="<tool_calls>\n<tool_call>get_weather<tool_sep>\n"
        + _PAIR.format("\n")
        + "\n</tool_call>\n</tool_calls>",
        ends_thought=True,
    ),
    _row(
        "hunyuan-v4",
        *("<tool_calls>", "<tool_calls:", "<tool_call>", "<tool_call:"),
        models="Hy4",
        example="<tool_calls><tool_call>get_weather" + _PAIR.format("") + "</tool_call></tool_calls>",
        ends_thought=True,
    ),
    Dialect(
        "k2-horizon",
        (Opener("<ifm|tool_calls>", inclusive=True), Opener("<ifm|tool_call>", inclusive=True)),
        Either(_IFM.call, _IFM, _IFM_JSON),
        rf"(?:{_IFM.call})|{_IFM_OPEN}{GAP}[\[{{]",
        thoughts=("ifm", "ifm-fast", "ifm-faster"),
        models="K2-v3, K2 Horizon",
        # VLLM's tests: an implicit boundary at the call.
        in_thought="ends",
        drops=("</ifm|tool_calls>",),
        companions=(leftovers("k2-horizon", _IFM, "</ifm|arg_value"),),
        example="<ifm|tool_calls><ifm|tool_call>get_weather<ifm|arg_key>city</ifm|arg_key>"
        "<ifm|arg_value>Paris</ifm|arg_value></ifm|tool_call></ifm|tool_calls>",
    ),
)
