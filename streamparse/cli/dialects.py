"""`streamparse dialects`: the facts about each dialect, as a list or as the Markdown of `docs/internals/dialects.md`.

Facts come from the rows of the table.  How a dialect streams is tried: its example is read one character at a time,
once with the schemas of its tools and once without.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from importlib.resources import files
from string import Template

from streamparse.cli.options import CommandError
from streamparse.cli.parse import to_json
from streamparse.dialects import DIALECTS, THOUGHTS, Dialect, Thought
from streamparse.dialects.engine.grammar import Opener
from streamparse.dialects.table import ENDINGS, OTHER_TURNS
from streamparse.events import ToolCallDelta
from streamparse.parser import TextParser
from streamparse.tools import Tool
from streamparse.unknown_names import list_known

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
_SETTLES = "May follow bare calls, which are kept"
_IN_THOUGHT = {
    "text": "is more thought",
    "ends": "is reported when it is whole; if anything but calls follows, it is revoked and is part of the thought",
    "resumes": "is reported when it is whole, and kept; the thought goes on after it",
}


def _declare(name: str, **types: str) -> Tool:
    properties = {key: {"type": type} for key, type in types.items()}
    return Tool(name, parameters={"type": "object", "properties": properties})


EXAMPLE_TOOLS = [
    _declare("get_weather", city="string", days="integer"),
    _declare("now"),
    _declare("bash", command="string"),
    _declare("brave_search", query="string"),
]
"""The tools that the examples of the table call."""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `dialects` to the commands, and `formats`, its name in 0.1.0."""
    command = commands.add_parser(
        "dialects",
        help="list the dialects: the ways a model writes calls in text",
        description="List the dialects: name, what `auto` does, who writes it. With names, all that is known of these.",
        epilog="; ".join(f"{word}: {what}" for word, what in _AUTO.items()),
    )
    command.add_argument("names", nargs="*", metavar="NAME", help="a dialect to show in full")
    command.add_argument("--markdown", action="store_true", help="print the page of all of them")
    command.set_defaults(run=_run)
    old = commands.add_parser("formats")
    old.add_argument("names", nargs="*")
    old.add_argument("--markdown", action="store_true")
    old.set_defaults(run=_refuse_old_name)


def _refuse_old_name(_: argparse.Namespace) -> int:
    raise CommandError("`formats` is called `dialects`")


def _run(arguments: argparse.Namespace) -> int:
    unknown = [name for name in arguments.names if name not in DIALECTS]
    if unknown:
        raise CommandError(f"unknown dialect {unknown[0]!r}; {list_known(unknown[0], DIALECTS)}")
    width = max(map(len, DIALECTS))
    if arguments.names:
        text = "".join(f"# {name}\n\n{write_chapter(DIALECTS[name])}\n" for name in arguments.names)
    elif arguments.markdown:
        text = write_page()
    else:
        rows = (("dialect", "auto", "written by"), *((n, find_auto(row), row.models) for n, row in DIALECTS.items()))
        text = "".join(f"{name:{width}}  {auto:8}  {models}\n" for name, auto, models in rows)
        text += "\nWhat `auto` does where servers leave calls in the text:\n"
        text += "".join(f"{word:8}  {what}\n" for word, what in _AUTO.items())
    print(text, end="")
    return 0


def write_page() -> str:
    """Return the page of all dialects, as Markdown."""
    rows = [
        (f"[`{row.name}`](#{_make_anchor(row.name)})", row.models, _describe_streaming(row), f"`{find_auto(row)}`")
        for row in DIALECTS.values()
    ]
    thoughts = [
        (
            f"`{row.name}`",
            row.models,
            _quote_all(row.opens) or "in a header",
            _quote_all(row.closes),
            "with `auto`, too" if row.token else "no",
        )
        for row in THOUGHTS.values()
    ]
    return Template(files("streamparse.cli").joinpath("dialects.md").read_text("utf-8")).substitute(
        endings=", ".join(f"`{marker}`" for marker in sorted(ENDINGS)),
        turns=", ".join(f"`{marker}`" for marker in sorted(OTHER_TURNS)),
        table=_write_table(("dialect", "written by", "streams", "auto"), rows),
        chapters="".join(f"\n## `{row.name}`\n\n{write_chapter(row)}" for row in DIALECTS.values()),
        thoughts=_write_table(("reasoning", "written by", "opens", "closes", "after text"), thoughts),
    )


def find_auto(row: Dialect) -> str:
    """Return in one word what `"auto"` does with a dialect: the most that it does with one of its openers."""
    ways = {opener.auto for opener in row.openers}
    return next(way for way in _AUTO if way in ways)


def write_chapter(row: Dialect) -> str:
    """Return the facts about one dialect, as Markdown."""
    openers = _write_table(("opener", "counts", "with `auto`"), [_describe_opener(row, each) for each in row.openers])
    found = _find_dialect_read_by_auto(row)
    read = f"`auto` reads the example as `{found}`" if found else "`auto` reads no call in the example"
    thoughts = [THOUGHTS[each] if isinstance(each, str) else each for each in dict.fromkeys(("think", *row.thoughts))]
    markers = {"Opens the visible text": row.opens_text, "Passed over": row.drops, _SETTLES: row.settles}
    facts = [
        f"Streams: {_describe_streaming(row)}; {read}",
        f"Inside an open thought a call {_IN_THOUGHT[row.in_thought]}",
        f"Reasoning: {', '.join(map(_describe_thought, thoughts))}",
        *(f"{what}: {_quote_all(texts)}" for what, texts in markers.items() if texts),
    ]
    return f"Written by {row.models}.\n\n{_write_fence(row.example)}\n{openers}\n" + "".join(
        f"- {fact}.\n" for fact in facts
    )


def _describe_opener(row: Dialect, opener: Opener) -> tuple[str, ...]:
    marker = _quote(opener.text + "NAME" * opener.each_tool) if opener.text or opener.each_tool else "none"
    marker += ", bare" if opener.bare else ", a word" if opener.word else ""
    auto = _AUTO[opener.auto]
    if opener.text and not opener.each_tool:
        shared = [f"`{other.name}`" for other in DIALECTS.values() if other is not row and _has_opener(other, opener)]
        auto += f"; shared with {', '.join(shared)}" if shared else ""
    counts = _COUNTS[opener.position]
    if opener.text in ("{", "[") and opener.position == "start":
        counts += "; if the dialect is named, at the start of a line"
    return marker, counts, auto


def _has_opener(row: Dialect, opener: Opener) -> bool:
    return any(each.text == opener.text and not each.each_tool for each in row.openers)


def _describe_thought(thought: Thought) -> str:
    closes = " or ".join(map(_quote, thought.closes))
    return f"{' or '.join(map(_quote, thought.opens))} to {closes}" if thought.opens else f"in a header, to {closes}"


# -- trials --------------------------------------------------------------------------------------------


def _describe_streaming(row: Dialect) -> str:
    typed = _find_unit(row.name, row.example, EXAMPLE_TOOLS)
    # What looks like a number is one only if the schema, or the end of the parameter, says so.
    untyped = _find_unit(row.name, row.example.replace("Paris", "12345"), [Tool(tool.name) for tool in EXAMPLE_TOOLS])
    return f"`{typed}`" if typed == untyped else f"`{typed}` / `{untyped}`"


def _find_unit(name: str, example: str, tools: list[Tool]) -> str:
    """Read an example one character at a time and see in which pieces the arguments come."""
    parser = TextParser([name], tools=tools)
    events = [event for character in example for event in parser.feed(character)]
    pieces = [event.arguments for event in events if isinstance(event, ToolCallDelta)]
    if any(len(piece) == 1 and piece.isalnum() for piece in pieces):
        return "delta"
    return "parameter" if len(pieces) > 1 else "call"


def _find_dialect_read_by_auto(row: Dialect) -> str | None:
    parser = TextParser("auto", tools=EXAMPLE_TOOLS)
    parser.feed(row.example)
    parser.close()
    return parser.stats.dialect if parser.response.tool_calls else None


# -- Markdown ------------------------------------------------------------------------------------------


def _write_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _quote_all(texts: Iterable[str]) -> str:
    return ", ".join(map(_quote, texts))


def _quote(text: str) -> str:
    """Write a literal in back-ticks, as many as it needs; line breaks and blanks at its ends are shown escaped."""
    shown = to_json(text) if text != text.strip() or "\n" in text else text
    ticks = "`" * (1 + _count_ticks(shown))
    pad = " " if "`" in shown else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def _write_fence(text: str) -> str:
    fence = "`" * max(3, 1 + _count_ticks(text))
    return f"{fence}text\n{text.rstrip(chr(10))}\n{fence}\n"


def _count_ticks(text: str) -> int:
    """Return the length of the longest run of back-ticks."""
    return max(map(len, re.findall("`+", text)), default=0)


def _make_anchor(name: str) -> str:
    return re.sub(r"[^\w-]", "", name.lower())
