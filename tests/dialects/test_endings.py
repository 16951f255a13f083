"""What ends a call or a turn is no text next to a call, and text before other text."""

from __future__ import annotations

import pytest
from cuts import assert_same_in_every_cut, calls_of, revoked_of, text_of

import streamparse as sp
from streamparse.dialects.table import ENDINGS, TURN_ENDS

TOOLS = [{"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}]
BARE = '{"name": "look", "arguments": {"at": "sea"}}'
MARKED = f"<tool_call>\n{BARE}\n</tool_call>"
TAGGED = "<tool_call>\n<function=look>\n<parameter=at>\nsea\n</parameter>\n</function>\n</tool_call>"
INVOKED = '<invoke name="look">\n<parameter name="at">sea</parameter>\n</invoke>'
UNTAGGED = TAGGED.removeprefix("<tool_call>\n").removesuffix("\n</tool_call>")
CALLS = {"marked": MARKED, "tagged": TAGGED, "invoked": INVOKED}


def _read(text: str, most: int | None = 4) -> tuple[int, str]:
    """How many calls stand, and what is text, in every cut."""
    events = assert_same_in_every_cut(lambda: sp.TextParser(tools=TOOLS), text, most=most)
    return len(calls_of(events)) - len(revoked_of(events)), text_of(events)


@pytest.mark.parametrize("kind", CALLS)
def test_an_ending_at_the_end_or_before_a_call_is_no_text(kind: str) -> None:
    call = CALLS[kind]
    for ending in sorted(ENDINGS):
        for gap in ("", "\n"):
            assert _read(f"{call}{gap}{ending}{gap}") == (1, ""), ending
        assert _read(f"{call}\n{ending}\n{call}") == (2, ""), ending


def test_at_the_end_of_a_bare_call_the_end_of_a_turn_is_no_text_and_the_end_of_a_call_is() -> None:
    for ending in sorted(ENDINGS):
        answer = f"{BARE}\n{ending}\n"
        assert _read(answer) == ((1, "") if ending in TURN_ENDS else (0, answer)), ending


def test_the_end_of_a_block_that_was_not_opened_is_no_text() -> None:
    for ending in ("</tool_call>", "</seed:tool_call>"):
        assert _read(f"{UNTAGGED}\n{ending}<|im_end|>\n") == (1, ""), ending


@pytest.mark.parametrize(
    "ending",
    [
        *("</tool_call>", "<tool_call>", "</tool_calls>", "</function>", "</function_invocation>"),
        *("</minimax:tool_call>", "</seed:tool_call>", "<|/tool_call|>"),
        *("<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "<|end|>", "<end_of_turn>", "</s>"),
        *("<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>", "<|role_end|>", "[|endofturn|]", "[e~[", "<seed:eos>"),
        "<|hy_eos:opensource|>",
    ],
)
def test_what_models_write_behind_their_last_call_is_no_text(ending: str) -> None:
    parser = sp.TextParser(tools=TOOLS)
    parser.feed(f"Hm. {MARKED}\n{ending}\n")
    parser.close(stopped=True)
    assert (len(parser.response.tool_calls), parser.response.content) == (1, "Hm. ")


@pytest.mark.parametrize("kind", CALLS)
def test_several_endings_are_as_one(kind: str) -> None:
    assert _read(f"{CALLS[kind]}\n</function>\n</function_invocation>\n</tool_call>\n<|im_end|>\n") == (1, "")


@pytest.mark.parametrize("ending", ["</tool_call>", "<tool_call>", "</function>", "[e~[", "<|role_end|>"])
def test_before_text_an_ending_is_text(ending: str) -> None:
    assert _read(f"{MARKED}\n{ending}\nThat is all.") == (1, f"\n{ending}\nThat is all.")
    assert _read(f"{BARE}\n{ending}\nThat is all.") == (0, f"{BARE}\n{ending}\nThat is all.")
    assert _read(f"That is {ending}") == (0, f"That is {ending}")


def test_an_opener_behind_a_call_whose_call_is_none_is_text() -> None:
    rest = "\n<tool_call>\nnow go and see\n</tool_call>"
    assert _read(MARKED + rest) == (1, rest)


def test_the_end_of_a_call_that_was_revoked_is_text_behind_it() -> None:
    assert _read(f"Hm. {MARKED}</tool_call>\n</think>So.") == (0, f"Hm. {MARKED}</tool_call>\nSo.")


@pytest.mark.parametrize(("count", "is_text"), [(16, False), (17, True)])
def test_at_most_16_endings_wait_for_what_follows(count: int, is_text: bool) -> None:
    rest = "</tool_call>" * count
    assert _read(MARKED + rest) == (1, rest if is_text else "")
    rest = "<|eot|>" * count
    assert _read(BARE + rest) == ((0, BARE + rest) if is_text else (1, ""))


def test_endings_before_more_blanks_than_wait_are_text() -> None:
    rest = "</tool_call>" + " " * 257
    assert _read(MARKED + rest + MARKED) == (2, rest)


def test_a_cut_answer_gives_back_no_ending_of_a_call_that_stands() -> None:
    parser = sp.TextParser(tools=TOOLS)
    events = [*parser.feed(f"{MARKED}\n</tool_call>"), *parser.close()]
    assert (len(calls_of(events)), text_of(events)) == (1, "")


def test_in_a_cut_answer_the_beginning_of_another_call_is_text() -> None:
    parser = sp.TextParser(tools=TOOLS)
    events = [*parser.feed(f"{MARKED}\n<tool_call>\n"), *parser.close()]
    assert (len(calls_of(events)), text_of(events)) == (1, "\n<tool_call>\n")


def test_of_a_quoted_call_the_endings_are_text() -> None:
    text = f"As shown:\n```\n{MARKED}\n</tool_call>\n```\n"
    assert _read(text) == (0, text)
    line = f"> {MARKED.replace(chr(10), ' ')}</tool_call>"
    assert _read(line) == (0, line)


@pytest.mark.parametrize("call", [MARKED + "</function>", BARE])
def test_the_blanks_of_a_message_come_after_what_is_held_before_them_in_every_cut(call: str) -> None:
    assert _read(f"{call}<|channel|>final<|message|> hi")[1].endswith(" hi")


def test_before_a_thought_or_a_native_call_an_ending_is_no_text() -> None:
    assert _read(f"{MARKED}</function><think>Hm.</think> More.") == (1, " More.")
    for delta in ({"reasoning_content": "Hm."}, {"tool_calls": [{"index": 0, "function": {"name": "look"}}]}):
        deltas = ({"content": f"{MARKED}</function>"}, delta, {"content": " More."})
        parser = sp.StreamParser("openai-chat", tools=TOOLS, dialects=["hermes"])
        events = [event for each in deltas for event in parser.feed({"choices": [{"index": 0, "delta": each}]})]
        assert text_of(events) == " More."


def test_the_text_of_a_revoked_call_keeps_the_end_of_the_turn() -> None:
    for ending in ("<|im_end|>", "<|eot|>"):
        assert _read(f"{BARE}\n{ending}\nMore.") == (0, f"{BARE}\n{ending}\nMore."), ending


def test_a_bare_call_before_the_end_of_a_thought_that_nothing_opened_is_revoked() -> None:
    assert _read(f"{BARE}\n</think>\n\n") == (0, f"{BARE}\n\n\n")
    assert _read(f"{BARE}\n</think>\n\n{MARKED}") == (1, f"{BARE}\n\n\n")


@pytest.mark.parametrize("ending", ["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "</s>"])
def test_behind_text_that_follows_a_bare_call_the_end_of_the_turn_is_no_text(ending: str) -> None:
    assert _read(f"{BARE}\nMore.{ending}") == (0, f"{BARE}\nMore.")
    assert _read(f"{MARKED}\nMore.{ending}") == (
        1,
        "\nMore." + ending * (ending not in ("<|im_end|>", "<|endoftext|>")),
    )
