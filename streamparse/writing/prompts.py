"""Prompts that teach a model the tools where the server does not: what is asked for is what is parsed.

The example in a prompt is a call of the first tool with values of the right types, written in the dialect itself.

**Teaching.** A request to a model that is told of tools by text: its server knows none.

The system's turn teaches the tools, calls of the history become what the model would have written, and results become
text of the user, with their pictures behind it.

**Defanging.** Takes the markup out of what tools return, before it goes into a prompt as text.

A page, a file or a mail may hold the very markers with which a model calls tools, ends its turn, or is told who speaks.
In a prompt of plain text nothing else tells them from those of the format itself, and a model that repeats them calls.
So the first character of each is replaced by one that looks alike and belongs to no format; all else stays.

| what | becomes |
|---|---|
| `<tool_call>`, `</invoke>`, `<think>`: tags of the formats, and of tools that are named | `‹tool_call>` |
| `<|im_start|>`, `<｜tool▁calls▁begin｜>`: special tokens | `‹|im_start|>` |
| `>>>search`, `-> tool/function_call`: what says whom a message is for | `›››search`, `→ tool/function_call` |
| `[TOOL_CALLS]`, `[/INST]`, `functools[` | `⁅TOOL_CALLS]`, `functools⁅` |
| `Action:`, `Observation:` and the like at the beginning of a line | `Action :` |
| a code fence of back-ticks or tildes | as many `'` |
| invisible characters: zero width, directions, tags | nothing; those that join letters or emoji stay |

A call without any marker of its own (bare JSON) is not touched: it counts only as the whole of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import chain, groupby, pairwise
from typing import Any, Final, TypeGuard

import msgspec
from msgspec.structs import replace

from streamparse.json.json_safety import compact
from streamparse.loss import Loss
from streamparse.response import ToolCall
from streamparse.schema.kinds import SchemaView
from streamparse.schema.walk import inline_refs
from streamparse.tools import Tool, ToolResult
from streamparse.writing.definitions import keep_json_tools, read_json_tools
from streamparse.writing.json_access import drop_empty
from streamparse.writing.markup import MARKUPS, CallToWrite, Markup
from streamparse.writing.parts import Image, Item, Message, Part, Text
from streamparse.writing.request import Choice, Request
from streamparse.writing.results import show_result, write_result_text

_WORDS: Final = (
    "tool", "function", "invoke", "param", "arg", "call", "think", "thought", "reason", "action", "reflection", "plan",
    "observation", "response", "result", "answer", "start_", "end_", "escape", "message", "content", "system", "user",
    "assistant", "bos", "eos", "s", "seed", "minimax", "mm", "ifm", "atem", "antml", "steptml", "dots", "longcat",
    "iquest", "x.ai", "xai", "plamo", "plugin", "ds", "dsml", "gcml", "model", "unused", "extra", "channel", "turn",
    "command", "code", "json", "xml",
)  # fmt: skip
"""What tags of the formats begin with; a whole word where it is a single letter."""
_BEGINNINGS: Final = "|".join(rf"{re.escape(word)}(?![a-z])" if len(word) < 3 else re.escape(word) for word in _WORDS)
_TAG: Final = re.compile(rf"<(?=\s?/?\s?[|｜\]]|/?(?:[\w.]{{1,32}}:)?(?:{_BEGINNINGS}))", re.IGNORECASE)
_WORD_IN_BRACKETS: Final = re.compile(r"\[(?=/?[A-Z][A-Z_]{2,40}\])")
_FUNCTOOLS: Final = re.compile(r"(?<=functools)\[", re.IGNORECASE)
_RECIPIENT: Final = re.compile(r">>>(?=\w)")
_HEADER: Final = re.compile(r"->(?=[ \t]{0,8}tool/function_call)", re.IGNORECASE)
_LABEL: Final = re.compile(
    r"^([ \t>*#-]{0,16}(?:Action(?: Input)?|Observation|Thought|Final Answer|Question|Human|User"
    r"|Assistant|System))(?=:)",
    re.MULTILINE | re.IGNORECASE,
)
_FENCE: Final = re.compile(r"`{3,}|~{3,}")
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_JOINER: Final = re.compile("(?<![^\x00-\x7f\u200c\u200d\ufe00-\ufe0f])[\u200c\u200d\ufe00-\ufe0f]")
"""Joiners and variant selectors stay behind characters beyond ASCII, where they are part of a word or of an emoji."""


def defang(text: str, tools: Iterable[str] = ()) -> str:
    """Return a text in which no marker of a format in which calls are written as text stands any more.

    `tools` are names that count as tags, too (`<search>`), for formats that write calls so.  What is defanged stays so
    if it is defanged again.
    """
    text = _JOINER.sub("", _INVISIBLE.sub("", text))
    text = _TAG.sub("‹", text)
    for name in tools:
        text = re.sub(rf"<(?=/?{re.escape(name)}\b)", "‹", text)
    text = _HEADER.sub("→", _RECIPIENT.sub("›››", text))
    text = _FUNCTOOLS.sub("⁅", _WORD_IN_BRACKETS.sub("⁅", text))
    text = _LABEL.sub(r"\1 ", text)
    return _FENCE.sub(lambda match: "'" * len(match[0]), text)


_TEXT = """\
You can call tools. Each line between the tags declares one of them, with the JSON Schema of its arguments:

<tools>
{tools}
</tools>

To call a tool, write the call in exactly this form, which shows a call of {name}:

{example}

{rule}Call only the tools above, with the arguments that their schemas ask for. The result comes with the next message.
If no tool is of use, answer without one."""


_UNSAID = "no call in this format can name it"

_PLAIN: dict[str, Any] = {"integer": 1, "number": 1.5, "boolean": True, "null": None}


class Prompt(msgspec.Struct, frozen=True):
    """The prompt of one dialect."""

    markup: Markup

    def write(self, tools: Iterable[Any], lost: list[Loss]) -> str:
        """The text for tools of any kind; "" for none.  Adds the parameters that the dialect has no way to name."""
        known = [declared.tool for declared in read_json_tools(tools)]
        if not known:
            return ""
        for tool in known:
            lost += [Loss(tool.name, f"/properties/{name}", "name", _UNSAID) for name in self.markup.unsayable(tool)]
        example = self.say([example_call(known[0])], lost, known[:1])
        rule = f"{self.markup.rule} " if self.markup.rule else ""
        return _TEXT.format(tools="\n".join(map(_line, known)), name=known[0].name, example=example, rule=rule)

    def say(self, calls: Iterable[ToolCall], lost: list[Loss], tools: Iterable[Any] = ()) -> str:
        """Calls as a model would have written them; "" for none.  Adds what of them is not read back as it is.

        The schemas of the tools tell what a text is read as; of a tool that is not among them, nobody knows.
        """
        typed = {declared.tool.name: _typed(declared.tool) for declared in read_json_tools(tools)}
        unknown = SchemaView([], None)
        write_result_text = (
            CallToWrite(call.name, call.arguments, number, typed.get(call.name, unknown))
            for number, call in enumerate(calls)
        )
        return self.markup.write(write_result_text, lost)


PROMPTS: dict[str, Prompt] = {name: Prompt(markup) for name, markup in MARKUPS.items()}
"""The prompts, by the name of the dialect that reads what they ask for."""


def format_system_prompt(tools: Iterable[Any], dialect: str = "hermes") -> str:
    """The text that tells a model of tools and of how to call them in a dialect; "" without tools.

    Raises ValueError for a dialect that has no prompt, and for a parameter whose name it cannot say.
    """
    lost: list[Loss] = []
    return _kept(_prompt(dialect).write(tools, lost), lost, dialect)


def format_calls_as_text(calls: Iterable[ToolCall], dialect: str = "hermes", tools: Iterable[Any] = ()) -> str:
    """Calls as a model would have written them in a dialect: for the history of a model without native tools.

    The dialect reads them back as they are.  In formats whose values have no types the schemas of the tools tell as
    what a value is read; without them a text that is JSON is not written in its tags, but all arguments of its call as
    one JSON object, and any other value is taken to be what its tool wants.
    Raises ValueError for a dialect that has no prompt, and for a call that it cannot say.
    """
    lost: list[Loss] = []
    return _kept(_prompt(dialect).say(calls, lost, tools), lost, dialect)


def format_results_as_text(results: Iterable[ToolResult], dialect: str = "hermes", tools: Iterable[Any] = ()) -> str:
    """Results for a model that was asked for a dialect: the text of the message behind its calls; "" for none.

    They stand in the order of the calls, each with the name of its tool; those of revoked calls are left out.  What
    tools return is defanged (`defang`): it cannot end its own result, or write a call in the place of the model.
    Raises ValueError for a dialect that has no prompt.
    """
    _prompt(dialect)
    names = [declared.tool.name for declared in read_json_tools(tools)]
    ordered = sorted((result for result in results if not result.revoked), key=lambda result: result.index)
    return "\n".join(_said(result, dialect, names) for result in ordered)


def _said(result: ToolResult, dialect: str, names: list[str]) -> str:
    names = [*names, result.tool_name]
    text = defang(write_result_text(result), names)
    if dialect == "react":
        return f"Observation: {text}"
    return f"<tool_response>\n{compact({'name': defang(result.tool_name), 'content': text})}\n</tool_response>"


def _kept(text: str, lost: list[Loss], dialect: str) -> str:
    for loss in lost:
        raise ValueError(f"the dialect {dialect!r} cannot say {loss.path} of {loss.place!r}: {loss.outcome}")
    return text


def _typed(tool: Tool) -> SchemaView:
    return SchemaView([tool.parameters], tool.parameters)


def _prompt(dialect: str) -> Prompt:
    if dialect not in PROMPTS:
        raise ValueError(f"no prompt for the dialect {dialect!r}; known are: {', '.join(PROMPTS)}")
    return PROMPTS[dialect]


def _line(tool: Tool) -> str:
    return compact({**drop_empty(name=tool.name, description=tool.description), "parameters": tool.parameters})


def example_call(tool: Tool) -> ToolCall:
    """A call of a tool with its required arguments, or else its first one."""
    schema = inline_refs(tool.parameters, tool.name, [])
    properties = schema.get("properties")
    return ToolCall(tool.name, _members(schema, properties if isinstance(properties, dict) else {}))


def _members(schema: dict[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    required = schema.get("required")
    names = [name for name in properties if isinstance(required, list) and name in required] or list(properties)[:1]
    return {name: _sample(properties[name]) for name in names}


def _sample(schema: Any) -> Any:
    """A value that fits a schema, as far as its type tells."""
    if not isinstance(schema, dict):
        return "text"
    given = [*(schema.get(key) or () for key in ("examples", "enum"))]
    chosen = next((options[0] for options in given if isinstance(options, list) and options), schema.get("const"))
    if chosen is not None:
        return chosen
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list) and choices:
        return _sample(choices[0])
    return _sample_of(schema, schema.get("type"))


def _sample_of(schema: dict[str, Any], kind: Any) -> Any:
    kind = str(kind[0] if isinstance(kind, list) and kind else kind)
    if kind == "array":
        return [_sample(schema.get("items"))]
    if kind == "object":
        properties = schema.get("properties")
        return _members(schema, properties if isinstance(properties, dict) else {})
    return schema.get("minimum", _PLAIN[kind]) if kind in ("integer", "number") else _PLAIN.get(kind, "text")


def teach_tools(request: Request, dialect: str, lost: list[Loss]) -> Request:
    """Return the same request to a model that knows of tools only by text; adds what cannot be said so.

    Raises ValueError for a dialect that has no prompt.
    """
    check_prompt(dialect)
    tools = [declared.tool for declared in keep_json_tools(request.tools, lost)]
    prompt = PROMPTS[dialect].write(tools if request.choice.mode != "none" else [], lost)

    def say(calls: list[ToolCall]) -> str:
        return PROMPTS[dialect].say(calls, lost, tools)

    turns = _joined(replace(turn, parts=_told(turn.parts, say)) for turn in request.messages)
    if prompt and turns and turns[0].role == "system":
        turns[0] = replace(turns[0], parts=[*turns[0].parts, Text("\n\n" + prompt)])
    elif prompt:
        turns.insert(0, Message("system", [Text(prompt)]))
    told = [replace(turn, parts=_in_one(turn.parts)) for turn in turns]
    asked = replace(request, messages=told, tools=[], choice=Choice())
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
    seen = any(_pictures(result) for turn in request.messages for result in turn.results)
    pictured = [Loss("tool", "", "image", "moved behind the text of the result")] if seen else []
    nameless = {turn.name for turn in request.messages} - {turn.name for turn in asked.messages}
    joined = [Loss("messages", "", "name", f"dropped: {name!r} spoke in one turn with others") for name in nameless]
    beside = [part.kind for turn in request.messages for part in turn.parts if _is_beside_a_call(part)]
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
    return [part for part in show_result(result) if isinstance(part, Image)]


def _answer(result: ToolResult) -> str:
    text = defang(write_result_text(result), [result.tool_name])
    content = msgspec.json.encode({"name": result.tool_name, "content": text}).decode()
    return f"<tool_response>\n{content}\n</tool_response>\n"


def _joined(turns: Iterable[Message]) -> list[Message]:
    """Turns of the user that follow each other as one: templates want the sides to take turns."""
    joined: list[Message] = []
    for role, same in groupby(turns, lambda turn: turn.role):
        run = [*same]
        joined += [_as_one(run)] if role == "user" else run
    return joined


def _as_one(turns: list[Message]) -> Message:
    name = turns[0].name if len({turn.name for turn in turns}) == 1 else ""
    return Message("user", [part for turn in turns for part in turn.parts], name)
