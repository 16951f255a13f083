"""Runs the cases of one test as one item, for the 38,000 ids of the suite cost more than most of what they prove.

A test that takes nothing but its parameters, and has no marks, needs no set-up of its own: its cases are called one by
one, in batches of `MOST`.  A case that fails is reported under its own id, `tests/a.py::test_b[case]`, and each goes on
being an item wherever cases are chosen: by `-k`, by an id, with `--collect-only` or `-v`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest
from _pytest.runner import CallInfo

__all__ = ["Batch"]

MOST = 32
"""Cases of a batch: few enough that two processes come to an end together."""


class Batch(pytest.Item):
    """Cases of one test."""

    def __init__(self, *, cases: list[pytest.Function], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cases = cases
        self.obj = cases[0].obj
        self.originalname = cases[0].originalname
        self.fixturenames = cases[0].fixturenames

    def runtest(self) -> None:
        for case in self.cases:
            call = CallInfo.from_call(lambda case=case: case.obj(**case.callspec.params), "call")  # type: ignore[misc]
            if call.excinfo is not None:
                report = case.ihook.pytest_runtest_makereport(item=case, call=call)
                case.ihook.pytest_runtest_logreport(report=report)
            if self.session.shouldstop or self.session.shouldfail:
                break

    def reportinfo(self) -> Any:
        return self.cases[0].reportinfo()


def is_bare(item: pytest.Item) -> bool:
    """Whether all that a case takes are its parameters."""
    return (
        type(item) is pytest.Function
        and hasattr(item, "callspec")
        and {*item.fixturenames} == item.callspec.params.keys()
        and all(mark.name == "parametrize" for mark in item.iter_markers())
        and item.cls is None
        and not inspect.iscoroutinefunction(item.obj)
        and not hasattr(item.obj, "hypothesis")
    )


def gather(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """The items, neighbours of one test put together."""
    for together, group in groupby(items, lambda item: (item.parent, item.originalname) if is_bare(item) else item):
        cases = [*group]
        if len(cases) == 1:
            yield cases[0]
            continue
        parent, name = together
        for number, at in enumerate(range(0, len(cases), MOST)):
            yield Batch.from_parent(parent, name=f"{name}#{number}", cases=cases[at : at + MOST])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen = config.option.keyword or config.option.collectonly or config.option.verbose > 0
    if not chosen:
        items[:] = gather(items)
