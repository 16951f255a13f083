"""What is known of each format, as Markdown: the page `docs/formats.md` is printed by `streamparse formats --markdown`.

Facts come from the rows of the table.  What streams is not claimed but tried: the example is read one character at a
time, once with the schemas of its tools and once without.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from streamparse.dialects import DIALECTS, THOUGHTS, Dialect, Thought
from streamparse.dialects.engine.grammar import Opener
from streamparse.events import ToolCallDelta
from streamparse.parser import TextParser
from streamparse.tools import Tool

__all__ = ["EXAMPLE_TOOLS", "chapter", "in_auto", "page"]

_HEAD = """\
# The formats

The ways in which models write a call as text, as this version reads them; `streamparse formats --markdown` prints this
page. In the columns:

- **streams** is how a string argument arrives: `delta` character by character, `parameter` when it is whole (which the
  next tag shows), `call` with the end of the call. Behind a stroke: a value that looks like a number, of a tool
  without a schema.
- **auto** is what `dialects="all"` does, and `dialects="auto"` where servers leave calls in the text (on wires whose
  servers parse calls themselves it reads thoughts alone): `armed` looks for the format in every answer; `declared` only
  where tools are declared, and believes only their names; `start` does the same at the start of the message alone, and
  right behind a call in that format; `named` does not look for it, since another format reads the same text, or the
  opener says too little.
- An opener that is **bare** is no marker of the format's own: a brace, a fence, a tool's name. Where tools are
  declared, a call behind it must name one of them and hold the arguments that it requires. It is told when it is whole,
  with `place="bare"`, and revoked if visible text follows, or if the answer does not end well.
- An opener that is a **word** is a tag that other texts have, too. Such a call, likewise, must name a declared tool and
  hold what it requires; it is then a call like any other (`place="plain"`).
- Where two formats share an opener, what follows it decides; where that fits both, the first of this page reads it. So
  with `"auto"` the calls of `mimo` are read as `qwen3-coder`: a line break next to a tag is no part of the value, and
  a value without a schema may be a number. Name `mimo` where that matters.

A marker that nothing of the format's grammar follows is text and comes out unchanged. So is one that is quoted
([what counts](design.md#what-is-a-call-in-a-text)).

"""

_COUNTS = {
    "anywhere": "anywhere",
    "line": "at the start of a line",
    "edge": "at the start of the message or next to a call",
    "start": "before all other text",
}
_AUTO = {
    "armed": "looked for",
    "declared": "looked for with declared tools",
    "start": "looked for with declared tools, at the start of the message",
    "named": "not looked for",
}
_IN_THOUGHT = {
    "text": "is more thought",
    "ends": "is told when it is whole, and stands if only calls follow; else it is revoked, and is thought again",
    "resumes": "is told when it is whole, and stands; the thought goes on behind it",
}


def _declared(name: str, **types: str) -> Tool:
    properties = {key: {"type": type} for key, type in types.items()}
    return Tool(name, parameters={"type": "object", "properties": properties})


EXAMPLE_TOOLS = [
    _declared("get_weather", city="string", days="integer"),
    _declared("now"),
    _declared("bash", command="string"),
    _declared("brave_search", query="string"),
]
"""The tools that the examples of the table call."""


def page() -> str:
    """Return the whole page."""
    rows = (
        (f"[`{row.name}`](#{_anchor(row.name)})", row.models, _streams(row), f"`{in_auto(row)}`")
        for row in DIALECTS.values()
    )
    chapters = (f"\n## `{row.name}`\n\n{chapter(row)}" for row in DIALECTS.values())
    return "".join((_HEAD, _table(("format", "written by", "streams", "auto"), rows), *chapters, "\n", _reasoning()))


def in_auto(row: Dialect) -> str:
    """Return in one word what `"auto"` does with a format: the most that it does with one of its openers."""
    ways = {opener.auto for opener in row.openers}
    return next(way for way in _AUTO if way in ways)


def chapter(row: Dialect) -> str:
    """Return what is known of one format."""
    parts = [f"Written by {row.models}.\n\n{_fenced(row.example)}\n"]
    parts.append(_table(("opener", "counts", "with `auto`"), (_opener(row, opener) for opener in row.openers)))
    found = _found_by_auto(row)
    read = f"`auto` reads the example as `{found}`" if found else "`auto` reads no call in the example"
    parts.append(f"\n- Streams: {_streams(row)}; {read}.\n")
    parts.append(f"- Inside of an open thought a call {_IN_THOUGHT[row.in_thought]}.\n")
    thoughts = ", ".join(_span(thought) for thought in _thoughts(row))
    parts.append(f"- Reasoning: {thoughts}.\n")
    for markers, what in ((row.opens_text, "Opens the visible text"), (row.drops, "Passed over")):
        if markers:
            parts.append(f"- {what}: {', '.join(map(_code, markers))}.\n")
    if row.settles:
        parts.append(f"- May follow bare calls, which stand: {', '.join(map(_code, row.settles))}.\n")
    return "".join(parts)


def _opener(row: Dialect, opener: Opener) -> tuple[str, ...]:
    marker = _code(opener.text + "NAME" * opener.each_tool) if opener.text or opener.each_tool else "none"
    marker += ", bare" if opener.bare else ", a word" if opener.word else ""
    shared = [other.name for other in DIALECTS.values() if other is not row and opener.text in _texts(other)]
    auto = _AUTO[opener.auto]
    if opener.text and shared and not opener.each_tool:
        auto += f"; shared with {', '.join(f'`{name}`' for name in shared)}"
    counts = _COUNTS[opener.position]
    if opener.text in ("{", "[") and opener.position == "start":
        counts += "; if the format is named, at the start of a line"
    return marker, counts, auto


def _texts(row: Dialect) -> set[str]:
    return {opener.text for opener in row.openers if not opener.each_tool}


def _thoughts(row: Dialect) -> Iterator[Thought]:
    for each in dict.fromkeys(("think", *row.thoughts)):
        yield THOUGHTS[each] if isinstance(each, str) else each


def _reasoning() -> str:
    rows = (
        (
            f"`{row.name}`",
            row.models,
            ", ".join(map(_code, row.opens)) or "in a header",
            ", ".join(map(_code, row.closes)),
            "with `auto`, too" if row.token else "if named" if row.inside else "no",
        )
        for row in THOUGHTS.values()
    )
    return (
        "## Reasoning\n\nA thought opens before all other text, or next to a call. `think` is looked for beside every "
        "format. Some markers\nare tokens of a model's own: unless they are quoted they open a thought behind text, "
        "too, where the format is named,\nor also with `auto`, if no blank stands right before them in the line.\n\n"
        + _table(("reasoning", "written by", "opens", "closes", "behind text"), rows)
    )


def _span(thought: Thought) -> str:
    closes = " or ".join(map(_code, thought.closes))
    return f"{' or '.join(map(_code, thought.opens))} to {closes}" if thought.opens else f"in a header, to {closes}"


# -- what is tried -------------------------------------------------------------------------------------


def _streams(row: Dialect) -> str:
    typed = _way(row.name, row.example, EXAMPLE_TOOLS)
    # What looks like a number is one only if the schema, or the end of the parameter, says so.
    untyped = _way(row.name, row.example.replace("Paris", "12345"), [Tool(tool.name) for tool in EXAMPLE_TOOLS])
    return f"`{typed}`" if typed == untyped else f"`{typed}` / `{untyped}`"


def _way(name: str, example: str, tools: list[Tool]) -> str:
    """Read an example one character at a time and see in which pieces the arguments come."""
    parser = TextParser([name], tools=tools)
    events = [event for character in example for event in parser.feed(character)]
    pieces = [event.arguments for event in events if isinstance(event, ToolCallDelta)]
    if any(len(piece) == 1 and piece.isalnum() for piece in pieces):
        return "delta"
    return "parameter" if len(pieces) > 1 else "call"


def _found_by_auto(row: Dialect) -> str | None:
    parser = TextParser("auto", tools=EXAMPLE_TOOLS)
    parser.feed(row.example)
    parser.close()
    return parser.stats.dialect if parser.response.tool_calls else None


# -- Markdown ------------------------------------------------------------------------------------------


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _code(text: str) -> str:
    """A literal in back-ticks, as many as it needs; line breaks and blanks at its ends are shown escaped."""
    shown = msgspec.json.encode(text).decode() if text != text.strip() or "\n" in text else text
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    pad = " " if "`" in shown else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def _fenced(text: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}text\n{text.rstrip(chr(10))}\n{fence}\n"


def _anchor(name: str) -> str:
    return re.sub(r"[^\w-]", "", name.lower())
