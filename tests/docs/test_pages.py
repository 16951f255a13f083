"""What the pages of docs show runs as it stands."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

PROGRAM = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
PROGRAMS = {
    page.stem: blocks
    for page in sorted((Path(__file__).parents[2] / "docs").glob("*.md"))
    if (blocks := PROGRAM.findall(page.read_text(encoding="utf-8")))
}
NEEDED = {"repair": "jsonschema_rs"}


@pytest.mark.parametrize("page", PROGRAMS)
def test_the_programs_of_a_page_run_in_order(page: str) -> None:
    if page in NEEDED and not find_spec(NEEDED[page]):
        pytest.skip(f"the page needs {NEEDED[page]}")
    names: dict[str, Any] = {}
    for block in PROGRAMS[page]:
        exec(compile(block, f"docs/{page}.md", "exec", dont_inherit=True), names)  # noqa: S102 - our own page
