"""The file tools of the coding agent: they read and write what they are told, and nothing outside of their folder."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest
from coding_agent import TOOLS, write_file
from coding_calls import call, call_all, fail
from scratch_folder import MAX_FILE, MAX_OUTPUT, Folder

import streamparse as sp
from streamparse.tools import Toolset

pytestmark = pytest.mark.anyio

TOUCH: dict[str, dict[str, Any]] = {
    "read_file": {},
    "write_file": {"content": "mine"},
    "edit_file": {"old_content": "secret", "new_content": "mine"},
    "search": {"pattern": "secret"},
    "list_files": {},
    "bash": {"command": "cat secret; echo mine > secret"},
}
"""The tools that take a path, and what else they need."""


def _tree(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


def _name_path(name: str, path: str) -> dict[str, Any]:
    return TOUCH[name] | {"working_directory" if name == "bash" else "path": path}


# -- where the tools may not go ----------------------------------------------------------------------------


async def test_each_parameter_of_each_tool_is_described() -> None:
    tools = Toolset.of(TOOLS).values()
    parameters = {(tool.name, name): schema for tool in tools for name, schema in tool.parameters["properties"].items()}
    assert len(parameters) == 32
    assert [each for each, schema in parameters.items() if not schema.get("description")] == []


async def test_a_whole_path_of_the_folder_is_one_in_it(folder: Folder) -> None:
    (folder.root / "a").write_text("hello")
    (read,) = await call_all(folder, ("read_file", {"path": str(folder.root / "a")}))
    assert read.result == "hello"


@pytest.mark.parametrize("name", TOUCH)
@pytest.mark.parametrize(
    "path",
    ["..", "../secret", "../beside", "a/../../beside", "./../beside/secret", "out", "out/secret", "inner/out", "leads",
     "{above}/beside", "/", "/etc/passwd", "//etc/passwd", "/proc/self/cwd"],
)  # fmt: skip
async def test_no_path_leads_out_of_the_folder(folder: Folder, name: str, path: str) -> None:
    above = folder.root.parent
    (folder.root / "out").symlink_to(above / "beside")
    (folder.root / "inner").mkdir()
    (folder.root / "inner" / "out").symlink_to("../../beside/secret")
    (folder.root / "leads").symlink_to("inner/out")
    before = _tree(above)
    result = await fail(folder, name, **_name_path(name, path.format(root=folder.root, above=above)))
    assert result.failure is not None
    assert result.failure.kind == "permission"
    assert "a secret" not in (result.error or "")
    assert _tree(above) == before


@pytest.mark.parametrize("name", TOUCH)
@pytest.mark.parametrize("path", ["a\0b", "\ud800", "x" * 5000, "y" * 300, "circle", "circle/x"])
async def test_a_path_that_is_none_is_an_error_of_the_call(folder: Folder, name: str, path: str) -> None:
    (folder.root / "circle").symlink_to("circle")
    result = await fail(folder, name, **_name_path(name, path))
    assert result.failure is not None
    assert result.failure.kind in ("validation", "resource", "execution")
    assert str(folder.root) not in result.failure.message


async def test_links_that_lead_out_are_neither_searched_nor_listed_into(folder: Folder) -> None:
    (folder.root / "out").symlink_to(folder.root.parent / "beside")
    (folder.root / "file").symlink_to(folder.root.parent / "secret")
    assert await call(folder, "search", pattern="secret") == "nothing found"
    assert await call(folder, "list_files", recursive=True) == "file@\nout@\n"


async def test_a_link_inside_of_the_folder_is_followed_and_stays(folder: Folder) -> None:
    (folder.root / "real").write_text("one")
    (folder.root / "link").symlink_to("real")
    assert await call(folder, "read_file", path="link") == "one"
    await call(folder, "write_file", path="link", content="two")
    await call(folder, "edit_file", path="link", old_content="two", new_content="three")
    assert (folder.root / "real").read_text() == "three"
    assert (folder.root / "link").is_symlink()


@pytest.mark.parametrize("name", ["read_file", "write_file", "edit_file", "search"])
async def test_a_pipe_is_no_file_and_nothing_waits_for_it(folder: Folder, name: str) -> None:
    os.mkfifo(folder.root / "pipe")
    result = await fail(folder, name, **_name_path(name, "pipe"))
    assert result.failure is not None
    assert result.failure.kind == "resource"


# -- read_file ---------------------------------------------------------------------------------------------


async def test_lines_are_read_with_their_ends_as_they_are(folder: Folder) -> None:
    (folder.root / "a").write_bytes(b"one\r\ntwo\n\nfour")
    assert await call(folder, "read_file", path="a") == "one\r\ntwo\n\nfour"
    assert await call(folder, "read_file", path="a", start_line=2, end_line=3) == "two\n\n"
    assert await call(folder, "read_file", path="a", end_line=1) == "one\r\n"
    assert await call(folder, "read_file", path="a", start_line=9) == ""


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
async def test_a_file_is_read_in_its_encoding(folder: Folder, encoding: str) -> None:
    (folder.root / "a").write_bytes("naïve\nÄ".encode(encoding))
    assert await call(folder, "read_file", path="a", encoding=encoding) == "naïve\nÄ"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "utf-16"])
async def test_a_file_in_another_encoding_is_an_error_that_names_it(folder: Folder, encoding: str) -> None:
    (folder.root / "a").write_bytes(b"caf\xe9 \xff")
    result = await fail(folder, "read_file", path="a", encoding=encoding)
    assert result.failure is not None
    assert result.failure.kind == "validation"
    assert "UTF-16" in result.failure.message or encoding in result.failure.message


async def test_a_long_file_is_cut_and_can_be_read_on_from_there(folder: Folder) -> None:
    lines = [f"line {number}\n" for number in range(1, 20_000)]
    (folder.root / "a").write_text("".join(lines))
    text, start = "", 1
    while True:
        part = await call(folder, "read_file", path="a", start_line=start)
        text, mark, _ = part.partition("\n[… cut in line ")
        assert len(text) <= MAX_OUTPUT
        assert lines[start - 1] == text[: len(lines[start - 1])]
        if not mark:
            break
        start = int(part.partition("start_line=")[2].split()[0])
    assert text.endswith(lines[-1])


async def test_a_line_without_an_end_is_not_held_in_memory(folder: Folder) -> None:
    with (folder.root / "a").open("wb") as file:
        file.truncate(5_000_000_000)  # of which the disk holds nothing
    assert len(await call(folder, "read_file", path="a")) < MAX_OUTPUT + 200


async def test_a_long_line_is_one_line(folder: Folder) -> None:
    (folder.root / "a").write_text("x" * (MAX_OUTPUT * 2) + "\nsecond\n")
    assert await call(folder, "read_file", path="a", start_line=2) == "second\n"


# -- write_file --------------------------------------------------------------------------------------------


async def test_a_file_is_written_in_folders_that_are_made(folder: Folder) -> None:
    (told,) = await call_all(folder, ("write_file", {"path": "a/b/c.txt", "content": "naïve\r\n"}))
    assert (folder.root / "a/b/c.txt").read_bytes() == "naïve\r\n".encode()
    assert told.result == {"bytes_written": 8}
    assert told.to_envelope()["state_changes"] == [{"type": "FileCreated", "path": "a/b/c.txt"}]


async def test_without_create_directories_the_folder_must_be_there(folder: Folder) -> None:
    result = await fail(folder, "write_file", path="a/b", content="x", create_directories=False)
    assert result.failure is not None
    assert result.failure.kind == "resource"
    assert os.listdir(folder.root) == []


async def test_what_is_appended_stands_behind_what_was_there(folder: Folder) -> None:
    for text in ("one\n", "two\n"):
        (told,) = await call_all(folder, ("write_file", {"path": "a", "content": text, "mode": "append"}))
    assert (folder.root / "a").read_text() == "one\ntwo\n"
    assert told.to_envelope()["state_changes"] == [{"type": "FileModified", "path": "a"}]


async def test_what_may_have_been_appended_is_not_appended_again(folder: Folder) -> None:
    again = sp.ToolContext("call-0", "key", 2, None, folder)
    with pytest.raises(sp.ToolError) as raised:
        await write_file("a", again, mode="append", content=sp.Streamed.of("one"))
    assert raised.value.kind == "execution"
    assert os.listdir(folder.root) == []
    await write_file("a", again, mode="overwrite", content=sp.Streamed.of("one"))
    assert (folder.root / "a").read_text() == "one"


async def test_a_script_stays_one_that_can_be_run(folder: Folder) -> None:
    script = folder.root / "a"
    script.write_text("echo one")
    script.chmod(0o755)
    await call(folder, "write_file", path="a", content="echo two")
    await call(folder, "edit_file", path="a", old_content="two", new_content="three")
    assert script.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("content", ["x", "\ud800"])
async def test_a_write_that_fails_leaves_the_file_and_nothing_beside_it(folder: Folder, content: str) -> None:
    (folder.root / "a").mkdir()
    (folder.root / "b").write_text("old")
    await fail(folder, "write_file", path="a" if content == "x" else "b", content=content)
    assert sorted(os.listdir(folder.root)) == ["a", "b"]
    assert (folder.root / "b").read_text() == "old"


# -- edit_file ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("occurrence", "after"), [("first", "B\r\na\r\na\r\n"), ("last", "a\r\na\r\nB\r\n"), ("all", "B\r\nB\r\nB\r\n")]
)
async def test_the_first_the_last_or_all_are_replaced(folder: Folder, occurrence: str, after: str) -> None:
    (folder.root / "a").write_bytes(b"a\r\na\r\na\r\n")
    result = await call(folder, "edit_file", path="a", old_content="a", new_content="B", occurrence=occurrence)
    assert (folder.root / "a").read_bytes().decode() == after
    assert (result["found"], result["replaced"]) == (3, 3 if occurrence == "all" else 1)


@pytest.mark.parametrize("old", ["c", "a\n", "A", "a\r\nb "])
async def test_a_text_that_does_not_stand_there_exactly_changes_nothing(folder: Folder, old: str) -> None:
    (folder.root / "a").write_bytes(b"a\r\nb")
    result = await fail(folder, "edit_file", path="a", old_content=old, new_content="x")
    assert result.failure is not None
    assert result.failure.kind == "validation"
    assert (folder.root / "a").read_bytes() == b"a\r\nb"


async def test_nothing_is_no_text_to_replace(folder: Folder) -> None:
    (folder.root / "a").write_text("a")
    assert "old_content" in (await fail(folder, "edit_file", path="a", old_content="", new_content="x")).error  # type: ignore[operator]


async def test_an_edit_does_not_make_a_file_too_large_to_be_edited(folder: Folder) -> None:
    (folder.root / "a").write_text("x" * 1_000_000)
    result = await fail(folder, "edit_file", path="a", old_content="x", new_content="y" * 1000, occurrence="all")
    assert result.failure is not None
    assert result.failure.kind == "resource"
    assert (folder.root / "a").stat().st_size == 1_000_000


async def test_only_text_of_a_moderate_size_is_edited(folder: Folder) -> None:
    (folder.root / "binary").write_bytes(b"a\xff")
    with (folder.root / "large").open("wb") as file:
        file.truncate(MAX_FILE + 1)
    kinds = [
        (await fail(folder, "edit_file", path=path, old_content="a", new_content="b")).failure.kind  # type: ignore[union-attr]
        for path in ("binary", "large", "absent", ".")
    ]
    assert kinds == ["validation", "resource", "resource", "resource"]


# -- together ----------------------------------------------------------------------------------------------


async def test_a_read_waits_for_an_earlier_write_of_that_file_however_it_is_spelt(folder: Folder) -> None:
    results = await call_all(
        folder,
        ("write_file", {"path": "a.txt", "content": "one"}),
        ("read_file", {"path": "./a.txt"}),
        ("edit_file", {"path": "b/../a.txt", "old_content": "one", "new_content": "two"}),
        ("read_file", {"path": "a.txt"}),
        ("write_file", {"path": ".//a.txt", "content": " three", "mode": "append"}),
        ("search", {"pattern": "three"}),
        ("write_file", {"path": "b.txt", "content": ""}),
        ("list_files", {}),
        ("bash", {"command": "rm *.txt"}),
        ("list_files", {}),
    )
    told = [result.result for result in results][1::2]
    assert told == ["one", "two", "a.txt:1: two three\n", "a.txt\nb.txt\n", "nothing found"]


def test_the_tools_say_what_they_do() -> None:
    declared = {tool.name: (tool.effect, tool.category, tool.ends) for tool in (each.tool for each in TOOLS)}
    assert declared == {
        "bash": ("write", "shell", False),
        "read_file": ("read", "files", False),
        "write_file": ("idempotent", "files", False),
        "edit_file": ("write", "files", False),
        "search": ("read", "search", False),
        "list_files": ("read", "files", False),
        "think": ("read", "control", False),
        "submit": ("write", "control", True),
    }
    assert all(each.tool.parameters["additionalProperties"] is False for each in TOOLS)


async def test_the_terminal_tool_gives_the_answer_back(folder: Folder) -> None:
    assert await call(folder, "submit", answer="done", confidence=0.5) == {"answer": "done", "confidence": 0.5}
    assert await call(folder, "think", thought="hm") == "noted"
    assert isinstance(await fail(folder, "submit", answer="done", confidence=2), sp.ToolResult)


# -- written while the model writes ------------------------------------------------------------------------


async def _write(
    folder: Folder, pieces: list[str], *after: sp.Event
) -> tuple[list[sp.ToolResult], list[dict[str, str]]]:
    """Let the model write a call in pieces; return the results, and what the folder held behind each piece."""
    seen: list[dict[str, str]] = []

    async def events() -> AsyncIterator[sp.Event]:
        yield sp.ToolCallStart(0, "call-0", "write_file")
        for piece in pieces:
            yield sp.ToolCallDelta(0, piece)
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            seen.append(_tree(folder.root))
        for event in after:
            yield event

    async with sp.ToolRunner(TOOLS) as runner:
        async for _ in runner.run(events(), deps=folder):
            pass
        return runner.results, seen


PIECES = ['{"path": "a", "create_dir', 'ectories": true, "content": "one', " two", ' three"}']
WHOLE = {"path": "a", "create_directories": True, "content": "one two three"}
COMPLETE = sp.ToolCallComplete(0, "call-0", "write_file", WHOLE, "native", "".join(PIECES), "field")


async def test_a_file_grows_beside_the_old_one_and_takes_its_place_once_the_call_counts(folder: Folder) -> None:
    (folder.root / "a").write_text("old")
    _, seen = await _write(folder, PIECES, COMPLETE, sp.Done("tool_calls", None, True))
    assert [len(tree) for tree in seen] == [1, 2, 2, 2]
    assert all(tree["a"] == "old" for tree in seen)
    assert _tree(folder.root) == {"a": "one two three"}


@pytest.mark.parametrize("count", range(5))
async def test_a_write_that_is_cut_anywhere_leaves_the_old_file_and_nothing_else(folder: Folder, count: int) -> None:
    (folder.root / "a").write_text("old")
    end = [sp.Error("call", "truncated_call", "the answer was cut", 0, 0), sp.Done("length", None, False)]
    if count == len(PIECES):
        end = [COMPLETE, sp.Error("stream", "cut", "the answer was cut", None, 0), sp.Done(None, None, False)]
    results, _ = await _write(folder, PIECES[:count], *end)
    assert [result.success for result in results] == [False]
    assert _tree(folder.root) == {"a": "old"}


async def test_what_the_model_says_last_decides_how_its_text_is_written(folder: Folder) -> None:
    (folder.root / "a").write_text("old ")
    arguments = {"path": "a", "content": "new", "mode": "append"}
    pieces = ['{"path": "a", "content": "ne', 'w", "mode": "app', 'end"}']
    complete = sp.ToolCallComplete(0, "call-0", "write_file", arguments, "native", "".join(pieces), "field")
    (result,), _ = await _write(folder, pieces, complete, sp.Done("tool_calls", None, True))
    assert result.error is None
    assert (folder.root / "a").read_text() == "old new"
