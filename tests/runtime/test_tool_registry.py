"""Tools by name and by category, for whatever takes tools."""

import pytest
from turns import DONE, collect, complete, stream

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS


@sp.tool(category="files", effect="read")
def read_file(path: str) -> str:
    """Read."""
    return path


@sp.tool(category="files")
def write_file(path: str, content: str) -> str:
    return path + content


@sp.tool
def bash(command: str) -> str:
    return command


@pytest.fixture
def registry():
    return sp.ToolRegistry([read_file, write_file, bash])


def test_tools_are_found_by_name_and_by_category(registry):
    assert registry["bash"].function is bash
    assert ("bash" in registry, "nope" in registry, len(registry)) == (True, False, 3)
    assert [tool.name for tool in registry.categories["files"]] == ["read_file", "write_file"]
    assert [tool.name for tool in registry.categories[""]] == ["bash"]


def test_a_selection_is_a_registry_in_the_same_order(registry):
    assert registry.select("bash", "read_file").names == ["read_file", "bash"]
    assert registry.select(categories=["files"]).names == ["read_file", "write_file"]
    assert registry.select("bash", categories=["files"]).names == registry.names
    assert registry.without("bash").names == ["read_file", "write_file"]
    assert registry.without(categories=["files"]).names == ["bash"]


def test_what_is_not_there_cannot_be_selected(registry):
    for choose in (lambda: registry["nope"], lambda: registry.select("nope"), lambda: registry.remove("nope")):
        with pytest.raises(KeyError, match="read_file"):
            choose()
    with pytest.raises(KeyError, match="files"):
        registry.without(categories=["nope"])
    with pytest.raises(TypeError):
        registry.select(categories="files")


def test_tools_are_added_and_removed(registry):
    registry.remove("bash")
    registry.add(bash, {"name": "search", "input_schema": {"type": "object"}})
    assert registry.names == ["read_file", "write_file", "bash", "search"]


def test_of_tools_that_cannot_be_added_none_is(registry):
    with pytest.raises(ValueError, match="bash"):
        registry.add(sp.Tool("other"), bash)
    with pytest.raises(TypeError):
        registry.add(3)
    assert registry.names == ["read_file", "write_file", "bash"]


@pytest.mark.parametrize("provider", ADAPTERS)
def test_every_provider_has_its_definitions(registry, provider):
    assert registry.definitions(provider) == ADAPTERS[provider].format_tools([read_file, write_file, bash])
    assert registry.translate(provider).result == registry.definitions(provider)


def test_an_unknown_provider_is_refused(registry):
    with pytest.raises(ValueError, match="nope"):
        registry.definitions("nope")


@pytest.mark.anyio
async def test_whatever_takes_tools_takes_a_registry(registry):
    sp.StreamParser("openai-chat", tools=registry)
    sp.TextParser(tools=registry)
    async with sp.ToolRunner(registry) as runner:
        await collect(runner, stream(complete(0, "read_file", path="a"), DONE))
    assert runner.results[0].result == "a"

    async def model(request):
        raise AssertionError("not asked")

    assert set(sp.Agent(model, registry).tools) == set(registry.names)
