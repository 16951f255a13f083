"""Names of parameters in the formats of tags: whole where the format says where they end."""

from __future__ import annotations

import pytest
from cuts import events_of, in_pieces, merged

import streamparse as sp

TOOL = sp.Tool("send", "", {"type": "object", "properties": {"in put": {"type": "string"}}})
IN_QUOTES = {
    "anthropic-invoke": '<function_calls>\n<invoke name="send">\n<parameter name="{}">x</parameter>\n</invoke>\n'
    "</function_calls>",
    "minimax-m2": '<minimax:tool_call>\n<invoke name="send">\n<parameter name="{}">x</parameter>\n</invoke>\n'
    "</minimax:tool_call>",
    "dots": '<dots_function_call>\n<invoke name="send">\n<parameter name="{}">x</parameter>\n</invoke>\n'
    "</dots_function_call>",
    "dsml-v4": '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="send">\n<｜DSML｜parameter name="{}" string="true">x'
    "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
    "minicpm5": '<function name="send"><param name="{}">x</param></function>',
}
BARE = {
    "qwen3-coder": "<tool_call>\n<function=send>\n<parameter={}>\nx\n</parameter>\n</function>\n</tool_call>",
    "seed-oss": "<seed:tool_call>\n<function=send>\n<parameter={}>x</parameter>\n</function>\n</seed:tool_call>",
    "glm-4.5": "<tool_call>send\n<arg_key>{}</arg_key>\n<arg_value>x</arg_value>\n</tool_call>",
}
NAMED = [(dialect, name) for dialect in IN_QUOTES for name in ("in put", "it's", "a b c", "a=b", "key!")]
NAMED += [(dialect, name) for dialect in BARE for name in ("in put", "a b c", "key!")]


def _events(dialect: str, text: str, size: int) -> list[sp.Event]:
    return merged(events_of(sp.TextParser([dialect], tools=[TOOL]), in_pieces(text, size)))


@pytest.mark.parametrize(("dialect", "name"), NAMED)
def test_a_name_is_whole_in_every_cut(dialect: str, name: str) -> None:
    text = (IN_QUOTES | BARE)[dialect].format(name)
    parser = sp.TextParser([dialect], tools=[TOOL])
    parser.feed(text)
    parser.close()
    assert [(call.arguments, call.source) for call in parser.response.tool_calls] == [({name: "x"}, "inband")]
    whole = _events(dialect, text, len(text))
    for size in range(1, 8):
        assert _events(dialect, text, size) == whole


@pytest.mark.parametrize("dialect", ["anthropic-invoke", "minimax-m2", "dots"])
@pytest.mark.parametrize("tag", ["name=city", 'name=city type="string"', "name='city'", "name=\"city'", 'name=city"'])
def test_a_name_of_one_word_needs_no_sound_quotes(dialect: str, tag: str) -> None:
    text = IN_QUOTES[dialect].replace('name="{}"', tag)
    parser = sp.TextParser([dialect], tools=[TOOL])
    parser.feed(text)
    parser.close()
    assert [call.arguments for call in parser.response.tool_calls] == [{"city": "x"}]


@pytest.mark.parametrize("word", ["parameter", "param", "argument", "arg"])
def test_a_parameter_may_be_a_tag_of_any_of_these_words(word: str) -> None:
    text = f'<xai:tool_call><invoke name="send"><{word} name="in put">x</{word}></invoke></xai:tool_call>'
    parser = sp.TextParser(["xai-tool-call"], tools=[TOOL])
    parser.feed(text)
    parser.close()
    assert [call.arguments for call in parser.response.tool_calls] == [{"in put": "x"}]


@pytest.mark.parametrize(
    ("dialect", "value"), [("qwen3-coder", " x \n"), ("mimo", "\n x \n\n"), ("seed-oss", "\n x \n\n")]
)
def test_the_line_breaks_around_a_value_are_markup_where_the_model_writes_it_on_lines_of_its_own(
    dialect: str, value: str
) -> None:
    block = "seed:tool_call" if dialect == "seed-oss" else "tool_call"
    parser = sp.TextParser([dialect])
    parser.feed(f"<{block}><function=f><parameter=a>\n x \n\n</parameter></function></{block}>")
    parser.close()
    assert [call.arguments for call in parser.response.tool_calls] == [{"a": value}]


@pytest.mark.parametrize("dialect", ["glm-4.5", "glm-4.7"])
@pytest.mark.parametrize("blank", ["\n", "", " "])
def test_one_object_behind_the_name_holds_all_parameters(dialect: str, blank: str) -> None:
    text = f'<tool_call>send{blank}{{"in put": "</arg_value> x"}}{blank}</tool_call>'
    whole = _events(dialect, text, len(text))
    assert [event.arguments for event in whole if isinstance(event, sp.ToolCallComplete)] == [
        {"in put": "</arg_value> x"}
    ]
    for size in range(1, 8):
        assert _events(dialect, text, size) == whole


@pytest.mark.parametrize("behind", ["</invoke>", '\n<parameter name="to">x</parameter>\n</invoke>'])
def test_the_closing_tag_of_a_parameter_may_lack_its_bracket(behind: str) -> None:
    parser = sp.TextParser(["anthropic-invoke"], tools=[TOOL])
    parser.feed(f'<invoke name="send">\n<parameter name="city">Paris</parameter{behind}')
    parser.close(stopped=True)
    assert [call.arguments["city"] for call in parser.response.tool_calls] == ["Paris"]


@pytest.mark.parametrize("name", ["arguments", "args", "input", "parameters", "params", "other"])
@pytest.mark.parametrize("dialect", [*IN_QUOTES, *BARE])
def test_one_parameter_that_no_tool_declares_may_hold_all_parameters_if_it_is_called_so(
    dialect: str, name: str
) -> None:
    written = (IN_QUOTES | BARE)[dialect].format(name).replace(' string="true"', "")
    at = written.rindex("x<") if "x<" in written else written.rindex("x\n")
    parser = sp.TextParser([dialect], tools=[TOOL])
    parser.feed(written[:at] + '{"in put": "y"}' + written[at + 1 :])
    parser.close(stopped=True)
    [call] = parser.response.tool_calls
    if name == "other":
        assert call.arguments in ({"other": {"in put": "y"}}, {"other": '{"in put": "y"}'})
    else:
        assert (call.arguments, call.source) == ({"in put": "y"}, "repaired")
