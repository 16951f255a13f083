"""The search of the coding agent: it finds what is there, in a time that has an end."""

from __future__ import annotations

import os

import coding_agent
import pytest
import scratch_folder
from coding_calls import call, call_all, fail
from scratch_folder import MAX_FILE, MAX_LINE, MAX_OUTPUT, Folder

pytestmark = pytest.mark.anyio

BOMBS = {
    r"(a|aa)+$": 1,
    r"(a(?1)?)+b": 1,
    r"(?:a{1,60000}){1,60000}b": 1,
    r"(((?:a{1,100}){1,100}){1,100}){1,100}b": 1,
}


@pytest.fixture
def files(folder: Folder) -> Folder:
    """Some text, and what is no text."""
    (folder.root / "src").mkdir()
    (folder.root / "src" / "one.py").write_text("import os\n\ndef Find(path):\n    return os.stat(path)\n")
    (folder.root / "src" / "two.txt").write_text("find it\n")
    (folder.root / ".hidden").write_text("find it\n")
    (folder.root / "binary").write_bytes(b"find it\0")
    with (folder.root / "large").open("wb") as file:
        file.write(b"find it\n" * 10)
        file.truncate(MAX_FILE + 1)
    return folder


async def test_lines_are_found_with_those_around_them(files: Folder) -> None:
    found = await call(files, "search", pattern="stat(")
    assert (
        found
        == "src/one.py:2- \nsrc/one.py:3- def Find(path):\nsrc/one.py:4:     return os.stat(path)\nsrc/one.py:5- \n"
    )


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"pattern": "find"}, ["src/two.txt:1: find it"]),
        ({"pattern": "FIND", "case_sensitive": False}, ["src/one.py:3: def Find(path):", "src/two.txt:1: find it"]),
        ({"pattern": r"^\w+ it$", "type": "regex"}, ["src/two.txt:1: find it"]),
        ({"pattern": r"^\w+ it$"}, ["nothing found"]),
        ({"pattern": "i", "include_pattern": "*.txt"}, ["src/two.txt:1: find it"]),
        ({"pattern": "it", "exclude_pattern": "src/*"}, ["nothing found"]),
        (
            {"pattern": "os", "path": "src/one.py"},
            ["src/one.py:1: import os", "src/one.py:4:     return os.stat(path)"],
        ),
    ],
)
async def test_a_search_is_as_wide_as_it_is_told(files: Folder, arguments: dict[str, object], found: list[str]) -> None:
    assert (await call(files, "search", context_lines=0, **arguments)).splitlines() == found


async def test_many_results_and_long_lines_are_cut_and_say_so(folder: Folder) -> None:
    (folder.root / "a").write_text("find it\n" * 100)
    (folder.root / "b").write_text("there" + "x" * 1_000_000 + "\n")
    found = await call(folder, "search", pattern="find", max_results=7, context_lines=0)
    assert found.count("find it") == 7
    assert "[… cut after 7; there are more" in found
    assert len(await call(folder, "search", pattern="there")) < MAX_LINE + 100
    (folder.root / "c").write_text(("find" + "y" * 400 + "\n") * 1000)
    found = await call(folder, "search", pattern="y", max_results=1000, context_lines=10)
    assert len(found) < MAX_OUTPUT + 200
    assert "there are more" in found


@pytest.mark.parametrize("pattern", ["(", "a{1}{1}", "(" * 300 + ")" * 300, "(?P<a>", "[", r"\L<x>"])
async def test_what_is_no_regular_expression_is_an_error_of_the_call(files: Folder, pattern: str) -> None:
    (result,) = await call_all(files, ("search", {"pattern": pattern, "type": "regex"}))
    assert result.failure is None or result.failure.kind == "validation"


@pytest.mark.parametrize("pattern", BOMBS)
async def test_a_regular_expression_that_takes_for_ever_is_given_up_and_others_go_on(
    files: Folder, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    for module in (scratch_folder, coding_agent):
        monkeypatch.setattr(module, "MAX_SECONDS", 0.1)
    (files.root / "bomb").write_text("aaaa\n" + "a" * 5000 + "!\n")
    bomb, other = await call_all(
        files, ("search", {"pattern": pattern, "type": "regex"}), ("think", {"thought": "I need not wait"})
    )
    assert bomb.failure is not None
    assert bomb.failure.kind == "timeout"
    assert bomb.attempts == 1
    assert other.ended is not None
    assert bomb.ended is not None
    assert other.ended < bomb.ended


async def test_what_was_found_before_the_time_was_over_is_told(files: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (scratch_folder, coding_agent):
        monkeypatch.setattr(module, "MAX_SECONDS", 0.3)
    (files.root / "bomb").write_text("aaaa\n" + "a" * 5000 + "!\n")
    result = await fail(files, "search", pattern="(a|aa)+$", type="regex", context_lines=0)
    assert result.failure is not None
    assert result.failure.details == {"limit_seconds": 0.3, "partial_output": "bomb:1: aaaa\n"}
    assert "bomb:1: aaaa" in (result.error or "")


# -- list_files --------------------------------------------------------------------------------------------


async def test_a_folder_is_listed_as_deep_as_it_is_told(files: Folder) -> None:
    (files.root / "link").symlink_to("src")
    assert await call(files, "list_files") == "binary\nlarge\nlink@\nsrc/\n"
    assert await call(files, "list_files", path="src") == "src/one.py\nsrc/two.txt\n"
    for pattern in ("*.py", "src/*.py", "**/*.py", "**/one.py"):
        assert await call(files, "list_files", recursive=True, pattern=pattern) == "src/one.py\n"
    assert await call(files, "list_files", recursive=True, max_depth=1, pattern="*.py") == "nothing found"
    assert ".hidden\n" in await call(files, "list_files", include_hidden=True)


async def test_a_long_list_is_cut_and_says_so(folder: Folder) -> None:
    for number in range(1001):
        (folder.root / f"{number:04}").touch()
    listed = await call(folder, "list_files")
    assert "0999\n" in listed
    assert "1000\n" not in listed
    assert "[… cut after 1000; there are more" in listed


async def test_a_folder_that_is_none_is_a_resource_that_is_not_there(files: Folder) -> None:
    for path in ("absent", "binary"):
        result = await fail(files, "list_files", path=path)
        assert result.failure is not None
        assert result.failure.kind == "resource"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
async def test_a_folder_that_may_not_be_read_is_told_so(folder: Folder) -> None:
    (folder.root / "closed").mkdir(mode=0)
    result = await fail(folder, "list_files", path="closed")
    assert result.failure is not None
    assert result.failure.kind == "permission"
