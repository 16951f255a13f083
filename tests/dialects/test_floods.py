"""What a parser learns of a flood of markers changes nothing that it reports."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import pytest
from call_counts import count_calls
from cuts import in_pieces, merged
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp
from streamparse.dialects.engine import floods, reader
from streamparse.dialects.engine.grammar import TagBalance
from streamparse.dialects.engine.quotes import Quotes

TOOLS = [
    {"name": name, "parameters": {"type": "object", "properties": {key: {"type": "string"}}}}
    for name, key in (("get_weather", "city"), ("bash", "command"))
]
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
UNITS = [
    *("<tool_call>", "<tool_ca", "<tool_call>{", "<tool_call>x ", "<tool_call>\n", "`<tool_call>` ", '"<tool_call>'),
    *("<think>", "</think>", "<think></think>", "<bash>", "</bash>", "<bash></bash>", "<function=", "[TOOL_CALLS]"),
    *('[{"', '{"name": "', "Action:", "Action:\n", "```json\n", "```\n", "> <tool_call>\n", "<|im_end|>", "<|call|>"),
    *("<|channel|>analysis<|message|>", "<|start|>assistant to=user<|message|>", "<|python_tag|>", ">>>", "[", "<"),
    *("Some words. ", "a < b and c > d ", "\n", "    ", "- ", CALL, CALL[:30], CALL[30:], "<bash>ls</bash>\n"),
]


def read(pieces: list[str], **options: Any) -> tuple[list[sp.Event], sp.ParsedResponse]:
    """The events, with adjacent deltas joined, and the response."""
    parser = sp.TextParser(**options)
    events = [event for piece in pieces for event in parser.feed(piece)]
    return merged([*events, *parser.close()]), parser.response


def assert_same_without_floods(pieces: list[str], **options: Any) -> None:
    """Assert that nothing is different if no flood is noticed."""
    learnt = read(pieces, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(floods, "_MOST_VAIN", sys.maxsize)
        assert learnt == read(pieces, **options)


@pytest.mark.parametrize("size", [5, 16, 100_000])
@pytest.mark.parametrize("unit", UNITS)
def test_a_flood_and_what_comes_after_it_is_read_as_without_learning(unit: str, size: int) -> None:
    for after in (CALL, f"\n\n{CALL}\nThat is all.", f"`{CALL}`", "</think>" + CALL, ""):
        text = unit * (4000 // len(unit)) + after
        assert_same_without_floods(in_pieces(text, size), tools=TOOLS)


TAGGED = "<get_weather>\n<city>Paris</city>\n</get_weather>"
BARE = '{"name": "get_weather", "arguments": {"city": "Paris"}}'


@pytest.mark.parametrize("size", [16, 100_000])
@pytest.mark.parametrize("dialects", ["auto", "all", ["tool-name-tag", "hermes"], ["llama3-json", "hermes"]])
@pytest.mark.parametrize("call", [TAGGED, BARE, CALL])
def test_a_flood_around_a_call_is_read_as_without_learning(call: str, dialects: Any, size: int) -> None:
    for unit in (
        "<get_weather>",
        "</get_weather>",
        "<get_weather></get_weather>",
        "</city>",
        "\n<tool_call>",
        " <bash ",
    ):
        flood = unit * (1500 // len(unit))
        for text in (call + flood, flood + call, f"{flood}\n{call}\n{flood}", f"Words.\n{call}{flood}</tool_call>"):
            assert_same_without_floods(in_pieces(text, size), tools=TOOLS, dialects=dialects)


@pytest.mark.parametrize("size", [13, 16, 100_000])
@pytest.mark.parametrize("dialects", ["auto", ["tool-name-tag"]])
def test_tags_of_a_flood_are_counted_as_without_learning(dialects: Any, size: int) -> None:
    for before in ("<get_weather>", "Some words here, well.\n<get_weather>", "</get_weather>"):
        text = before * 100 + TAGGED + "</get_weather>" * 100
        assert_same_without_floods(in_pieces(text, size), tools=TOOLS, dialects=dialects)


def _write_deepseek(name: str, arguments: str) -> str:
    return f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>"


@pytest.mark.parametrize("before", ["```", "<think>"])
def test_a_call_that_is_revoked_behind_a_run_of_a_flood_gives_its_text_back(before: str) -> None:
    unknown, missing = _write_deepseek("no name", '{"city": "Paris"}'), _write_deepseek("get_weather", '{"city": "P"}')
    text = before + f"\n```\n{unknown}{missing};<think></think>" * 16
    whole, _ = read([text], tools=TOOLS)
    letters, _ = read(list(text), tools=TOOLS)
    assert whole == letters


WORD_CALL = '<tool name="get_weather">\n<city>Paris</city>\n</tool>'


@pytest.mark.parametrize("size", [16, 100_000])
def test_a_tag_that_a_flood_opened_closes_behind_a_call(size: int) -> None:
    """A call may be closed twice, and each of the others closes what the text has opened; one more casts doubt."""
    for count, is_doubted in ((61, False), (62, True)):
        text = "<tool>" * 60 + WORD_CALL + "</tool>" * count
        _, response = read(in_pieces(text, size), tools=TOOLS)
        assert response.tool_calls[0].revoked is is_doubted


@pytest.mark.parametrize("size", [16, 100_000])
@pytest.mark.parametrize("unit", ["<tool>", "<tool></tool>", "</tool><tool>"])
def test_a_flood_behind_a_call_counts_the_tags_of_its_word(unit: str, size: int) -> None:
    text = WORD_CALL + unit * 60 + "</tool>" * 80
    assert_same_without_floods(in_pieces(text, size), tools=TOOLS)


def _tell_tags(balance: TagBalance, tags: list[bool]) -> list[bool]:
    """Open a tag, or close it where the list says so; return what each that closes says."""
    told = [balance.close("tool") if closes else balance.open("tool") for closes in tags]
    return [each for each in told if each is not None]


@given(st.lists(st.booleans(), max_size=8), st.integers(0, 5), st.integers(1, 4))
def test_tags_that_are_repeated_are_counted_as_one_after_the_other(tags: list[bool], before: int, count: int) -> None:
    told, repeated = TagBalance(), TagBalance()
    for balance in (told, repeated):
        balance.note_call("tool")
        _tell_tags(balance, [False] * before)
    learner = TagBalance()
    learner.note_call("tool")
    learner.changes = changes = {}
    answers = _tell_tags(learner, tags)
    _tell_tags(told, tags * count)
    repeated.repeat(changes, count)
    many = [True] * 60
    assert _tell_tags(repeated, many) == _tell_tags(told, many)
    assert learner.is_decided_by_count(changes) is not all(answers)
    _tell_tags(learner, [False])
    learner.open("bash")
    assert learner.is_decided_by_count(changes) is not all(answers), "whatever other tags the text opens"


def test_blanks_behind_a_call_that_is_revoked_are_all_passed_on() -> None:
    flood, blanks = ["<tool_call>\n"] * 60, ["\n" * 300, *["\n" * 50] * 4]
    pieces = [*flood, TAGGED, *blanks, "That is all."]
    _, response = read(pieces, tools=TOOLS, dialects=["tool-name-tag", "hermes"])
    assert response.content == "".join(pieces)


@pytest.mark.parametrize("reasoning", ["auto", "open"])
def test_a_run_of_plain_text_behind_markers_that_follow_prose_is_all_passed_on(reasoning: Any) -> None:
    pieces = ["I think so. " * 30, "<|tool_calls_section_begin|>" * 5 + "<|END_TEXT|>" * 30 + "<tool_call>x " * 100]
    parser = sp.TextParser("all", reasoning=reasoning)
    for piece in pieces:
        parser.feed(piece)
    parser.close()
    assert parser.response.content + parser.response.reasoning == "".join(pieces)


@pytest.mark.parametrize("size", [8, 16, 100, 100_000])
@pytest.mark.parametrize(
    "unit", ['[{"<tool_call>\n', '<tool>{"name": "', '[{"<tool>', ">>>", "[TOOL_CALLS]", "<function="]
)
def test_what_is_looked_at_again_is_counted_in_a_flood(unit: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it is too much, all that was looked at is passed over: a call in it is found or not as without learning."""
    monkeypatch.setattr(reader, "_MOST_AGAIN", 300)
    for count in (30, 31, 60):
        text = "<function=" * 50 + "> [" * 30 + unit * count + CALL + unit * 3 + f"\n{CALL}"
        assert_same_without_floods(in_pieces(text, size), tools=TOOLS)


BEGINNINGS = [
    *("", "x", "  x", "    x", ">", ">>", ">>>", ">>x", "> x", "```x`", "``x", "`", "~~~", "~~~~\nx\n~~~~", "~~x"),
    *("1", "10", "10.", "10. > x", "10) ```", "1x", "-", "--", "- > x", "- x", "* ~~~", "+ + x", 'x "', "x\\"),
]
ENDS = ["", "x", ">", "> x", "`", "``", "~", ".", " x", ") > y", '"', "\n", "\n    x", "\n\n    x"]


@pytest.mark.parametrize("before", BEGINNINGS)
def test_what_a_state_holds_of_a_line_decides_what_is_quoted(before: str) -> None:
    for after in ENDS:
        whole, restored = Quotes(), Quotes()
        whole.pieces.append(before)
        restored.state = whole.state
        for piece in ("", *after):
            for quotes in (whole, restored):
                quotes.pieces.append(piece)
            answers = [
                (quotes.is_open(), quotes.is_open(is_token=True), quotes.is_at_margin, quotes.is_in_code)
                for quotes in (whole, restored)
            ]
            assert answers[0] == answers[1]


class Machine:
    """Passes every text on, and looks at half of it again; of words it meets no marker."""

    def __init__(self, budget: reader.RescanBudget) -> None:
        self.budget = budget
        self.told = ""
        self.recorded: list[str] = []
        self.met: list[int] = []

    def capture(self) -> str:
        return "the only state"

    def restore(self, snapshot: object) -> None:
        assert snapshot == "the only state"

    def record(self, text: str) -> floods.Recording:
        recording = floods.Recording()
        self.budget.start_record()
        self.budget.spend(len(text))
        self.budget.spend(len(text) // 2)
        self.budget.ahead = 0
        recording.passed_on, recording.left, recording.spending = [text], None, self.budget.get_record()
        if text != "words":
            recording.left = 1
        self.told += text
        self.recorded.append(text)
        return recording

    def replay(self, text: str) -> None:
        self.told += text

    def meet_again(self, left: int) -> None:
        self.met.append(left)


def test_a_run_that_counts_anew_what_is_looked_at_again_ends_with_the_same_count() -> None:
    budget = reader.RescanBudget()
    machine, flood = Machine(budget), floods.Floods(TagBalance(), budget)
    text = "0123456789abcdef" * 100
    for before in (0, 8, 0):
        budget.again = before
        flood.feed(machine, reader.Reader(), text)
        assert budget.again == 8
    flood.end(machine)
    assert machine.told == text * 3
    assert machine.recorded == [text[:16]] * 2, "with each count before it"


def test_what_spends_too_much_is_read_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_MOST_AGAIN", 4)
    budget = reader.RescanBudget()
    machine, flood = Machine(budget), floods.Floods(TagBalance(), budget)
    for _ in range(5):
        flood.feed(machine, reader.Reader(), "0123456789abcdef")
    assert len(machine.recorded) == 5


def test_where_the_last_marker_was_met_is_known_before_the_next_text_is_read() -> None:
    budget = reader.RescanBudget()
    machine, flood = Machine(budget), floods.Floods(TagBalance(), budget)
    for text in ("<tool>", "<tool>", "<tool>", "words", "<tool>", "<tool>"):
        flood.feed(machine, reader.Reader(), text)
    flood.end(machine)
    assert machine.recorded == ["<tool>", "<tool>", "words"]
    assert machine.met == [1 + len("words"), 1]


def test_what_was_looked_at_again_before_a_flood_counts_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_MOST_AGAIN", 300)
    text = "<function=" * 50 + "> [" * 30 + "[" + "[TOOL_CALLS]<tool_call>" * 30 + CALL
    for size in (8, 16):
        assert_same_without_floods(in_pieces(text, size), tools=TOOLS, dialects="all")


@pytest.mark.parametrize("size", [7, 16, 100, 100_000])
def test_what_is_learnt_is_forgotten_where_it_would_be_too_much(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(floods, "_MOST_STATES", 3)
    text = "<tool_call>x " * 60 + "<tool_call>\n<function=" * 30 + CALL
    assert_same_without_floods(in_pieces(text, size), tools=TOOLS)


def test_a_flood_that_is_followed_by_a_part_of_it_is_read_as_without_learning() -> None:
    for first, second in (("<tool_call>x ", "<tool_call>"), ("<tool_call>", "<tool_call>x "), ("[ab<", "[a")):
        assert_same_without_floods([first * 200 + second * 200 + CALL], tools=TOOLS)


def test_plain_text_in_a_flood_is_read_as_without_learning() -> None:
    pieces = ["<tool_call>x "] * 60 + ["<tool_call>x ", "go on and on. " * 20] * 9 + ["<tool name="]
    assert_same_without_floods(pieces, tools=TOOLS)


@pytest.mark.parametrize("size", [16, 100_000])
def test_a_flood_of_markers_that_are_longer_than_what_may_be_held_is_text(size: int) -> None:
    text = "<tool_call>" * 60 + CALL
    pieces, limits = in_pieces(text, size), sp.Limits(max_call_args=5)
    assert_same_without_floods(pieces, tools=TOOLS, limits=limits)
    _, response = read(pieces, tools=TOOLS, limits=limits)
    assert response.content == text


@pytest.mark.parametrize("size", [3000, 100_000])
def test_a_long_text_in_a_flood_that_does_not_repeat_itself_is_read_as_without_learning(size: int) -> None:
    others = "".join(f"<tool_call>{number} " for number in range(500))
    assert_same_without_floods(["<tool_call>x "] * 60 + in_pieces(others + CALL, size), tools=TOOLS)


@given(data=st.data())
def test_mixed_floods_are_read_as_without_learning(data: st.DataObject) -> None:
    unit = st.lists(st.sampled_from(UNITS), min_size=1, max_size=3).map("".join)
    part = st.builds(lambda text, count: text * count, unit, st.sampled_from([1, 2, 6, 30, 100]))
    text = "".join(data.draw(st.lists(part, min_size=1, max_size=4)))[:6000]
    pieces = in_pieces(text, data.draw(st.sampled_from([3, 7, 16, 64, 700, 100_000])))
    options = {
        "tools": data.draw(st.sampled_from([None, TOOLS])),
        "dialects": data.draw(st.sampled_from(["auto", "all", ["hermes", "tool-name-tag"], ["harmony"]])),
        "limits": data.draw(st.sampled_from([sp.Limits(), sp.Limits(max_held_text=300)])),
        "quoted": data.draw(st.sampled_from(["text", "calls"])),
        "reasoning": data.draw(st.sampled_from(["auto", "open", "closed"])),
    }
    assert_same_without_floods(pieces, **options)


@pytest.mark.parametrize("marker", ["<tool_call>", "<bash>", "[TOOL_CALLS]"])
def test_a_flood_among_messages_with_thoughts_and_native_calls_is_read_as_without_learning(marker: str) -> None:
    def say(**delta: Any) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}

    function = {"name": "bash", "arguments": "{}"}
    between = [
        say(reasoning_content="Well."),
        say(tool_calls=[{"index": 0, "id": "call_1", "type": "function", "function": function}]),
    ]
    messages = [say(content=marker) for _ in range(60)]
    messages = [*messages, between[0], *messages, between[1], *messages, say(content=CALL)]

    def read_messages() -> tuple[list[sp.Event], sp.ParsedResponse]:
        parser = sp.StreamParser("openai-chat", tools=TOOLS, dialects="all")
        events = [event for message in messages for event in parser.feed(message)]
        return merged([*events, *parser.close()]), parser.response

    learnt = read_messages()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(floods, "_MOST_VAIN", sys.maxsize)
        assert learnt == read_messages()


@pytest.mark.parametrize("size", [1, 2, 5, 16])
def test_a_flood_of_a_long_period_is_learnt_however_short_its_texts_are(size: int) -> None:
    unit = "<｜tool▁calls▁begin｜>" + "x" * 300
    parser = sp.TextParser(tools=TOOLS)
    for piece in in_pieces(unit * 20, size):
        parser.feed(piece)
    pieces = list(in_pieces(unit * 4, size))
    assert sum(count_calls(partial(parser.feed, piece)) for piece in pieces) <= 25 * len(pieces)


@pytest.mark.parametrize("call", [CALL, f"\n{TAGGED}"])
def test_the_same_call_between_the_texts_of_a_flood_is_told_each_time(call: str) -> None:
    pieces = ["<tool_call>x "] * 60 + ["<tool_call>x ", call] * 4
    assert_same_without_floods(pieces, tools=TOOLS)
    _, response = read(pieces, tools=TOOLS)
    assert len(response.tool_calls) == 4


def test_the_last_marker_is_as_far_away_as_the_texts_behind_it_are_long() -> None:
    budget = reader.RescanBudget()
    machine, flood = Machine(budget), floods.Floods(TagBalance(), budget)
    for text in ("<tool>", "<tool>", "words", "words", "<tool>", "words", "<tool>x"):
        flood.feed(machine, reader.Reader(), text)
    flood.end(machine)
    assert machine.recorded == ["<tool>", "<tool>", "words", "<tool>x"]
    assert machine.met == [1 + len("words") + len("<tool>x")]


@st.composite
def _make_floods(draw: st.DrawFn) -> tuple[list[str], dict[str, Any]]:
    """A part of a call, or of two, again and again; what comes before it and behind it; and how it is read."""
    rows = [draw(st.sampled_from(list(sp.DIALECTS.values()))) for _ in range(2)]
    openers = [opener.text for opener in rows[0].openers] + [opener.text for opener in rows[1].openers]
    example, other = (row.example for row in rows)
    unit = draw(st.sampled_from([*openers, example[: draw(st.integers(1, len(example)))], *rows[0].drops, *UNITS]))
    unit = (unit + draw(st.sampled_from(["", "", "\n", " x", *openers]))) or example
    before, after = (
        draw(st.sampled_from(["", example, other, *words])) for words in (("Words. ", "```\n"), ("\n", "x"))
    )
    text = before + unit * (draw(st.sampled_from([200, 700, 2500])) // len(unit) + 3) + after + example
    names = [row.name for row in rows]
    dialects = draw(st.sampled_from(["auto", "all", names[:1], names]))
    quoted = draw(st.sampled_from(["text", "calls"]))
    return in_pieces(text, draw(st.sampled_from([7, 16, 100, 600, 100_000]))), {"dialects": dialects, "quoted": quoted}


@given(_make_floods(), st.booleans())
def test_a_flood_of_any_part_of_any_call_is_read_as_without_learning(
    flood: tuple[list[str], dict[str, Any]], has_tools: bool
) -> None:
    pieces, options = flood
    assert_same_without_floods(pieces, tools=TOOLS if has_tools else None, **options)
