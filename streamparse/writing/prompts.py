"""Prompts that teach a model the tools where the server does not: parsers read the dialect that prompts ask for.

The example in a prompt is a call of the first tool with values of the right types, written in the dialect itself.

**Teaching.** A request to a model that learns of tools by text, because its server knows none.

The system's message teaches the tools, calls of the history become what the model would have written, and results
become text of the user, with their images after it.

**Defanging.** Takes the markup out of what tools return, before it goes into a prompt as text.

A page, a file or a mail may hold the very markers with which a model calls tools or ends its turn, or by which a
template says who speaks.  In a prompt of plain text nothing else tells them from those of the dialect itself, and a
model that repeats them calls.  So the first character of each is replaced by one that looks alike and belongs to no
dialect; all else stays.

| what | becomes |
|---|---|
| `<tool_call>`, `</invoke>`, `<think>`: tags of the dialects, and of named tools | `‹tool_call>` |
| `<|im_start|>`, `<｜tool▁calls▁begin｜>`: special tokens | `‹|im_start|>` |
| `>>>search`, `-> tool/function_call`: the recipient of a message | `›››search`, `→ tool/function_call` |
| `[TOOL_CALLS]`, `[/INST]`, `functools[` | `⁅TOOL_CALLS]`, `functools⁅` |
| `Action:`, `Observation:` and the like at the beginning of a line | `Action :` |
| a code fence of back-ticks or tildes | as many `'` |
| invisible characters: zero width, directions, tags | nothing; those that join letters or emoji stay |

A call without any marker of its own (bare JSON) is not touched: it counts only as the whole of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
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
from streamparse.unknown_names import list_known
from streamparse.writing.definitions import keep_json_tools, read_json_tools
from streamparse.writing.json_access import drop_empty, get_object, get_strs
from streamparse.writing.markup import MARKUPS, CallToWrite, Markup, PromptDialect
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
"""The beginnings of tags of the dialects; a whole word where it is one or two letters."""
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
"""Joiners and variant selectors stay after characters beyond ASCII, where they are part of a word or of an emoji."""


def defang(text: str, tools: Iterable[str] = ()) -> str:
    """Return a text without any marker of a dialect in which calls are written as text.

    `tools` are names that count as tags, too (`<search>`), for dialects that write calls so.  To defang a text twice
    changes nothing.
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


_SAMPLES: dict[str, Any] = {"integer": 1, "number": 1.5, "boolean": True, "null": None}


class Prompt(msgspec.Struct, frozen=True):
    """The prompt of one dialect."""

    markup: Markup

    def write(self, tools: Iterable[Any], lost: list[Loss]) -> str:
        """Write the text for tools of any kind; "" for none.  Add the parameters that the dialect cannot name."""
        known = [declared.tool for declared in read_json_tools(tools)]
        if not known:
            return ""
        for tool in known:
            for name in self.markup.list_unwritable(tool):
                lost.append(Loss(tool.name, f"/properties/{name}", "name", "no call in this format can name it"))
        lines = [
            compact({**drop_empty(name=tool.name, description=tool.description), "parameters": tool.parameters})
            for tool in known
        ]
        example = self.write_calls([example_call(known[0])], lost, known[:1])
        rule = f"{self.markup.rule} " if self.markup.rule else ""
        return _TEXT.format(tools="\n".join(lines), name=known[0].name, example=example, rule=rule)

    def write_calls(self, calls: Iterable[ToolCall], lost: list[Loss], tools: Iterable[Any] = ()) -> str:
        """Write calls as a model would have; "" for none.  Add the losses: calls that are not read back unchanged.

        The schemas of the tools say what a text is read as; of a tool that is not among them, that is not known.
        """
        schemas = {declared.tool.name: declared.tool.parameters for declared in read_json_tools(tools)}
        typed = {name: SchemaView([schema], schema) for name, schema in schemas.items()}
        unknown = SchemaView([], None)
        written = (
            CallToWrite(call.name, call.arguments, number, typed.get(call.name, unknown))
            for number, call in enumerate(calls)
        )
        return self.markup.write(written, lost)


PROMPTS: dict[str, Prompt] = {name: Prompt(markup) for name, markup in MARKUPS.items()}
"""The prompts, by the name of the dialect that reads what they ask for."""


def get_prompt(dialect: str) -> Prompt:
    """Return the prompt of a dialect.  Raises ValueError for a dialect that has none."""
    if dialect not in PROMPTS:
        raise ValueError(f"no prompt for the dialect {dialect!r}; {list_known(dialect, PROMPTS)}")
    return PROMPTS[dialect]


def format_system_prompt(tools: Iterable[Any], dialect: PromptDialect = "hermes") -> str:
    """Return the text that tells a model of tools and of how to call them in a dialect; "" without tools.

    Raises ValueError for a dialect that has no prompt, and for a parameter whose name it cannot write.
    """
    lost: list[Loss] = []
    return _check_losses(get_prompt(dialect).write(tools, lost), lost, dialect)


def format_calls_as_text(
    calls: Iterable[ToolCall], dialect: PromptDialect = "hermes", tools: Iterable[Any] = ()
) -> str:
    """Return calls as a model would have written them in a dialect: for the history of a model without native tools.

    The dialect reads them back as they are.  In dialects whose values have no types the schemas of the tools say as
    what a value is read; without them a text that is JSON is not written in its tags, but all arguments of its call as
    one JSON object, and any other value is taken to be what its tool wants.
    Raises ValueError for a dialect that has no prompt, and for a call that it cannot write.
    """
    lost: list[Loss] = []
    return _check_losses(get_prompt(dialect).write_calls(calls, lost, tools), lost, dialect)


def _check_losses(text: str, lost: list[Loss], dialect: str) -> str:
    for loss in lost:
        raise ValueError(f"the dialect {dialect!r} cannot say {loss.path} of {loss.place!r}: {loss.outcome}")
    return text


def format_results_as_text(
    results: Iterable[ToolResult], dialect: PromptDialect = "hermes", tools: Iterable[Any] = ()
) -> str:
    """Return results for a model that was asked for a dialect: the text of the message after its calls; "" for none.

    They are in the order of the calls, each with the name of its tool; those of revoked calls are left out.  What
    tools return is defanged (`defang`): it cannot end its own result, or write a call in the place of the model.
    Raises ValueError for a dialect that has no prompt.
    """
    get_prompt(dialect)
    names = [declared.tool.name for declared in read_json_tools(tools)]
    ordered = sorted((result for result in results if not result.revoked), key=lambda result: result.index)
    return "\n".join(_write_result(result, dialect, names) for result in ordered)


def _write_result(result: ToolResult, dialect: str, names: list[str]) -> str:
    text = defang(write_result_text(result), [*names, result.tool_name])
    if dialect == "react":
        return f"Observation: {text}"
    return f"<tool_response>\n{compact({'name': defang(result.tool_name), 'content': text})}\n</tool_response>"


def example_call(tool: Tool) -> ToolCall:
    """Return a call of a tool with its required arguments, or else its first one."""
    return ToolCall(tool.name, _make_members(inline_refs(tool.parameters, tool.name, [])))


def _make_members(schema: dict[str, Any]) -> dict[str, Any]:
    properties, required = get_object(schema, "properties"), get_strs(schema.get("required"))
    names = [name for name in properties if name in required] or list(properties)[:1]
    return {name: _make_value(properties[name]) for name in names}


def _make_value(schema: Any) -> Any:
    """Make a value that fits a schema, as far as its type shows."""
    if not isinstance(schema, dict):
        return "text"
    given = [options for key in ("examples", "enum") if isinstance(options := schema.get(key), list) and options]
    chosen = given[0][0] if given else schema.get("const")
    choices = schema.get("anyOf") or schema.get("oneOf")
    if chosen is not None:
        return chosen
    return _make_value(choices[0]) if isinstance(choices, list) and choices else _make_typed_value(schema)


def _make_typed_value(schema: dict[str, Any]) -> Any:
    kind = schema.get("type")
    kind = str(kind[0] if isinstance(kind, list) and kind else kind)
    if kind == "array":
        return [_make_value(schema.get("items"))]
    if kind == "object":
        return _make_members(schema)
    return schema.get("minimum", _SAMPLES[kind]) if kind in ("integer", "number") else _SAMPLES.get(kind, "text")


# -- teaching ----------------------------------------------------------------------------------------------------------


def teach_tools(request: Request, dialect: str, lost: list[Loss]) -> Request:
    """Return the same request to a model that knows of tools only by text; add what cannot be written so.

    Raises ValueError for a dialect that has no prompt.
    """
    return Lesson(request, dialect, lost).teach(request, lost)


class Lesson:
    """What a model without tools of its own is taught: the tools of a request, as text in its system prompt.

    Two lessons with the same `key` write the same messages.
    Raises ValueError for a dialect that has no prompt.
    """

    def __init__(self, request: Request, dialect: str, lost: list[Loss]) -> None:
        self._prompt = get_prompt(dialect)
        self._tools = [declared.tool for declared in keep_json_tools(request.tools, lost)]
        is_silent = request.choice.mode == "none"
        text = self._prompt.write(self._tools, [] if is_silent else lost)
        self._text = "" if is_silent else text
        self.key: str = f"{dialect}\n{text}"

    def teach(self, request: Request, lost: list[Loss]) -> Request:
        """Return the same request with the tools in its system prompt; add what cannot be written so."""
        messages, text = self.write_messages(request.messages, lost), self._text
        if text and messages and messages[0].role == "system":
            parts = _join_texts([*messages[0].parts, Text("\n\n" + text)])
            messages[0] = replace(messages[0], parts=parts)
        elif text:
            messages.insert(0, Message("system", [Text(text)]))
        lost += _list_losses(request)
        return replace(request, messages=messages, tools=[], choice=Choice())

    def write_messages(self, messages: list[Message], lost: list[Loss]) -> list[Message]:
        """Return messages with their calls and results as text; add what cannot be written so."""

        def write_calls(calls: list[ToolCall]) -> str:
            return self._prompt.write_calls(calls, lost, self._tools)

        joined = _join_users(replace(each, parts=_write_as_text(each.parts, write_calls)) for each in messages)
        taught = [replace(message, parts=_join_texts(message.parts)) for message in joined]
        lost += _list_moved(messages, taught)
        return taught


def _list_moved(messages: list[Message], taught: list[Message]) -> Iterator[Loss]:
    """List images that were moved, the names of messages that were joined, and what belonged to calls."""
    for name in {message.name for message in messages} - {message.name for message in taught}:
        yield Loss("messages", "", "name", f"dropped: {name!r} spoke in one turn with others")
    if any(_list_images(result) for message in messages for result in message.results):
        yield Loss("tool", "", "image", "moved after the text of the result")
    for part in (part for message in messages for part in message.parts):
        if _belongs_to_call(part):
            yield Loss("assistant", "", part.kind, "dropped: the call that it belongs to is written as text")


def _list_losses(request: Request) -> Iterator[Loss]:
    """List what no prompt can make sure of."""
    lost = [("request", "tool_choice")] if request.choice.mode == "required" else []
    lost += [("request", "parallel_tool_calls")] if request.choice.parallel is False else []
    lost += [(declared.tool.name, "strict") for declared in request.tools if declared.strict]
    yield from (Loss(place, "", keyword, "dropped: the model decides") for place, keyword in lost)


def _write_as_text(parts: Iterable[Part], write_calls: Callable[[list[ToolCall]], str]) -> list[Part]:
    """Write the calls and results of a message as text, with the images of each result after its text."""
    written: list[Part] = []
    calls: list[ToolCall] = []
    for part in parts:
        if isinstance(part, ToolCall):
            calls.append(part)
        elif isinstance(part, ToolResult):
            written += [Text(_write_result(part, "", []) + "\n"), *_list_images(part)]
        elif not _belongs_to_call(part):
            written.append(part)
    if calls:
        has_text = any(isinstance(part, Text) for part in written)
        written.append(Text(("\n" if has_text else "") + write_calls(calls)))
    return written


def _join_texts(parts: Iterable[Part]) -> list[Part]:
    """Join texts that follow each other, each on a line of its own: templates want one text a message."""
    joined: list[Part] = []
    for _, group in groupby(parts, lambda part: isinstance(part, Text)):
        run = [*group]
        texts = [part.text for part in run if isinstance(part, Text)]
        joined += [Text(_join_lines([text for text in texts if text]))] if texts else run
    return joined


def _join_lines(texts: list[str]) -> str:
    ends = ["" if one.endswith("\n") or other.startswith("\n") else "\n" for one, other in pairwise(texts)]
    return "".join(chain.from_iterable(zip(texts, [*ends, ""], strict=False)))


def _belongs_to_call(part: Part) -> TypeGuard[Item]:
    """Whether a part is what a provider wants back with one of its calls."""
    return isinstance(part, Item) and part.index is not None


def _list_images(result: ToolResult) -> list[Image]:
    return [part for part in show_result(result) if isinstance(part, Image)]


def _join_users(messages: Iterable[Message]) -> list[Message]:
    """Join messages of the user that follow each other: templates want the sides to take turns."""
    joined: list[Message] = []
    for role, group in groupby(messages, lambda message: message.role):
        run = [*group]
        if role == "user":
            name = run[0].name if len({message.name for message in run}) == 1 else ""
            run = [Message("user", [part for message in run for part in message.parts], name)]
        joined += run
    return joined
