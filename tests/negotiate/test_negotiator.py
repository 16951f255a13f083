"""How to speak with a model: configuration first, then the model, then the provider's defaults."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import streamparse as sp
from streamparse.adapters import ADAPTERS
from streamparse.negotiate import (
    CapabilityLearner,
    Configuration,
    ConfigurationError,
    FormatNegotiator,
    JSONFile,
    SQLiteFile,
    Store,
    capabilities_of,
    family_of,
    known_families,
    known_providers,
    outcomes_of,
    provider_of,
)
from streamparse.protocols import ToolCallParser, ToolFormat
from streamparse.recover import parser_for

ROOT = Path(__file__).parents[2]
TOOL = {
    "name": "search",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}
PROFILES = """
[profiles.coder]
provider = "ollama"
models = ["my-coder*"]
dialects = ["qwen3-coder"]

[profiles.coder.tools]
definition_format = "openai"
call_parser = "markup"
result_format = "generic"

[profiles.any-ollama]
provider = "ollama"
wire = "openai-chat"
capabilities = {parallel_calls = false}

[profiles.lab]
wire = "anthropic"
reasoning = "open"
"""


# -- the table


def test_every_row_has_its_source_a_wire_and_an_adapter_that_exist() -> None:
    for name, row in known_providers().items():
        assert row.source, name
        assert row.wire in sp.WIRES
        assert row.adapter in ADAPTERS
        if not row.source.startswith("https://"):
            folder, _, files = row.source.partition(": ")
            assert all((ROOT / folder / f"{file}.body").exists() for file in files.split(", "))


def test_every_dialect_that_the_table_names_exists() -> None:
    rows = known_families()
    assert rows
    for name, row in rows.items():
        assert row.source, name
        assert set(row.dialects) <= set(sp.DIALECTS), name


@pytest.mark.parametrize(
    ("model", "dialect"),
    [
        ("Qwen/Qwen3-Coder-480B", "qwen3-coder"),
        ("qwen3:8b", "hermes"),
        ("deepseek-ai/DeepSeek-V3.1-Terminus", "deepseek-v3.1"),
        ("deepseek-ai/DeepSeek-V3-0324", "deepseek-v3"),
        ("zai-org/GLM-4.7", "glm-4.7"),
        ("mistralai/Magistral-Small-2506", "mistral-v11"),
        ("gpt-oss:20b", "harmony"),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "qwen3-coder"),
        ("nvidia/NVIDIA-Nemotron-Nano-9B-v2", "toolcall-upper"),
        ("mistral-small3.2:24b", "mistral-v11"),
        ("CohereLabs/c4ai-command-r7b-12-2024", "cohere-action"),
        ("deepseek-chat", "deepseek-v3"),
    ],
)
def test_a_family_is_found_by_any_spelling_of_its_models_names(model: str, dialect: str) -> None:
    found = family_of(model)
    assert found is not None
    assert found[1].dialects[0] == dialect


def test_a_model_that_nobody_knows_has_no_family() -> None:
    assert family_of("my-own-model") is None


@pytest.mark.parametrize("name", ["google", "Gemini", "GOOGLE_GENAI"])
def test_a_provider_has_several_names(name: str) -> None:
    found = provider_of(name)
    assert found is not None
    assert found[0] == "gemini"


def test_the_model_says_more_than_its_server() -> None:
    both = capabilities_of("ollama", "llama3.1:8b")
    assert both.parallel_calls is False
    assert both.streamed_arguments == "whole"
    assert capabilities_of("ollama").parallel_calls is True
    assert both.source.count(";") == 1


# -- negotiation


def test_a_provider_gives_its_wire_and_its_adapters() -> None:
    chosen = FormatNegotiator().negotiate("anthropic", "claude-sonnet-4-5")
    assert isinstance(chosen, ToolFormat)
    assert (chosen.name, chosen.wire, chosen.dialects) == ("anthropic", "anthropic", "auto")
    assert chosen.definitions is ADAPTERS["anthropic"]
    assert chosen.results is ADAPTERS["anthropic"]
    assert chosen.tools_in == "request"
    assert sp.StreamParser(**chosen.parsing()).wire == "anthropic"


def test_a_known_family_gives_its_dialects() -> None:
    assert FormatNegotiator().negotiate("vllm", "zai-org/GLM-4.5").dialects == ("glm-4.5",)


def test_a_server_without_native_tools_takes_them_in_the_prompt() -> None:
    assert FormatNegotiator().negotiate("perplexity").tools_in == "prompt"


def test_without_a_provider_the_general_rules_hold() -> None:
    chosen = FormatNegotiator().negotiate()
    assert (chosen.name, chosen.wire, chosen.dialects) == ("general", "auto", "auto")


def test_configuration_comes_before_the_model_and_the_model_before_the_provider() -> None:
    negotiator = FormatNegotiator(Configuration.loads(PROFILES))
    coder = negotiator.negotiate("ollama", "my-coder:7b")
    assert (coder.name, coder.wire, coder.dialects) == ("coder", "ollama-chat", ("qwen3-coder",))
    assert isinstance(coder.definitions, type(ADAPTERS["openai"]))
    assert coder.results is ADAPTERS["generic"]
    assert coder.call_parser == "markup"
    other = negotiator.negotiate("ollama", "qwen3:8b")
    assert (other.name, other.wire, other.dialects) == ("any-ollama", "openai-chat", ("hermes",))
    assert other.capabilities.parallel_calls is False
    assert negotiator.negotiate("openai").name == "openai"


def test_a_profile_may_be_asked_for_by_its_name() -> None:
    negotiator = FormatNegotiator(Configuration.loads(PROFILES))
    lab = negotiator.negotiate(profile="lab")
    assert (lab.name, lab.wire, lab.reasoning) == ("lab", "anthropic", "open")
    with pytest.raises(ValueError, match="known are: coder, any-ollama, lab"):
        negotiator.negotiate(profile="nope")


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown provider 'nobody'"):
        FormatNegotiator().negotiate("nobody")


def test_an_answer_is_kept_until_something_is_learnt() -> None:
    learner = CapabilityLearner()
    negotiator = FormatNegotiator(learner=learner)
    first = negotiator.negotiate("openai", "m")
    assert negotiator.negotiate("openai", "m") is first
    learner.record("m", "native", "parsed")
    assert negotiator.negotiate("openai", "m") is not first


def test_what_was_learnt_of_a_model_decides_where_nothing_is_configured() -> None:
    learner = CapabilityLearner()
    learner.record("m", "native", "malformed", 6)
    learner.record("m", "kimi-k2", "parsed", 3)
    learner.record("m", "hermes", "malformed", 3)
    chosen = FormatNegotiator(learner=learner).negotiate("vllm", "m")
    assert chosen.dialects == ("kimi-k2",)
    assert chosen.tools_in == "prompt"
    configured = FormatNegotiator({"profiles": {"p": {"provider": "vllm", "dialects": ["hermes"]}}}, learner)
    assert configured.negotiate("vllm", "m").dialects == ("hermes",)


# -- configuration


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[profiles.a]\nwire = 3", r"^profiles\.a\.wire: Expected `str \| null`, got `int`"),
        ("[profiles.a]\nwires = 'x'", r"^profiles\.a: .*unknown field `wires`"),
        ("[profiles.b]\n[profiles.a]\nwire = 'nope'", r"^profiles\.a\.wire: unknown 'nope'; known are: openai-chat"),
        ("[profiles.a.tools]\ndefinition_format = 'nope'", r"^profiles\.a\.tools\.definition_format: unknown 'nope'"),
        ("[profiles.a]\nprovider = 'nope'", r"^profiles\.a\.provider: unknown 'nope'"),
        ("[profiles.a]\ndialects = ['hermes', 'nope']", r"^profiles\.a\.dialects\[1\]: unknown 'nope'"),
        ("[profiles.b]\n[profiles.a]\ndialects = [1]", r"^profiles\.a\.dialects\[0\]: Expected `str`"),
        ("[profiles.a]\nreasoning = 'x'", r"^profiles\.a\.reasoning: Invalid enum value 'x'"),
        ("[profile.a]", r"unknown field `profile`"),
        ("[profiles", "^not TOML: "),
    ],
)
def test_an_error_in_the_configuration_names_its_key(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Configuration.loads(text)


def test_an_error_in_a_file_names_the_file_too(tmp_path: Path) -> None:
    file = tmp_path / "formats.toml"
    file.write_text("[profiles.a]\nwire = 3")
    with pytest.raises(ConfigurationError, match=r"formats\.toml: profiles\.a\.wire"):
        Configuration.load(file)


# -- learning


def test_answers_are_counted_by_format_and_outcome() -> None:
    body = (
        '<tool_call>\n{"name": "search", "arguments": {}}\n</tool_call>'
        '<tool_call>\n{"name": "nope", "arguments": {}}\n</tool_call><tool_call>\n{"name": "search", "arguments": {"q'
    )
    parser = sp.TextParser(["hermes"])
    parser.feed(body)
    parser.close()
    counts = outcomes_of(parser.response, parser.stats, frozenset({"search"}))
    assert counts == {("hermes", "parsed"): 1, ("hermes", "unknown_tool"): 1, ("hermes", "malformed"): 1}
    learner = CapabilityLearner()
    learner.observe("m", parser.response, parser.stats, frozenset({"search"}))
    assert learner.figures("m")["hermes"].calls == 3
    assert learner.figures("m")["hermes"].rate == pytest.approx(1 / 3)
    assert learner.figures("other") == {}


def test_a_call_that_came_natively_too_is_not_malformed() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    text = '<tool_call>\n{"name": "search", "arguments": {}}\n</tool_call>'
    message = {"role": "assistant", "content": text, "tool_calls": [call]}
    parser = sp.StreamParser("openai-chat")
    parser.feed(json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode())
    parser.close()
    assert [broken.code for broken in parser.response.broken_calls] == ["duplicate_call"]
    assert outcomes_of(parser.response, parser.stats) == {("hermes", "parsed"): 1}


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_what_was_last_seen_too_long_ago_is_forgotten() -> None:
    clock = Clock()
    learner = CapabilityLearner(ttl=60, clock=clock)
    learner.record("m", "native", "parsed", 4)
    clock.now += 60
    assert learner.figures("m")["native"].parsed == 4
    clock.now += 1
    assert learner.figures("m") == {}
    assert learner.export() == []
    learner.record("m", "native", "malformed")
    assert (learner.figures("m")["native"].parsed, learner.figures("m")["native"].malformed) == (0, 1)


@pytest.mark.parametrize("kind", [JSONFile, SQLiteFile])
def test_figures_are_saved_and_loaded(kind: Any, tmp_path: Path) -> None:
    store: Store = kind(tmp_path / "figures")
    learner = CapabilityLearner(store=store)
    assert learner.export() == []
    learner.record("m", "native", "parsed", 2)
    learner.record("n", "hermes", "recovered")
    learner.save()
    learner.record("n", "hermes", "recovered")
    learner.save()
    again = CapabilityLearner(store=kind(tmp_path / "figures"))
    assert again.export() == learner.export()
    assert again.figures("n")["hermes"].recovered == 2
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]


def test_without_a_store_nothing_can_be_saved() -> None:
    with pytest.raises(ValueError, match="no store"):
        CapabilityLearner().save()


def test_a_file_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"a": 1}')
    with pytest.raises(ValueError, match="Expected `array`"):
        CapabilityLearner(store=JSONFile(file))


def test_many_threads_lose_no_count() -> None:
    learner = CapabilityLearner()
    threads = [
        threading.Thread(target=lambda: [learner.record("m", "native", "parsed") for _ in range(500)]) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert learner.figures("m")["native"].parsed == 4000
    assert learner.version == 4000


# -- what fits together


@pytest.mark.parametrize("model", ["qwen3-coder:30b", "apertus-8b", "gpt-oss:20b", "my-own-model"])
def test_what_a_prompt_asks_for_is_what_is_parsed(model: str) -> None:
    chosen = FormatNegotiator().negotiate("perplexity", model)
    assert chosen.tools_in == "prompt"
    prompt = chosen.definitions.format_system_prompt([TOOL])
    example = prompt.partition("which shows a call of search:\n\n")[2].partition("\n\nCall only")[0]
    parser = sp.TextParser(chosen.dialects, tools=[TOOL])
    events = [*parser.feed(example), *parser.close()]
    assert [event.arguments for event in events if isinstance(event, sp.ToolCallComplete)] == [{"query": "text"}]


def test_dialects_that_are_configured_stay_as_they_are() -> None:
    profiles = {"profiles": {"p": {"provider": "perplexity", "dialects": ["apertus"]}}}
    assert FormatNegotiator(profiles).negotiate("perplexity").dialects == ("apertus",)


def test_the_parser_that_a_format_names_is_found_by_its_name() -> None:
    for provider in (None, *known_providers()):
        parser = parser_for(FormatNegotiator().negotiate(provider).call_parser, tools=[TOOL])
        assert isinstance(parser, ToolCallParser)


@pytest.mark.parametrize("provider", ["mistral", "deepseek", "openrouter"])
def test_a_provider_with_an_adapter_of_its_own_is_given_it(provider: str) -> None:
    assert FormatNegotiator().negotiate(provider).results is ADAPTERS[provider]


def test_an_answer_is_not_kept_beyond_what_was_forgotten() -> None:
    now = [0.0]
    learner = CapabilityLearner(ttl=10, clock=lambda: now[0])
    negotiator = FormatNegotiator(learner=learner)
    learner.record("m", "native", "malformed", 9)
    assert negotiator.negotiate("openai", "m").tools_in == "prompt"
    now[0] = 11.0
    assert negotiator.negotiate("openai", "m").tools_in == "request"


def test_a_file_that_is_not_utf_8_is_an_error_in_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes(b'[profiles.x]\nprovider = "\xe9"\n')
    with pytest.raises(ConfigurationError, match=r"latin\.toml: .*utf-8"):
        Configuration.load(path)
