"""Any conversation, however its answers broke, is one that each provider accepts; so is every prefix of it."""

from __future__ import annotations

from typing import Any

import msgspec
from history_answers import WIRES
from history_rules import check_messages
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from thoroughness import usual_examples

import streamparse as sp
from streamparse.response import Mark
from streamparse.writing.parts import Text

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)
SHOWN = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
MODELS = ("", "gemini-2.5-pro", "gemini-3-pro", "other")


def item(kind: str, data: Any, index: int | None = None) -> dict[str, Any]:
    """An item as an answer holds it; most say their kind themselves."""
    return {"kind": kind, "data": {"type": kind, **data} if isinstance(data, dict) else data, "index": index}


ITEMS = {
    "anthropic": [
        item("signature", "sig"),
        item("redacted_thinking", {"data": "x"}),
        item("server_tool_use", {"id": "srv_1", "name": "web_search", "input": {}}),
        item("web_search_tool_result", {"tool_use_id": "srv_1", "content": []}),
        item("citations_delta", {"cited_text": "x"}),
        item("content_block_start", {}),
    ],
    "bedrock": [item("signature", "sig"), item("redactedContent", "eA==")],
    "openai-responses": [
        item("reasoning", {"id": "rs_1", "summary": [], "encrypted_content": "x"}),
        item("phase", "commentary"),
        item("custom_tool_call", {"call_id": "c", "name": "n", "input": "x"}),
        item("computer_call", {"call_id": "d", "action": {}}),
        item("annotation", {"url": "x"}),
    ],
    "gemini": [
        item("thought_signature", "c2ln"),
        item("thought_signature", "c2ln", 0),
        item("thought_signature", "c2ln", 1),
    ],
    "openrouter": [item("reasoning.text", {"text": "x", "signature": "s"}), item("reasoning.encrypted", {"data": "x"})],
    "openai": [item("extra_content", {"google": {"thought_signature": "x"}}, 0)],
    "cohere": [item("tool_plan", "I will look.")],
}
ITEMS["gemini-openapi"] = ITEMS["gemini"]

blanks = st.sampled_from(["", " ", "\n\n"])
words = st.sampled_from(["Hello.", "I will look", "  well ", "ü🎉", "a\nb", "</tool_call>", '{"error":"x"}'])
texts = blanks | words | st.text(st.characters(codec="utf-8"), max_size=12)
ids = st.sampled_from(["", "call_0", "call_1", "call_2", "a b", "ü" * 50, "x" * 200, "toolu_1", "functions.f:0", "\n"])
names = st.sampled_from(["look", "look up", "functions.look", "", "9", "-", "ü", "x" * 200, "a/b", "\n"]) | texts
values = st.one_of(
    texts,
    st.sampled_from([None, 0, [], {}, {"error": "x"}, [SHOWN], [{"type": "text", "text": " "}], [SHOWN, SHOWN]]),
)


@st.composite
def responses(draw: st.DrawFn, provider: str) -> sp.ParsedResponse:
    """An answer with whatever may come in one, in whatever order."""
    content, reasoning = draw(texts), draw(texts)
    calls: list[sp.ToolCall] = []
    broken: list[sp.BrokenCall] = []
    for index in range(draw(st.integers(0, 4))):
        name, id = draw(names), draw(ids)
        if draw(st.integers(0, 3)):
            arguments = draw(st.sampled_from([{}, {"a": 1}, {"b": {"c": "x"}}]))
            calls.append(sp.ToolCall(name, arguments, id, index=index, revoked=not draw(st.integers(0, 3))))
        else:
            code = draw(st.sampled_from(["truncated_call", "invalid_arguments", "limit_args"]))
            broken.append(
                sp.BrokenCall(name, draw(st.sampled_from(["", "{", '{"a": 1', "[1]", "nul"])), id, code, index)
            )
    items = draw(st.lists(st.sampled_from(ITEMS[provider]), max_size=4)) if provider in ITEMS else []
    marks = [("item", place) for place in range(len(items))] + [("call", call.index) for call in (*calls, *broken)]
    places = sorted((draw(st.integers(0, len(content))), draw(st.integers(0, len(reasoning)))) for _ in marks)
    behind = sorted(thought for _, thought in places)
    order = [
        Mark(what, index, text, thought)  # type: ignore[arg-type]
        for (what, index), (text, _), thought in zip(draw(st.permutations(marks)), places, behind, strict=True)
    ]
    return sp.ParsedResponse(
        content=content,
        reasoning=reasoning,
        refusal=draw(st.sampled_from(["", "", "I will not."])),
        tool_calls=calls,
        broken_calls=broken,
        items=items,
        order=order if draw(st.booleans()) else [],
        ok=draw(st.booleans()),
    )


@st.composite
def results(draw: st.DrawFn, response: sp.ParsedResponse) -> list[sp.ToolResult]:
    """Results for some of the calls, in any order, and for some that were never made."""
    made = []
    for call in (*response.tool_calls, *response.broken_calls):
        if not draw(st.integers(0, 4)):
            continue
        error = draw(st.sampled_from([None, None, "", "it failed"]))
        revoked = (isinstance(call, sp.ToolCall) and call.revoked) or not draw(st.integers(0, 6))
        made.append(
            sp.ToolResult(
                call.id, call.name, draw(values) if error is None else None, error, call.index,
                revoked=revoked, attempts=draw(st.integers(0, 1)),
            )
        )  # fmt: skip
    strangers = draw(st.lists(st.builds(sp.ToolResult, ids, names, texts, index=st.just(99)), max_size=1))
    return draw(st.permutations([*made, *strangers]))


@st.composite
def rounds(draw: st.DrawFn) -> dict[str, Any]:
    """What `with_round` takes."""
    provider = draw(st.sampled_from([*WIRES]))
    response = draw(responses(provider))
    visible = response.content + response.refusal
    prefix = visible[: draw(st.integers(0, len(visible)))]
    return {
        "response": response,
        "results": draw(results(response)),
        "provider": provider,
        "model": draw(st.sampled_from(MODELS)),
        "heard": draw(st.sampled_from([None, None, prefix, "something else"])),
    }


prompts = st.lists(texts | st.just(sp.Image(PNG)) | st.just(sp.Document(b"%PDF-")), max_size=3) | texts
steps = st.lists(prompts | rounds(), max_size=6)


def histories(steps: list[Any]) -> list[sp.History]:
    """The history after each step."""
    made = [sp.History(system="Be brief.")]
    for step in steps:
        made.append(made[-1].with_round(**step) if isinstance(step, dict) else made[-1].with_prompt(step))
    return made


def check(history: sp.History) -> None:
    """Assert the rules of each provider, and that each call that stands is there."""
    for provider in WIRES:
        for model in MODELS if provider in ("gemini", "anthropic") else ("",):
            messages = history.messages(provider, model)
            if len(messages) > 1 or not history.system:
                check_messages(provider, messages, model)
    turns = history.turns("openai")
    assert sum(len(turn.calls) for turn in turns) == sum(map(standing, history.rounds))


def standing(entry: sp.runtime.Round) -> int:
    """How many calls of a round neither were revoked nor stayed open."""
    response = entry.response
    revoked = {result.index for result in entry.results if result.revoked}
    calls = [call for call in response.tool_calls if not call.revoked and call.index not in revoked]
    return len(calls) + sum(call.code != "truncated_call" for call in response.broken_calls)


@usual_examples(60)
@given(steps)
def test_every_prefix_of_every_conversation_is_accepted_by_each_provider(steps: list[Any]) -> None:
    for history in histories(steps)[1:]:
        check(history)


def _leave_out_texts(entry: sp.runtime.Round) -> sp.runtime.Round:
    """A round without the texts of its results: where the tokens do not suffice, these are cut."""
    return replace(entry, results=tuple(replace(result, result=None) for result in entry.results))


@usual_examples(60)
@given(steps, st.integers(0, 5), st.integers(0, 3000), st.booleans(), prompts)
def test_so_is_what_a_truncation_leaves(steps: list[Any], most: int, tokens: int, by_tokens: bool, prompt: Any) -> None:
    whole = histories(steps)[-1]
    history = whole.truncated(tokens=tokens) if by_tokens else whole.truncated(rounds=most)
    if history.entries:
        check(history)
    check(history.with_prompt(prompt))
    kept = whole.rounds[len(whole.rounds) - len(history.rounds) :]
    assert [*map(_leave_out_texts, history.rounds)] == [*map(_leave_out_texts, kept)]
    assert by_tokens or history.rounds == kept
    assert history.omitted == len(whole.rounds) - len(history.rounds)
    assert len(history.rounds) >= min(1, len(whole.rounds))
    assert by_tokens or len(history.rounds) <= max(most, 1)


@usual_examples(60)
@given(steps)
def test_what_stands_earlier_in_a_conversation_never_changes_by_what_comes_later(steps: list[Any]) -> None:
    before: list[Any] = []
    for history in histories(steps):
        turns = history.turns("openai")
        assert [turn.role for turn in turns[: len(before)]] == [turn.role for turn in before]
        ids = [call.id for turn in turns for call in turn.calls]
        assert ids[: sum(len(turn.calls) for turn in before)] == [call.id for turn in before for call in turn.calls]
        before = turns


@usual_examples(60)
@given(steps)
def test_every_history_survives_json(steps: list[Any]) -> None:
    history = histories(steps)[-1]
    again = msgspec.json.decode(msgspec.json.encode(history), type=sp.History)
    assert again == history
    assert again.turns("anthropic") == history.turns("anthropic")


@usual_examples(60)
@given(rounds())
def test_of_what_was_not_heard_nothing_is_sent(step: dict[str, Any]) -> None:
    (turn,) = [each for each in sp.History().with_round(**step).turns("anthropic") if each.role == "assistant"]
    visible = step["response"].content + step["response"].refusal
    said = visible if step["heard"] is None else step["heard"]
    text = "".join(part.text for part in turn.parts if isinstance(part, Text))
    assert text.split() in (said.split(), ["(no", "answer)"])
