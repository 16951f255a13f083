"""Runs the cases of one test as one item, for the 38,000 ids of the suite cost more than most of what they prove.

A test that takes nothing but its parameters, and has no marks, needs no set-up of its own: its cases are called one by
one, in batches of `MOST`.  A batch runs all its cases, and shows each that failed under its id,
`tests/a.py::test_b[case]`.  Each case is an item of its own wherever cases are chosen: by `-k`, by an id, and with
`--collect-only` or `-vv`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

__all__ = ["Batch"]

MOST = 32
"""Cases of a batch: few enough that two processes come to an end together."""


class CasesFailedError(Exception):
    """What became of the cases of a batch that failed."""

    def __init__(self, failed: list[tuple[pytest.Function, pytest.ExceptionInfo[BaseException]]]) -> None:
        super().__init__(", ".join(case.name for case, _ in failed))
        self.failed = failed


class Batch(pytest.Item):
    """Cases of one test."""

    def __init__(self, *, cases: list[pytest.Function], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cases = cases
        self.obj = cases[0].obj
        self.originalname = cases[0].originalname
        self.fixturenames = cases[0].fixturenames

    def runtest(self) -> None:
        failed, skipped = [], []
        for case in self.cases:
            try:
                case.obj(**case.callspec.params)
            except pytest.skip.Exception as reason:
                skipped.append(reason)
            except (Exception, pytest.fail.Exception):  # noqa: BLE001 - whatever a test raises is its failure
                failed.append((case, pytest.ExceptionInfo.from_current()))
                if self.config.option.maxfail == 1:
                    break
        if failed:
            raise CasesFailedError(failed)
        if len(skipped) == len(self.cases):
            raise skipped[0]

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if not isinstance(excinfo.value, CasesFailedError):
            return super().repr_failure(excinfo, style)
        return "\n\n".join(f"{case.nodeid}\n\n{case.repr_failure(info)}" for case, info in excinfo.value.failed)

    def reportinfo(self) -> Any:
        return (*self.cases[0].reportinfo()[:2], self.name)


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


@pytest.hookimpl(tryfirst=True)  # pytest compares each item with all others of its parameters
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    option = config.option
    chosen = option.keyword or option.deselect or option.collectonly or option.verbose > 0
    if not chosen:
        items[:] = gather(items)
