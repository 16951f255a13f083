"""A history is accepted by every provider, whoever gave its answers, and wherever they were cut."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import msgspec
import pytest
from call_counts import count_calls
from history_answers import WIRES, answer_of, results_of
from history_rules import check_messages
from history_types import check_types, has_types

import streamparse as sp
from streamparse.repair import answer_broken
from streamparse.response import Mark
from streamparse.runtime.messages import NO_PROMPT, NO_RESULT
from streamparse.runtime.rounds import OUTCOME_UNKNOWN
from streamparse.writing.parts import Text

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)
PDF = b"%PDF-1.7\n"
NO_ANSWER = "(no answer)"


def asked(*prompt: Any) -> sp.History:
    """A history of one prompt."""
    return sp.History(system="Be brief.").with_prompt([*(prompt or ("Hello",))])


def called(*ids: str, **fields: Any) -> sp.ParsedResponse:
    """An answer that calls a tool for each id."""
    calls = [sp.ToolCall("look", {"n": number}, id, index=number) for number, id in enumerate(ids)]
    return sp.ParsedResponse(tool_calls=calls, **{"ok": True, **fields})


def said(text: str, **fields: Any) -> sp.ParsedResponse:
    """An answer of text."""
    return sp.ParsedResponse(content=text, **{"ok": True, **fields})


def result(id: str, value: Any = "done", index: int = 0, **fields: Any) -> sp.ToolResult:
    """The result of a call of `called`."""
    return sp.ToolResult(id, "look", value, index=index, **fields)


def check(history: sp.History) -> None:
    """Assert that each provider accepts the history."""
    for provider in WIRES:
        for model in ("", "gemini-3-pro"):
            messages = history.messages(provider, model)
            check_messages(provider, messages, model)
            if has_types(provider):
                check_types(provider, messages)


# -- from each provider to each ----------------------------------------------------------------------------


@pytest.mark.parametrize("target", WIRES)
@pytest.mark.parametrize("source", WIRES)
def test_an_answer_of_each_provider_goes_to_each_other(source: str, target: str) -> None:
    answer = answer_of(source)
    assert len(answer.tool_calls) == 2, answer
    history = asked("Where?", sp.Image(PNG))
    for _ in range(2):
        history = history.with_round(answer, results_of(answer), provider=source).with_prompt("And then?")
    messages = history.messages(target)
    check_messages(target, messages)
    check_types(target, messages)


@pytest.mark.parametrize("provider", WIRES)
def test_the_own_provider_gets_its_thoughts_and_signatures_back(provider: str) -> None:
    answer = answer_of(provider)
    history = asked().with_round(answer, results_of(answer), provider=provider)
    (own,) = [turn for turn in history.turns(provider) if turn.role == "assistant"]
    assert own.thought.strip() == answer.reasoning
    assert [part.kind for part in own.parts if hasattr(part, "kind")] == [item["kind"] for item in answer.items]


@pytest.mark.parametrize(
    ("source", "target"), [("anthropic", "bedrock"), ("gemini", "anthropic"), ("cohere", "openai")]
)
def test_another_provider_gets_no_thought_no_signature_and_no_item_and_that_is_told(source: str, target: str) -> None:
    answer = answer_of(source)
    history = asked().with_round(answer, results_of(answer), provider=source)
    (foreign,) = [turn for turn in history.turns(target) if turn.role == "assistant"]
    assert not foreign.thought
    assert not [part for part in foreign.parts if hasattr(part, "kind")]
    lost = {loss.keyword for loss in history.translate(target).lost}
    assert {item["kind"] for item in answer.items} <= lost


def test_another_model_of_the_provider_gets_no_signature() -> None:
    answer = answer_of("anthropic")
    history = asked().with_round(answer, results_of(answer), provider="anthropic", model="claude-a")
    assert "signature" in json.dumps(history.messages("anthropic", "claude-a"))
    assert "signature" in json.dumps(history.messages("anthropic"))
    assert "signature" not in json.dumps(history.messages("anthropic", "claude-b"))


def test_of_an_answer_of_nobody_known_the_kinds_of_its_items_say_whose_they_are() -> None:
    answer = answer_of("anthropic")
    history = asked().with_round(answer, results_of(answer))
    assert "signature" in json.dumps(history.messages("anthropic"))
    assert "signature" not in json.dumps(history.messages("gemini"))


def test_the_third_gemini_gets_a_signature_for_the_calls_of_others_and_the_second_none() -> None:
    history = asked().with_round(called("a", "b"), [result("a"), result("b", index=1)], provider="openai")
    assert json.dumps(history.messages("gemini", "gemini-3-pro")).count("skip_thought_signature_validator") == 1
    assert "Signature" not in json.dumps(history.messages("gemini", "gemini-2.5-pro"))
    assert "Signature" not in json.dumps(history.messages("gemini"))


def test_deepseek_gets_a_thought_for_the_calls_of_others() -> None:
    history = asked().with_round(called("a"), [result("a")], provider="openai").with_round(said("Good."))
    answers = [each for each in history.messages("deepseek") if each["role"] == "assistant"]
    assert [each["reasoning_content"] for each in answers] == [" ", " "]
    plain = asked().with_round(said("Good."))
    assert "reasoning_content" not in json.dumps(plain.messages("deepseek"))


def test_between_results_and_a_prompt_mistral_gets_an_answer() -> None:
    history = asked().with_round(called("a"), [result("a")]).with_prompt("Stop.")
    roles = [message["role"] for message in history.messages("mistral")]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    check(history)


# -- calls and results -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ids", [("call_0", "call_0"), ("", ""), ("a b", "ü" * 200), ("call_1", "call_0")])
def test_ids_that_repeat_or_are_refused_are_replaced_in_calls_and_results(ids: tuple[str, ...]) -> None:
    history = asked()
    for _ in range(3):
        results = [result(id, f"result {number}", number) for number, id in enumerate(ids)]
        history = history.with_round(called(*ids), results)
    check(history)
    turns = history.turns("anthropic")
    values = [[each.result for each in turn.results] for turn in turns if turn.results]
    assert values == [["result 0", "result 1"]] * 3


def test_ids_stay_where_the_provider_takes_them_and_they_are_the_only_ones() -> None:
    history = asked().with_round(called("toolu_1", "toolu_2"), [result("toolu_1"), result("toolu_2", index=1)])
    (turn,) = [turn for turn in history.turns("anthropic") if turn.calls]
    assert [call.id for call in turn.calls] == ["toolu_1", "toolu_2"]


def test_the_ids_of_a_history_are_those_of_every_longer_one() -> None:
    short = asked().with_round(called("x", ""), [result("x"), result("", index=1)])
    long = short.with_prompt("More").with_round(called("x", "call_0"))
    assert long.messages("openai")[: len(short.messages("openai"))] == short.messages("openai")


def test_results_find_their_calls_in_any_order_by_id_alone() -> None:
    calls = called("a", "b", "c")
    history = asked().with_round(calls, [sp.ToolResult("c", "look", 3), sp.ToolResult("a", "look", 1)])
    (turn,) = [turn for turn in history.turns("anthropic") if turn.results]
    assert [each.result for each in turn.results] == [1, None, 3]
    assert turn.results[1].error == OUTCOME_UNKNOWN
    check(history)


def test_a_result_of_another_call_is_not_taken_because_its_index_fits() -> None:
    history = asked().with_round(called("a"), [sp.ToolResult("z", "look", 1)])
    (turn,) = [turn for turn in history.turns("anthropic") if turn.results]
    assert [each.error for each in turn.results] == [OUTCOME_UNKNOWN]


@pytest.mark.parametrize("name", ["functions.look", "look up", "", "9", "-", "ü", "x" * 100, "a/b:c"])
def test_odd_names_are_made_fit_for_each_provider_in_calls_and_results(name: str) -> None:
    answer = sp.ParsedResponse(tool_calls=[sp.ToolCall(name, {}, "a")], ok=True)
    check(asked().with_round(answer, [sp.ToolResult("a", name, error="there is no such tool")]))


def test_a_broken_call_stands_with_its_complaint_as_its_result() -> None:
    broken = sp.BrokenCall("look", '{"n": [1}', "a", "invalid_arguments")
    history = asked().with_round(sp.ParsedResponse(broken_calls=[broken], ok=True))
    turn = history.turns("anthropic")[-1]
    assert "not a JSON object" in str(turn.results[0].error)
    check(history)


def test_a_call_that_never_closed_leaves_with_its_result_and_that_is_said_behind_the_other_results() -> None:
    answer = called("a", broken_calls=[sp.BrokenCall("save", '{"te', "b", "truncated_call", 1)], ok=False)
    history = asked().with_round(answer, [result("a"), sp.ToolResult("b", "save", error="cut: 'save'", index=1)])
    calling, answering = history.turns("anthropic")[-2:]
    assert [call.id for call in calling.calls] == ["a"]
    assert [each.call_id for each in answering.results] == ["a"]
    assert answering.text == "[cut: 'save']"
    check(history)
    history = asked().with_round(answer, [result("a")])
    assert f"[{answer_broken(answer.broken_calls[0]).error}]" == history.turns("anthropic")[-1].text


def test_of_a_cut_answer_unsigned_thoughts_go_and_signed_ones_stay() -> None:
    signed = sp.ParsedResponse(
        reasoning="One. Two.",
        items=[{"kind": "signature", "data": "sig", "index": None}],
        order=[sp.response.Mark("item", 0, 0, 4)],
        content="Well",
    )
    (turn,) = [turn for turn in asked().with_round(signed).turns("anthropic") if turn.role == "assistant"]
    assert turn.thought == "One."
    unsigned = sp.ParsedResponse(reasoning="Hm.", content="Well")
    (turn,) = [turn for turn in asked().with_round(unsigned).turns("ollama") if turn.role == "assistant"]
    assert (turn.thought, turn.text) == ("", "Well")


def test_a_revoked_call_leaves_with_its_result_and_what_had_begun_is_said() -> None:
    call = sp.ToolCall("look", {}, "a", revoked=True)
    began = result("a", error="it had begun; it was cancelled", revoked=True, attempts=1)
    history = asked().with_round(sp.ParsedResponse(content="Hm", tool_calls=[call], ok=False), [began])
    assert not any(turn.calls or turn.results for turn in history.turns("openai"))
    assert "had begun; it was cancelled" in history.turns("openai")[-1].text
    check(history)


def test_of_a_revoked_call_that_ran_to_its_end_what_it_did_is_said_to_stand() -> None:
    call = sp.ToolCall("look", {}, "a", revoked=True)
    history = asked().with_round(said("Hm", tool_calls=[call]), [result("a", revoked=True, attempts=1)])
    assert "ran to its end: what it did stands" in history.turns("openai")[-1].text
    check(history)


def test_a_revoked_call_that_never_began_leaves_no_word() -> None:
    call = sp.ToolCall("look", {}, "a", revoked=True)
    history = asked().with_round(said("Hm", tool_calls=[call]), [result("a", None, error="not run", revoked=True)])
    assert [turn.text for turn in history.turns("openai")] == ["Be brief.", "Hello", "Hm"]


def test_a_result_that_is_revoked_takes_its_call_along() -> None:
    history = asked().with_round(called("a", "b"), [result("a", revoked=True), result("b", index=1)])
    (turn,) = [turn for turn in history.turns("openai") if turn.calls]
    assert [call.id for call in turn.calls] == ["b"]
    check(history)


def test_reasoning_of_responses_whose_call_leaves_goes_with_it() -> None:
    answer = sp.ParsedResponse(
        items=[{"kind": "reasoning", "data": {"type": "reasoning", "id": "rs_1", "summary": []}, "index": None}],
        order=[sp.response.Mark("item", 0, 0, 0)],
        broken_calls=[sp.BrokenCall("look", "{", "a", "truncated_call")],
    )
    history = asked().with_round(answer, provider="openai-responses")
    assert "rs_1" not in json.dumps(history.messages("openai-responses"))
    check(history)


def test_a_search_of_the_server_that_the_cut_left_without_its_result_goes() -> None:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    answer = said("Hm", items=[{"kind": "server_tool_use", "data": use, "index": None}])
    paused = asked().with_round(answer, provider="anthropic")
    assert "srvtoolu_1" in json.dumps(paused.messages("anthropic"))
    assert "srvtoolu_1" not in json.dumps(paused.with_prompt("Go on").messages("anthropic"))
    cut = asked().with_round(msgspec.structs.replace(answer, ok=False), provider="anthropic")
    assert "srvtoolu_1" not in json.dumps(cut.messages("anthropic"))


# -- nothing empty, roles in turn --------------------------------------------------------------------------


@pytest.mark.parametrize("empty", ["", " \n"])
def test_an_answer_a_prompt_and_a_result_of_nothing_say_so(empty: str) -> None:
    history = sp.History().with_prompt(empty).with_round(said(empty)).with_prompt(empty)
    assert [turn.text for turn in history.turns("openai")] == [NO_PROMPT, NO_ANSWER, NO_PROMPT]
    history = history.with_round(called("a"), [result("a", empty)])
    assert history.turns("openai")[-1].results[0].result == NO_RESULT
    check(history)
    check(sp.History(system=empty).with_prompt([]))


def test_two_prompts_in_a_row_are_one_message() -> None:
    history = sp.History().with_prompt("One").with_prompt(["Two", sp.Image(PNG), sp.Document(PDF, name="x")])
    (turn,) = history.turns("openai")
    assert turn.text == "OneTwo"
    assert [type(part) for part in turn.parts] == [Text, Text, sp.Image, sp.Document]
    check(history)


def test_two_answers_in_a_row_are_one_message_and_one_without_a_prompt_gets_one() -> None:
    history = sp.History().with_round(said("One, ", ok=False)).with_round(said("two"))
    assert [(turn.role, turn.text) for turn in history.turns("openai")] == [
        ("user", NO_PROMPT),
        ("assistant", "One, two"),
    ]
    check(history)


def test_a_refusal_is_text() -> None:
    history = asked().with_round(said("", refusal="I will not."))
    assert history.turns("openai")[-1].text == "I will not."
    check(history)


@pytest.mark.parametrize("kind", [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}])
def test_pictures_in_results_reach_each_provider(kind: Any) -> None:
    history = asked().with_round(called("a", "b"), [result("a", [kind]), result("b", [kind], 1)])
    check(history.with_prompt("What is it?"))


@pytest.mark.parametrize("prompt", [3, None, [b"x"], {"role": "user"}, [{"role": "user"}]])
def test_a_prompt_of_another_type_is_refused(prompt: Any) -> None:
    with pytest.raises(TypeError, match=r"is text, an Image"):
        sp.History().with_prompt(prompt)


def test_an_unknown_provider_is_refused_with_the_known_names() -> None:
    for act in (
        lambda: sp.History().with_round(said("x"), provider="nobody"),
        lambda: sp.History().messages("nobody"),
        lambda: sp.History().turns("nobody"),
    ):
        with pytest.raises(ValueError, match="known are: openai"):
            act()


# -- what was heard ----------------------------------------------------------------------------------------

SPOKEN = "Hello there.  I will\nlook it up."


@pytest.mark.parametrize(
    ("heard", "kept"),
    [
        (None, SPOKEN),
        ("", NO_ANSWER),
        ("Hello there.", "Hello there."),
        ("Hello there. I will look", "Hello there.  I will\nlook"),
        (" Hello  there.\n", "Hello there."),
        (SPOKEN, SPOKEN),
        ("Good day", "Good day"),
        (SPOKEN + " More", SPOKEN + " More"),
    ],
)
def test_of_a_cancelled_answer_only_what_was_heard_stays(heard: str | None, kept: str) -> None:
    history = asked().with_round(said(SPOKEN), heard=heard)
    assert history.turns("openai")[-1].text == kept
    check(history)


def test_calls_stay_though_the_text_before_them_was_not_heard() -> None:
    answer = answer_of("anthropic")
    history = asked().with_round(answer, results_of(answer), provider="anthropic", heard="I")
    (turn,) = [turn for turn in history.turns("anthropic") if turn.role == "assistant"]
    assert (turn.text, len(turn.calls)) == ("I", 2)
    check(history)


@pytest.mark.parametrize(("heard", "stays"), [(None, True), ("It rains.", True), ("It", False), ("It snows.", False)])
def test_what_is_said_about_a_text_stays_only_with_all_of_it(heard: str | None, stays: bool) -> None:
    citation = {"kind": "citations_delta", "data": {"type": "char_location", "cited_text": "rain"}, "index": 0}
    answer = said("It rains.", items=[citation], order=[Mark("item", 0, 9, 0)])
    history = asked().with_round(answer, provider="anthropic", heard=heard)
    assert ("cited_text" in str(history.messages("anthropic"))) is stays


# -- truncation --------------------------------------------------------------------------------------------


def talk(rounds: int) -> sp.History:
    """A task, and rounds with a prompt before each third of them."""
    history = sp.History(system="Be brief.").with_prompt("The task")
    for number in range(rounds):
        if number and number % 3 == 0:
            history = history.with_prompt(f"Prompt {number}")
        history = history.with_round(called(f"id{number}"), [result(f"id{number}", f"result {number}")])
    return history


@pytest.mark.parametrize("kept", range(1, 9))
def test_so_many_rounds_stay_and_the_task_the_system_and_the_prompt_they_answer_do(kept: int) -> None:
    whole = talk(8)
    history = whole.truncated(rounds=kept)
    assert history.rounds == whole.rounds[-kept:]
    assert history.omitted == 8 - kept
    system, task, *_ = history.turns("openai")
    assert system.text == "Be brief."
    assert task.text.startswith("The task")
    asked_last = {1: 6, 2: 6, 3: 3, 4: 3, 5: 3, 6: 0, 7: 0, 8: 0}[kept]
    assert asked_last == 0 or task.text.endswith(f"Prompt {asked_last}")
    check(history)
    check(history.with_prompt("Next"))


def test_what_was_left_out_is_said_once_however_often_it_was_truncated() -> None:
    history = talk(8).truncated(rounds=6).truncated(rounds=3)
    text = history.turns("openai")[1].text
    assert text.count("left out") == 1
    assert "5 earlier answers" in text
    assert "left out" not in talk(8).truncated(rounds=8).turns("openai")[1].text


def test_no_more_tokens_stay_than_asked_for_and_as_many_rounds_as_fit() -> None:
    whole = talk(20)
    kept = [len(whole.truncated(tokens=tokens, count_tokens=len).rounds) for tokens in range(0, 4000, 20)]
    assert kept == sorted(kept)
    assert kept[0] == 1
    assert kept[-1] == 20
    assert len({*kept}) > 10


def test_a_counter_of_ones_own_is_used_and_without_one_a_token_is_three_bytes() -> None:
    history = sp.History().with_prompt("x" * 300).with_round(said("y" * 300)).with_round(said("z" * 300))
    assert len(history.truncated(tokens=350).rounds) == 2
    assert len(history.truncated(tokens=300).rounds) == 1
    assert len(history.truncated(tokens=1000, count_tokens=len).rounds) == 2
    assert len(history.truncated(tokens=900, count_tokens=len).rounds) == 1
    assert len(history.truncated(tokens=20, count_tokens=lambda _: 1).rounds) == 2


def test_a_picture_and_a_pdf_count() -> None:
    for part in (sp.Image(PNG), sp.Document(PDF)):
        history = asked().with_round(said("a")).with_prompt(part).with_round(said("b")).with_round(said("c"))
        assert len(history.truncated(tokens=1500).rounds) == 1
        assert len(history.truncated(tokens=2000).rounds) == 3


def test_the_latest_round_stays_with_what_follows_it_however_large_they_are() -> None:
    history = talk(5).with_prompt("Next " * 1000).truncated(tokens=1)
    assert len(history.rounds) == 1
    assert history.turns("openai")[-1].text.startswith("Next")
    check(history)


def test_results_of_the_latest_round_are_cut_where_they_are_too_large_the_longest_first() -> None:
    calls = [sp.ToolCall("look", {}, f"c{index}", index=index) for index in range(3)]
    values = ["x" * 90_000, {"text": "y" * 60_000}, "short"]
    results = [
        sp.ToolResult(call.id, "look", value, index=call.index) for call, value in zip(calls, values, strict=True)
    ]
    answer = sp.ParsedResponse(tool_calls=calls, ok=True, finish_reason="tool_calls")
    history = asked().with_round(answer, results).truncated(tokens=8000, count_tokens=len)
    first, second, third = history.rounds[0].results
    assert 3000 < len(first.result) == len(second.result) < 4000
    assert "characters are left out here" in first.result
    assert (first.truncated, third.result, third.truncated) == (True, "short", False)
    check(history)


def test_what_asks_for_no_truncation_changes_nothing_and_less_than_nothing_is_refused() -> None:
    whole = talk(3)
    assert whole.truncated() == whole == whole.truncated(rounds=5, tokens=10**6)
    assert sp.History().truncated(rounds=0, tokens=0) == sp.History()
    with pytest.raises(ValueError, match="negative"):
        whole.truncated(tokens=-1)


def test_the_work_of_leaving_rounds_out_grows_as_the_conversation() -> None:
    short, long = (count_calls(partial(talk(count).truncated, tokens=100)) for count in (50, 200))
    assert long < 5 * short


# -- the record itself -------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", WIRES)
def test_a_history_survives_json(source: str) -> None:
    answer = answer_of(source)
    history = asked("a", sp.Image(PNG), sp.Document(PDF)).with_round(answer, results_of(answer), provider=source)
    history = history.with_prompt("b").with_round(said("c"), heard="c").truncated(rounds=1)
    again = msgspec.json.decode(msgspec.json.encode(history), type=sp.History)
    assert again == history
    assert again.messages(source) == history.messages(source)


def test_a_history_never_changes_though_the_parser_reads_on() -> None:
    parser = sp.StreamParser("ollama-chat")
    parser.feed({"message": {"content": "One"}})
    history = asked().with_round(parser.response)
    before = history.messages("openai")
    parser.feed({"message": {"content": " two", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}})
    parser.close()
    assert history.messages("openai") == before
    with pytest.raises(AttributeError):
        history.system = "x"  # type: ignore[misc]
