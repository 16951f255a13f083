"""A request to a model that is told of tools by text: its server knows none.

The system's turn teaches the tools, calls of the history become what the model would have written, and results become
text of the user, with their pictures behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, groupby, pairwise
from typing import TypeGuard

import msgspec
from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.providers.adapters import ADAPTERS
from streamparse.response import ToolCall
from streamparse.tools import ToolResult
from streamparse.writing.content import shown, spoken
from streamparse.writing.defanging import defang
from streamparse.writing.parts import Image, Item, Part, Text, Turn
from streamparse.writing.prompts import PROMPTS
from streamparse.writing.request import Choice, Request

__all__ = ["check_prompt", "teach_tools"]


def teach_tools(request: Request, dialect: str, lost: list[Loss]) -> Request:
    """Return the same request to a model that knows of tools only by text; adds what cannot be said so.

    Raises ValueError for a dialect that has no prompt.
    """
    check_prompt(dialect)
    tools = [declared.tool for declared in ADAPTERS["generic"].taken(request.tools, lost)]
    prompt = PROMPTS[dialect].write(tools if request.choice.mode != "none" else [], lost)

    def say(calls: list[ToolCall]) -> str:
        return PROMPTS[dialect].say(calls, lost, tools)

    turns = _joined(replace(turn, parts=_told(turn.parts, say)) for turn in request.turns)
    if prompt and turns and turns[0].role == "system":
        turns[0] = replace(turns[0], parts=[*turns[0].parts, Text("\n\n" + prompt)])
    elif prompt:
        turns.insert(0, Turn("system", [Text(prompt)]))
    told = [replace(turn, parts=_in_one(turn.parts)) for turn in turns]
    asked = replace(request, turns=told, tools=[], choice=Choice())
    lost += _untold(request, asked)
    return asked


def check_prompt(dialect: str) -> None:
    """Raise ValueError for a dialect that has no prompt."""
    if dialect not in PROMPTS:
        raise ValueError(f"no prompt for the dialect {dialect!r}; known are: {', '.join(PROMPTS)}")


def _untold(request: Request, asked: Request) -> list[Loss]:
    """What no prompt can make sure of, pictures that were moved, and the speakers whose turns were joined."""
    choice, reason = request.choice, "dropped: the model decides"
    untold = [("request", "tool_choice")] if choice.mode == "required" else []
    untold += [("request", "parallel_tool_calls")] if choice.parallel is False else []
    untold += [(declared.tool.name, "strict") for declared in request.tools if declared.strict]
    seen = any(_pictures(result) for turn in request.turns for result in turn.results)
    pictured = [Loss("tool", "", "image", "moved behind the text of the result")] if seen else []
    nameless = {turn.name for turn in request.turns} - {turn.name for turn in asked.turns}
    joined = [Loss("messages", "", "name", f"dropped: {name!r} spoke in one turn with others") for name in nameless]
    beside = [part.kind for turn in request.turns for part in turn.parts if _is_beside_a_call(part)]
    untied = [Loss("assistant", "", kind, "dropped: the call that it belongs to is told as text") for kind in beside]
    return [*joined, *pictured, *untied, *(Loss(place, "", keyword, reason) for place, keyword in untold)]


def _told(parts: Iterable[Part], say: Callable[[list[ToolCall]], str]) -> list[Part]:
    """The parts of a turn with its calls and results as text, pictures of results behind it."""
    told: list[Part] = []
    calls: list[ToolCall] = []
    for part in parts:
        if isinstance(part, ToolCall):
            calls.append(part)
        elif isinstance(part, ToolResult):
            told += [Text(_answer(part)), *_pictures(part)]
        elif not _is_beside_a_call(part):
            told.append(part)
    if calls:
        written = say(calls)
        told.append(Text("\n" + written if any(isinstance(part, Text) for part in told) else written))
    return told


def _in_one(parts: Iterable[Part]) -> list[Part]:
    """The parts with texts that follow each other as one, each on a line of its own: templates want one text a turn."""
    told: list[Part] = []
    for _, same in groupby(parts, lambda part: isinstance(part, Text)):
        run = [*same]
        texts = [part.text for part in run if isinstance(part, Text)]
        told += [Text(_lines(texts))] if texts else run
    return told


def _lines(texts: list[str]) -> str:
    said = [text for text in texts if text]
    ends = ["" if one.endswith("\n") or other.startswith("\n") else "\n" for one, other in pairwise(said)]
    return "".join(chain.from_iterable(zip(said, [*ends, ""], strict=False)))


def _is_beside_a_call(part: Part) -> TypeGuard[Item]:
    """Whether a part is what a provider wants back with one of its calls."""
    return isinstance(part, Item) and part.index is not None


def _pictures(result: ToolResult) -> list[Image]:
    return [part for part in shown(result) if isinstance(part, Image)]


def _answer(result: ToolResult) -> str:
    text = defang(spoken(result), [result.tool_name])
    content = msgspec.json.encode({"name": result.tool_name, "content": text}).decode()
    return f"<tool_response>\n{content}\n</tool_response>\n"


def _joined(turns: Iterable[Turn]) -> list[Turn]:
    """Turns of the user that follow each other as one: templates want the sides to take turns."""
    joined: list[Turn] = []
    for role, same in groupby(turns, lambda turn: turn.role):
        run = [*same]
        joined += [_as_one(run)] if role == "user" else run
    return joined


def _as_one(turns: list[Turn]) -> Turn:
    name = turns[0].name if len({turn.name for turn in turns}) == 1 else ""
    return Turn("user", [part for turn in turns for part in turn.parts], name)
