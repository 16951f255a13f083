"""The programs of the pages about SDKs run, each alone; `make recipes` runs them where every SDK is installed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from model_server import ModelServer
from programs import BLOCK, ROOT, SDK_PAGES, SERVER, can_run, run_program
from serving import proxied, serving

SAID = "This is what the README says."
PROGRAMS = {
    f"{page}-{number}": source
    for page in SDK_PAGES
    for number, (kind, source) in enumerate(BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")))
    if kind == "python"
}
WEB, RETRIES = PROGRAMS.pop("recipes/fastapi-0"), PROGRAMS["recipes/retries-0"]


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[str, str]]:
    with serving(ModelServer()) as chat, proxied(ModelServer(), wire="openai-chat") as anthropic:
        yield chat, anthropic


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in PROGRAMS.items()])
def test_a_program_with_an_sdk_runs_alone(source: str, servers: tuple[str, str]) -> None:
    if not can_run(source):
        pytest.skip("its SDK is not installed")
    assert SAID in run_program(source, *servers)


def test_the_program_about_retries_asks_again_when_an_answer_breaks_off() -> None:
    if not can_run(RETRIES):
        pytest.skip("its SDK is not installed")
    with serving(ModelServer(torn=1)) as chat:
        printed = run_program(RETRIES, chat, chat)
    assert printed.startswith("\nbroke off: ")
    assert printed.endswith(SAID)


def test_the_program_behind_fastapi_sends_every_item_of_a_run(servers: tuple[str, str]) -> None:
    if not can_run(WEB):
        pytest.skip("FastAPI is not installed")
    names: dict[str, Any] = {}
    exec(compile(WEB.replace(SERVER, servers[0]), "app.py", "exec", dont_inherit=True), names)  # noqa: S102 - our own page
    with serving(names["app"]) as url:
        body = httpx.post(f"{url}/runs", json={"prompt": "Sunny in Paris?"}).text
    items = [json.loads(data.removeprefix("data: ")) for data in body.split("\n\n")[:-1]]
    assert "".join(item["text"] for item in items if item["type"] == "text_delta") == SAID
    assert items[-1]["type"] == "run_end"
