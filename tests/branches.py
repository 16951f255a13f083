"""Records which branches of the package the tests take, with `--branches`; `check_coverage.py` reads the record.

Tracing makes Python code three times as slow, so only tests whose examples say what they prove run with `--branches`:
plain tests of the rooms, traced for a text fed whole, one by one, by messages and by seven.  Left out are

- property tests, random pieces and the cuts in two: what they reach may be chance,
- tests that multiply many things by many others (`PRODUCTS`),
- tests that count calls: what the tracer calls would count too,
- folders whose tests run the package in other processes, need a server or a model, or need what lies beside the
  checkout: what a clone without those reaches must be the same.

Nothing here is chance, so the figures of two runs are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from coverage import Coverage

__all__ = ["FOLDERS", "untraced"]

HERE = Path(__file__).parent
FOLDERS = frozenset({
    "adapters", "bulk", "cli", "coercion", "dialects", "emit", "frames", "json", "middleware", "negotiate", "proxy",
    "recover", "repair", "rooms", "runtime", "streams", "testing", "tools", "wires",
})  # fmt: skip
"""Whose tests are traced."""

PRODUCTS = frozenset({
    "test_a_fault_anywhere_in_any_good_stream_gives_what_the_catalogue_says",
    "test_a_marker_that_is_mentioned_is_text",
    "test_a_text_shows_an_example_of_its_dialect_which_is_read_the_same_way",
    "test_an_answer_of_each_provider_goes_to_each_other",
    "test_arguments_that_nest_too_deeply_are_looked_at_no_further",
    "test_content_blocks_alone_are_anthropics",
    "test_so_many_rounds_stay_and_the_task_the_system_and_the_prompt_they_answer_do",
    "test_the_calls_of_a_message_count_with_or_without_role_ids_arguments_and_done",
    "test_the_official_client_reads_a_stream_to_its_end",
    "test_the_official_client_reads_a_whole_answer",
})  # fmt: skip
"""Tests that multiply many things by many others, and hardly take a branch of their own."""
UNTRACED_MODULES = frozenset({
    "test_agent_checkpoints.py", "test_checkpoints.py", "test_histories.py",  # of this kind, too
    "test_hard_ends.py",  # waits for real deadlines, and a tracer makes it late
})  # fmt: skip
"""Modules of which nothing is traced."""


class Tracer:
    """Coverage's recorder, on in one test at a time."""

    def __init__(self, coverage: Coverage) -> None:
        self._coverage = coverage
        self.is_on = False

    def start(self) -> None:
        self._coverage.start()
        self.is_on = True

    def stop(self) -> None:
        if self.is_on:
            self._coverage.stop()
            self.is_on = False

    def save(self) -> None:
        self.stop()
        self._coverage.save()


_active: list[Tracer] = []


@contextmanager
def untraced() -> Iterator[None]:
    """Record nothing meanwhile."""
    tracers = [tracer for tracer in _active if tracer.is_on]
    for tracer in tracers:
        tracer.stop()
    try:
        yield
    finally:
        for tracer in tracers:
            tracer.start()


def is_traced(item: pytest.Item) -> bool:
    """Whether the branches that a test takes are recorded."""
    if hasattr(getattr(item, "obj", None), "hypothesis") or "uncollected" in getattr(item, "fixturenames", ()):
        return False
    if item.path.name in UNTRACED_MODULES or getattr(item, "originalname", item.name) in PRODUCTS:
        return False
    return item.path.relative_to(HERE).parts[0] in FOLDERS


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--branches", action="store_true", help="record which branches of the package are taken")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--branches"):
        return
    import coverage

    recorder = coverage.Coverage(config_file=str(HERE.parent / "pyproject.toml"))
    is_worker = hasattr(config, "workerinput")
    if not is_worker:
        recorder.erase()
    if is_worker or not config.getoption("numprocesses", None):
        _active.append(Tracer(recorder))
        _active[0].start()  # what runs when a module is imported counts


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--branches"):
        others = [item for item in items if not is_traced(item)]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if is_traced(item)]


def pytest_collection_finish() -> None:
    for tracer in _active:
        tracer.stop()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Iterator[None]:
    for tracer in _active:
        tracer.start()
    try:
        return (yield)
    finally:
        for tracer in _active:
            tracer.stop()


def pytest_unconfigure() -> None:
    while _active:
        _active.pop().save()
