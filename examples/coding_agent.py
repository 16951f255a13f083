"""A coding agent: eight tools that work in one folder, and a loop that shows what happens.

    python examples/coding_agent.py --url http://127.0.0.1:8080/v1/chat/completions --model NAME "Fix the failing test"

The tools for files stay inside the folder: `..`, absolute paths and links that lead out are refused.  `bash` is a shell
with all the rights of whoever starts this program, so it asks before each command, unless it is started with `--yes`.
How the tools keep to their bounds is in `scratch_folder`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, Any, Literal, TypeAlias

import anyio
import httpx
import regex
from msgspec import Meta
from scratch_folder import (
    MAX_FILE,
    MAX_OUTPUT,
    MAX_SECONDS,
    Folder,
    explain,
    find_lines,
    join_lines,
    read_lines,
    run_command,
)

import streamparse as sp

__all__ = ["TOOLS", "Folder", "main"]

SYSTEM = """You are a careful programmer. You work in one folder, and name files by their path in it.
Read before you edit, run the tests after it, and call submit with a short report when the task is done."""

Context: TypeAlias = sp.ToolContext[Folder]
LineNumber: TypeAlias = Annotated[int, Meta(ge=1)]
Encoding: TypeAlias = Literal["utf-8", "ascii", "latin-1", "utf-16"]


def name_file(arguments: dict[str, Any]) -> str:
    """Name the lock of a call that touches one file: `a` and `./a` are one."""
    return os.path.normpath(str(arguments["path"]))


def fits(path: str, pattern: str) -> bool:
    """Whether a path has a pattern: "*.py" is of names, "src/*.py" of paths, "**/*.py" of paths at any depth."""
    if "/" not in pattern:
        path = os.path.basename(path)
    return fnmatch(path, pattern) or (pattern.startswith("**/") and fits(path, pattern[3:]))


@sp.tool(lock="*", timeout=330, needs_approval=True, category="shell")
async def bash(
    command: str,
    ctx: Context,
    working_directory: str = ".",
    timeout_seconds: Annotated[int, Meta(ge=1, le=300)] = 30,
    env: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Run a command with bash, without input; it and all that it has started are killed at the end.

    Args:
        command: what bash is to run
        working_directory: a folder inside the working folder
        timeout_seconds: after which the command is killed
        env: environment variables to set, besides those that there are
    """
    return await run_command(command, ctx.deps.find(working_directory), env or {}, timeout_seconds)


@sp.tool(effect="read", lock=name_file, category="files")
def read_file(
    path: str,
    ctx: Context,
    start_line: LineNumber = 1,
    end_line: LineNumber | None = None,
    encoding: Encoding = "utf-8",
) -> str:
    """Read a text file, or some of its lines.

    Args:
        path: the file, such as "src/main.py"
        start_line: the first line to read; those of a file begin with 1
        end_line: the last line to read; without it, to the end of the file
        encoding: how the text is written in bytes
    """
    file, text, number = ctx.deps.find_file(path), "", 1
    with explain(path), file.open(encoding=encoding, newline="") as lines:  # the line ends stay what they are
        while (end_line is None or number <= end_line) and (line := lines.readline(MAX_OUTPUT)):
            text += line if number >= start_line else ""
            if len(text) > MAX_OUTPUT or ctx.cancelled:
                return f"{text[:MAX_OUTPUT]}\n[… cut in line {number}: ask for the rest with start_line={number} …]"
            number += line.endswith("\n")
    return text


@sp.tool(effect="idempotent", lock=name_file, category="files")
async def write_file(
    path: str,
    ctx: Context,
    *,
    create_directories: bool = True,
    mode: Literal["overwrite", "append"] = "overwrite",
    content: sp.Streamed[str],
) -> dict[str, Any]:
    """Write a text file, or append to it.

    Args:
        path: the file, such as "src/main.py"
        create_directories: whether to make folders that are missing
        mode: whether to replace what the file holds, or to add to its end
        content: the whole text to write
    """
    if mode == "append" and ctx.attempt > 1:  # to overwrite twice is to overwrite once; this is not
        told = "an earlier attempt may have appended the text already"
        raise sp.ToolError("execution", told, suggestion="read the end of the file before you append again")
    target = ctx.deps.find(path)
    exists, size = target.exists() and ctx.deps.find_file(path) == target, 0
    with explain(path), ctx.deps.replace(target) as file:
        if mode == "append" and exists:
            with target.open("rb") as old:
                await anyio.to_thread.run_sync(shutil.copyfileobj, old, file)
        async for text in content:  # raises if the call does not count, and then the file is as it was
            size += file.write(text.encode())
        if create_directories:
            target.parent.mkdir(parents=True, exist_ok=True)
    ctx.report_change("FileModified" if exists else "FileCreated", path)
    return {"bytes_written": size}


@sp.tool(lock=name_file, category="files")
def edit_file(
    path: str,
    old_content: Annotated[str, Meta(min_length=1)],
    new_content: str,
    ctx: Context,
    occurrence: Literal["first", "last", "all"] = "first",
) -> dict[str, Any]:
    """Replace a text in a file.

    Args:
        path: the file, such as "src/main.py"
        old_content: the exact text that stands there, with all its blanks and line ends
        new_content: what is to stand there instead
        occurrence: which to replace, if it stands there more than once
    """
    file = ctx.deps.find_file(path)
    if file.stat().st_size > MAX_FILE:
        raise sp.ToolError("resource", f"{path!r} is larger than {MAX_FILE} bytes", suggestion="use bash")
    with explain(path):
        text = file.read_bytes().decode()
    found = text.count(old_content)
    count = found if occurrence == "all" else min(found, 1)
    if not found:
        advice = "read the file again, and copy the text with all its blanks"
        raise sp.ToolError("validation", f"old_content does not stand in {path!r}", suggestion=advice)
    if len(text) + count * (len(new_content) - len(old_content)) > MAX_FILE:  # before it is made
        raise sp.ToolError("resource", f"{path!r} would become larger than {MAX_FILE} bytes", suggestion="use bash")
    if occurrence == "last":
        text = new_content.join(text.rsplit(old_content, 1))
    else:
        text = text.replace(old_content, new_content, 1 if occurrence == "first" else -1)
    with explain(path), ctx.deps.replace(file) as part:
        part.write(text.encode())
    ctx.report_change("FileModified", path)
    return {"found": found, "replaced": count}


@sp.tool(effect="read", lock="*", retries=0, category="search")
def search(
    pattern: Annotated[str, Meta(min_length=1, max_length=1000)],
    ctx: Context,
    path: str = ".",
    type: Literal["literal", "regex"] = "literal",
    case_sensitive: bool = True,
    include_pattern: str | None = None,
    exclude_pattern: str | None = None,
    max_results: Annotated[int, Meta(ge=1, le=1000)] = 50,
    context_lines: Annotated[int, Meta(ge=0, le=10)] = 2,
) -> str:
    """Search the lines of a file, or of all files below a folder.

    Hidden files, binary ones and those over 10 MB are left out.

    Args:
        pattern: what to look for in each line
        path: the file or the folder
        type: whether the pattern is the text itself, or a regular expression
        case_sensitive: whether capitals count
        include_pattern: search only files such as "*.py", "src/*.py" or "**/*.py"
        exclude_pattern: leave out files such as these
        max_results: how many lines to show at most
        context_lines: how many lines to show before and after each
    """
    try:
        wanted = regex.compile(pattern if type == "regex" else regex.escape(pattern), 0 if case_sensitive else regex.I)
    except (regex.error, RecursionError) as error:
        raise sp.ToolError("validation", f"this is no regular expression: {error}") from error
    until = time.monotonic() + MAX_SECONDS

    def find_all() -> Iterator[str]:
        for file in ctx.deps.find_files(path, until):
            name = str(file.relative_to(ctx.deps.root))
            if fits(name, include_pattern or "*") and not fits(name, exclude_pattern or ""):
                with explain(name):
                    lines = read_lines(file)
                yield from find_lines(name, lines, wanted, context_lines, until)

    return join_lines(find_all(), max_results)


@sp.tool(effect="read", lock="*", retries=0, category="files")
def list_files(
    ctx: Context,
    path: str = ".",
    recursive: bool = False,
    include_hidden: bool = False,
    pattern: str | None = None,
    max_depth: Annotated[int, Meta(ge=1, le=100)] = 10,
) -> str:
    """List a folder; folders end in "/", links in "@".

    Args:
        path: the folder
        recursive: whether to list the folders in it, too
        include_hidden: whether to list what begins with a dot
        pattern: list only what is such as "*.py", "src/*.py" or "**/*.py"
        max_depth: how deep to go
    """
    until = time.monotonic() + MAX_SECONDS

    def find_names() -> Iterator[str]:
        for entry in ctx.deps.walk(path, max_depth if recursive else 1, until, hidden=include_hidden):
            name = os.path.relpath(entry.path, ctx.deps.root)
            if fits(name, pattern or "*"):
                mark = "@" if entry.is_symlink() else "/" if entry.is_dir() else ""
                yield name + mark

    return join_lines(find_names(), 1000)


@sp.tool(effect="read", category="control")
def think(thought: str) -> str:
    """Write down a thought; nothing else happens.

    Args:
        thought: what to keep in mind
    """
    return "noted" if thought else "nothing was thought"


@sp.tool(ends=True, category="control")
def submit(answer: str = "", confidence: Annotated[float, Meta(ge=0, le=1)] | None = None) -> dict[str, Any]:
    """Hand in the answer; this ends the work.

    Args:
        answer: a short report of what was done
        confidence: how sure you are that it is right
    """
    return {"answer": answer, "confidence": confidence}


TOOLS = [bash, read_file, write_file, edit_file, search, list_files, think, submit]


async def main() -> None:
    """Let the agent do one task, and show what happens."""
    given = read_arguments()
    folder = Folder(given.folder or Path(mkdtemp(prefix="scratch-")))
    print(f"The agent works in {folder.root}")
    async with sp.http_model(given.url, given.wire, given.model) as model:
        agent = sp.Agent(
            model,
            TOOLS,
            system=SYSTEM,
            stop=[sp.max_turns(given.turns)],
            prepare_history=lambda history: history.truncated(tokens=given.tokens),
        )
        try:
            async with agent.run(given.task, deps=folder) as run:
                async for item in run:
                    if not isinstance(item, sp.ApprovalRequest):
                        show(item)
                    elif given.yes or await anyio.to_thread.run_sync(ask, item):
                        run.approve(item)
                    else:
                        run.deny(item, "the user does not want it")
        except (sp.ModelError, OSError, httpx.HTTPError) as error:
            sys.exit(f"\nThe model did not answer: {error}")


def ask(request: sp.ApprovalRequest) -> bool:
    """Ask the user whether a command may run."""
    print(f"\nRun {request.arguments['command']!r}? [y/n] ", end="", flush=True)
    return sys.stdin.readline().strip() == "y"


def show(item: Any) -> None:
    """Print what the agent says and does."""
    match item:
        case sp.TextDelta(text=text):
            print(text, end="", flush=True)
        case sp.ToolCallComplete(name=name, raw=raw):
            print(f"\n> {name} {raw[:500]}")
        case sp.ToolResult(tool_name=name, result=result, error=error):
            print(f"< {name} {str(error or result)[:500]}")
        case sp.RunEnd(output=output, stopped_by=stopped_by):
            was_printed = isinstance(output, str) and not stopped_by  # as it came
            print("" if was_printed else f"\n{output or stopped_by}")


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", help="what is to be done")
    parser.add_argument("--url", required=True, help="where requests go: http://127.0.0.1:8080/v1/chat/completions")
    parser.add_argument("--model", required=True, help="the model's name")
    parser.add_argument("--wire", default="openai-chat", help="what the server speaks; default: openai-chat")
    parser.add_argument("--folder", type=Path, help="where the agent works; default: a new scratch folder")
    parser.add_argument("--turns", type=int, default=50, help="after how many answers it stops; default: 50")
    parser.add_argument("--tokens", type=int, default=8000, help="the most of the history that is sent; default: 8000")
    parser.add_argument("--yes", action="store_true", help="run commands without asking")
    return parser.parse_args()


if __name__ == "__main__":
    anyio.run(main)
