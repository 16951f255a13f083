"""Figures that the benches found, printed under the summary."""

from __future__ import annotations

from collections.abc import Callable

import pytest

_FIGURES: list[str] = []


@pytest.fixture
def tell() -> Callable[[str], None]:
    """Print a line at the end of the run; one that was told before is not told again."""
    return lambda line: None if line in _FIGURES else _FIGURES.append(line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _FIGURES:
        terminalreporter.section("figures")
        terminalreporter.write_line("\n".join(_FIGURES))
