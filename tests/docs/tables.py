"""Tables of the documents: each stands between two comments that name it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

__all__ = ["read_table", "show_table", "write_table"]


def show_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Write a table as Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def read_table(page: Path, name: str) -> str:
    """Return what stands between the two comments."""
    return page.read_text(encoding="utf-8").split(f"<!-- {name} -->\n")[1].split(f"<!-- /{name} -->")[0]


def write_table(page: Path, name: str, table: str) -> None:
    """Put a table between the two comments."""
    before, rest = page.read_text(encoding="utf-8").split(f"<!-- {name} -->\n")
    after = rest.split(f"<!-- /{name} -->")[1]
    page.write_text(f"{before}<!-- {name} -->\n\n{table}\n<!-- /{name} -->{after}", encoding="utf-8")
