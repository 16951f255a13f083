"""The programs of the pages about SDKs run, each alone; `make recipes` runs them where every SDK is installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from model_server import ModelServer
from programs import BLOCK, ROOT, SDK_PAGES, can_run, run_program
from serving import proxied, serving

PROGRAMS = [
    (page, source)
    for page in SDK_PAGES
    for kind, source in BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
    if kind == "python"
]


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[str, str]]:
    with serving(ModelServer()) as chat, proxied(ModelServer(), wire="openai-chat") as anthropic:
        yield chat, anthropic


@pytest.mark.parametrize(
    "source", [pytest.param(source, id=f"{page}-{number}") for number, (page, source) in enumerate(PROGRAMS)]
)
def test_a_program_with_an_sdk_runs_alone(source: str, servers: tuple[str, str]) -> None:
    if not can_run(source):
        pytest.skip("its SDK is not installed")
    assert "This is what the README says." in run_program(source, *servers)
