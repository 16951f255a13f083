"""`allow`: what may run although it would not, said in one place for a turn, a runner and an agent."""

import pytest
from scripted import Scripted, says

import streamparse as sp
from streamparse.runtime.turn import Turn

pytestmark = pytest.mark.anyio


@sp.tool(effect="read")
async def double(n: int) -> int:
    """Double a number."""
    return 2 * n


def make_agent(**options):
    return sp.Agent(Scripted(says("hi")), [double], **options)


def make_runner(**options):
    return sp.ToolRunner([double], **options)


def make_turn(**options):
    return Turn([double], **options)


MAKERS = pytest.mark.parametrize("make", [make_turn, make_runner, make_agent], ids=["turn", "runner", "agent"])
WORDS = ["recovered", "repaired", "quoted", "divided"]


@MAKERS
@pytest.mark.parametrize("allow", [(), WORDS, set(WORDS), {"quoted": 1}], ids=["empty", "list", "set", "dict"])
def test_a_collection_of_the_words_is_taken(make, allow):
    make(allow=allow)


@MAKERS
@pytest.mark.parametrize(
    "allow", ["quoted", b"quoted", None, True, iter(["quoted"])], ids=["str", "bytes", "None", "bool", "iterator"]
)
def test_a_plain_string_and_what_is_no_collection_are_refused(make, allow):
    with pytest.raises(TypeError, match="a collection of words"):
        make(allow=allow)


@MAKERS
@pytest.mark.parametrize("word", ["trailing", "Quoted", "", 1])
def test_a_word_that_is_not_known_is_refused_with_those_that_are(make, word):
    with pytest.raises(ValueError, match="'recovered', 'repaired', 'quoted', 'divided'"):
        make(allow=["quoted", word])


OLD = {"run_recovered": '"recovered", "repaired"', "run_quoted": '"quoted",', "trailing": '"divided",'}


@MAKERS
@pytest.mark.parametrize("keyword", OLD)
def test_an_old_keyword_is_refused_with_the_new_one(make, keyword):
    with pytest.raises(TypeError, match=f"{keyword}.*use allow=.{OLD[keyword]}"):
        make(**{keyword: True})


@MAKERS
def test_any_other_keyword_is_refused_as_ever(make):
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'retries'"):
        make(retries=3)


QUOTED = 'I call it:\n```\n<tool_call>\n{"name": "double", "arguments": {"n": 4}}\n</tool_call>\n```\n'


@pytest.mark.parametrize(("allow", "ran"), [([], []), (["quoted"], [8])])
async def test_an_agent_that_may_run_quoted_calls_reads_them_too(allow, ran):
    model = Scripted(says(QUOTED), says("done"))
    async with sp.Agent(model, [double], allow=allow).run("?") as run:
        results = [item.result async for item in run if isinstance(item, sp.ToolResult)]
    assert results == ran
