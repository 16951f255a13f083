"""How to speak with a model: configuration first, then the model, then the provider's defaults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import streamparse as sp
from streamparse.negotiate import (
    CapabilityLearner,
    Configuration,
    ConfigurationError,
    FormatNegotiator,
    find_capabilities,
    find_family,
    find_provider,
    list_families,
    list_providers,
)
from streamparse.parser import registry
from streamparse.parser.registry import parser_for
from streamparse.protocols import ToolCallParser, ToolFormat
from streamparse.providers.adapters import ADAPTERS

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
    for name, row in list_providers().items():
        assert row.source, name
        assert row.wire in sp.WIRES
        assert row.adapter in ADAPTERS
        if not row.source.startswith("https://"):
            folder, _, files = row.source.partition(": ")
            assert all((ROOT / folder / f"{file}.body").exists() for file in files.split(", "))


def test_every_dialect_that_the_table_names_exists() -> None:
    rows = list_families()
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
        ("qwen2.5:7b-instruct-q4_K_M", "hermes"),
        ("qwen/qwen-2.5-72b-instruct", "hermes"),
        ("qwen-3-coder-480b", "qwen3-coder"),
        ("hf.co/unsloth/Qwen3-8B-GGUF:Q4", "hermes"),
        ("Qwen_Qwen3-8B-Q4_K_M.gguf", "hermes"),
        (r"C:\models\Qwen2.5-7B-Instruct-Q4_K_M.gguf", "hermes"),
        ("us.meta.llama3-1-8b-instruct-v1:0", "llama3-json"),
        ("arn:aws:bedrock:us-east-1::foundation-model/us.meta.llama3-3-70b-instruct-v1:0", "llama3-json"),
        ("bedrock/us.meta.llama4-maverick-17b-instruct-v1:0", "llama4-pythonic"),
        ("us.deepseek.r1-v1:0", "deepseek-v3"),
        ("openai.gpt-oss-120b-1:0", "harmony"),
        ("ai21.jamba-1-5-large-v1:0", "tool_calls-array"),
        ("accounts/fireworks/models/llama-v3p1-8b-instruct", "llama3-json"),
        ("accounts/fireworks/models/glm-4p5-air#accounts/me/deployments/x", "glm-4.5"),
        ("accounts/fireworks/models/deepseek-v3p1", "deepseek-v3.1"),
        ("Meta-Llama-3_1-70B-Instruct", "llama3-json"),
        ("nvidia/llama-3.3-nemotron-super-49b-v1", "toolcall-upper"),
        ("nvidia/llama-3.1-nemotron-70b-instruct", "llama3-json"),
        ("glm4.5", "glm-4.5"),
        ("stepfun-ai/step-3.5-flash", "qwen3-coder"),
        ("stepfun-ai/step3", "step3"),
        ("zai-org/GLM-5.3-Flash", "glm-5.3"),
        ("zai-org/GLM-5", "glm-4.7"),
        ("upstage/Solar-Open-2", "solar-open-2"),
        ("solar-pro-4", "solar-open-2"),
        ("upstage/Solar-Open-100B", "solar-open"),
        ("IQuest-Coder-V2", "iquest-coder-v2"),
        ("K2-Horizon", "k2-horizon"),
        ("LLM360/K2-v3", "k2-horizon"),
        ("inkling:7b", "inkling"),
        ("naver-hyperclovax/HyperCLOVAX-SEED-Think-32B", "hyperclova-x"),
        ("rwkv7-g1-2.9b", "rwkv"),
        ("spark2.5", "spark2.5"),
        ("facebook/cwm", "cwm"),
    ],
)
def test_a_family_is_found_by_any_spelling_of_its_models_names(model: str, dialect: str) -> None:
    found = find_family(model)
    assert found is not None
    assert found[1].dialects[0] == dialect


@pytest.mark.parametrize(
    "model", ["my-own-model", "", "/", "qwen", "llama3-70b", "qwen3-5b.txt/", "a/llama-2-7b.gguf", "#x"]
)
def test_a_model_that_nobody_knows_has_no_family(model: str) -> None:
    assert find_family(model) is None


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("anthropic/claude-3.7-sonnet:beta", "claude"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude"),
        ("models/gemini-2.5-flash", "gemini"),
        ("projects/p/locations/l/publishers/google/models/gemini-2.5-pro", "gemini"),
        ("gpt-5.1-2025-11-13", "gpt"),
        ("ft:gpt-4o-2024-08-06:me::x", "gpt"),
        ("openai/gpt-oss-20b:free", "gpt-oss"),
        ("o3-mini", "o-series"),
    ],
)
def test_a_hosted_model_has_a_family_that_narrows_no_dialect(model: str, name: str) -> None:
    found = find_family(model)
    assert found is not None
    assert found[0] == name
    assert name == "gpt-oss" or FormatNegotiator().negotiate(None, model).dialects == "auto"


def test_every_pattern_of_the_table_means_a_model_that_finds_its_own_row() -> None:
    for name, row in list_families().items():
        for pattern in row.models:
            found = find_family(pattern.replace("*", "x"))
            assert found is not None
            assert found[0] == name, pattern


def test_what_the_model_or_its_server_cannot_do_both_cannot() -> None:
    assert find_capabilities("perplexity", "claude-sonnet-4-5").native_tools is False
    assert FormatNegotiator().negotiate("perplexity", "claude-sonnet-4-5").tools_in == "prompt"
    assert find_capabilities("openai", "o3-mini").parallel_calls is False
    assert find_capabilities("openai", "gpt-4.1").parallel_calls is True
    assert find_capabilities(None, "gpt-4.1").native_tools is True
    assert find_capabilities("groq", "llama-3.1-8b-instant").max_calls == 1
    assert find_capabilities().native_tools is None


def test_a_profile_may_say_that_there_is_no_choice_of_tools() -> None:
    values = {"profiles": {"p": {"provider": "openai", "capabilities": {"tool_choice": []}}}}
    assert FormatNegotiator(values).negotiate("openai").capabilities.tool_choice == ()
    assert FormatNegotiator().negotiate("openai").capabilities.tool_choice == ("auto", "none", "required", "named")


@pytest.mark.parametrize(
    ("provider", "wire", "adapter"),
    [
        ("ollama", "openai-chat", "openai"),
        ("vllm", "anthropic", "anthropic"),
        ("deepseek", "openai-chat", "deepseek"),
        ("ollama", "ollama-generate", "ollama"),
        ("mistral", "auto", "mistral"),
        (None, "anthropic", "anthropic"),
        (None, "gemini", "gemini"),
    ],
)
def test_what_is_sent_is_written_for_the_wire_that_is_configured(provider: Any, wire: str, adapter: str) -> None:
    values = {"profiles": {"p": {"wire": wire} | ({"provider": provider} if provider else {})}}
    chosen = FormatNegotiator(values).negotiate(profile="p")
    assert chosen.wire == wire
    assert chosen.results is ADAPTERS[adapter]
    assert chosen.definitions.format_tools([TOOL]) == ADAPTERS[adapter].format_tools([TOOL])
    values["profiles"]["p"]["tools"] = {"definition_format": "Google", "result_format": "claude"}
    chosen = FormatNegotiator(values).negotiate(profile="p")
    assert chosen.definitions.format_tools([TOOL]) == ADAPTERS["gemini"].format_tools([TOOL])
    assert chosen.results is ADAPTERS["anthropic"]


@pytest.mark.parametrize("model", ["Qwen/Qwen3-Coder-30B", "qwen/qwen3-coder:free"])
def test_the_models_of_a_profile_are_meant_in_any_case(model: str) -> None:
    values = {"profiles": {"p": {"models": ["*/Qwen3-coder*"]}}}
    assert FormatNegotiator(values).negotiate("vllm", model).name == "p"
    assert FormatNegotiator(values).negotiate("vllm").name == "vllm"


@pytest.mark.parametrize("name", ["google", "Gemini", "GOOGLE_GENAI"])
def test_a_provider_has_several_names(name: str) -> None:
    found = find_provider(name)
    assert found is not None
    assert found[0] == "gemini"


def test_the_model_says_more_than_its_server() -> None:
    both = find_capabilities("ollama", "llama3.1:8b")
    assert both.parallel_calls is False
    assert both.streamed_arguments == "whole"
    assert find_capabilities("ollama").parallel_calls is True
    assert both.source.count(";") == 1


# -- negotiation


def test_a_provider_gives_its_wire_and_its_adapters() -> None:
    chosen = FormatNegotiator().negotiate("anthropic", "claude-sonnet-4-5")
    assert isinstance(chosen, ToolFormat)
    assert (chosen.name, chosen.wire, chosen.dialects) == ("anthropic", "anthropic", "reasoning")
    assert chosen.definitions is ADAPTERS["anthropic"]
    assert chosen.results is ADAPTERS["anthropic"]
    assert chosen.tools_in == "request"
    assert sp.StreamParser(**chosen.get_parser_options()).wire == "anthropic"


def test_a_known_family_gives_its_dialects_and_the_rest_stays_armed() -> None:
    assert FormatNegotiator().negotiate("vllm", "zai-org/GLM-4.5").dialects == ("glm-4.5", "auto")
    assert FormatNegotiator().negotiate(None, "zai-org/GLM-4.5").dialects == ("glm-4.5", "auto")
    qwen = FormatNegotiator().negotiate("ollama", "qwen3-next-80b-tools")
    assert qwen.dialects == ("hermes", "auto")
    parser = sp.StreamParser(**qwen.get_parser_options(), tools=[TOOL])
    line = {"message": {"content": '<tools>{"name": "search", "arguments": {"query": "tea"}}</tools>'}, "done": True}
    parser.feed(json.dumps(line).encode() + b"\n")
    parser.close()
    assert [call.arguments for call in parser.response.tool_calls] == [{"query": "tea"}]


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", None),
        ("openai", "gpt-4o"),
        ("openai-responses", "gpt-5"),
        ("azure", "gpt-4.1"),
        ("anthropic", "claude-sonnet-4-5"),
        ("claude", None),
        ("gemini", "gemini-2.5-pro"),
        ("vertex", "gemini-2.5-flash"),
        ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("cohere", "command-r-plus"),
        ("mistral", "mistral-large-latest"),
        ("xai", "grok-4"),
    ],
)
def test_a_provider_that_parses_calls_itself_is_asked_for_thoughts_alone(provider: str, model: str | None) -> None:
    assert FormatNegotiator().negotiate(provider, model).dialects == "reasoning"


def test_a_host_of_open_models_on_a_native_wire_keeps_the_formats_of_their_family() -> None:
    chosen = FormatNegotiator().negotiate("bedrock", "us.meta.llama3-1-8b-instruct-v1:0")
    assert chosen.dialects == ("llama3-json", "llama3-builtin", "function-tag-json", "reasoning")


def test_a_server_that_prints_calls_is_believed_to_on_every_wire() -> None:
    values = {"profiles": {"p": {"provider": "vllm", "wire": "anthropic"}}}
    negotiator = FormatNegotiator(values)
    assert negotiator.negotiate("vllm", "qwen3-8b").dialects == ("hermes", "all")
    assert negotiator.negotiate("vllm", "my-own").dialects == "all"
    values = {"profiles": {"p": {"provider": "openai", "capabilities": {"calls_in_text": True}}}}
    assert FormatNegotiator(values).negotiate("openai", "gpt-oss-20b").dialects == ("harmony", "auto")


def test_where_the_prompt_declares_the_tools_no_server_parses_calls() -> None:
    values = {
        "profiles": {name: {"provider": name, "capabilities": {"native_tools": False}} for name in ("openai", "gemini")}
    }
    negotiator = FormatNegotiator(values)
    assert negotiator.negotiate("openai", "gpt-4o").dialects == ("hermes", "auto")
    assert negotiator.negotiate("gemini", "gemini-2.5-pro").dialects == ("hermes", "all")


def test_what_a_model_of_a_native_provider_was_seen_to_print_is_looked_for() -> None:
    chosen = FormatNegotiator(learner=_seen("claude-sonnet-4-5", anthropic_invoke=5)).negotiate(
        "anthropic", "claude-sonnet-4-5"
    )
    assert chosen.dialects == ("anthropic-invoke", "reasoning")
    parser = sp.StreamParser(**chosen.get_parser_options(), tools=[TOOL])
    text = '<think>Hm.</think><invoke name="search">\n<parameter name="query">tea</parameter>\n</invoke>'
    body = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
    }
    parser.feed(json.dumps(body))
    parser.close()
    assert parser.response.reasoning == "Hm."
    assert [call.name for call in parser.response.tool_calls] == ["search"]


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
    assert (other.name, other.wire, other.dialects) == ("any-ollama", "openai-chat", ("hermes", "auto"))
    assert other.capabilities.parallel_calls is False
    assert negotiator.negotiate("openai").name == "openai"


def test_a_profile_may_be_asked_for_by_its_name() -> None:
    negotiator = FormatNegotiator(Configuration.loads(PROFILES))
    lab = negotiator.negotiate(profile="lab")
    assert (lab.name, lab.wire, lab.reasoning) == ("lab", "anthropic", "open")
    with pytest.raises(ValueError, match="known are: coder, any-ollama, lab"):
        negotiator.negotiate(profile="nope")


def test_a_profile_that_is_called_after_a_provider_speaks_of_it() -> None:
    negotiator = FormatNegotiator(
        Configuration.loads("""
[profiles.Ollama.tools]
definition_format = "openai"
[profiles.mistral]
models = ["mistral*"]
[profiles.groq]
provider = "vllm"
""")
    )
    for chosen in (negotiator.negotiate("ollama", "m"), negotiator.negotiate(profile="Ollama")):
        assert (chosen.name, chosen.wire) == ("Ollama", "ollama-chat")
        assert chosen.definitions.format_tools([TOOL]) == ADAPTERS["openai"].format_tools([TOOL])
        assert chosen.results is ADAPTERS["ollama"]
    assert negotiator.negotiate("vllm", "mistral-7b").name == "mistral", "models are meant on any server"
    assert negotiator.negotiate("mistral", "codestral").name == "mistral"
    assert negotiator.negotiate("mistral", "codestral").wire == "openai-chat"
    assert negotiator.negotiate("groq").name == "groq"
    assert negotiator.negotiate("vllm").name == "groq"


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


def _seen(model: str, **calls: int) -> CapabilityLearner:
    """A learner that saw so many good calls of a model in each format."""
    learner = CapabilityLearner()
    for name, times in calls.items():
        learner.record(model, name.replace("_", "-"), "parsed", times)
    return learner


def test_a_model_whose_native_calls_mostly_fail_is_asked_in_the_prompt_for_what_it_writes_well() -> None:
    learner = _seen("m", kimi_k2=5)
    learner.record("m", "native", "malformed", 6)
    learner.record("m", "hermes", "malformed", 9)
    chosen = FormatNegotiator(learner=learner).negotiate("vllm", "m")
    assert chosen.tools_in == "prompt"
    asked = ADAPTERS["openai"].with_prompt_dialect("kimi-k2")
    assert chosen.definitions.format_system_prompt([TOOL]) == asked.format_system_prompt([TOOL])
    configured = FormatNegotiator({"profiles": {"p": {"provider": "vllm", "dialects": ["hermes"]}}}, learner)
    assert configured.negotiate("vllm", "m").dialects == ("hermes",)


@pytest.mark.parametrize("calls", [1, 5, 1000])
@pytest.mark.parametrize("seen", ["bare-json", "kimi-k2"])
def test_calls_seen_in_one_dialect_take_no_other_away(seen: str, calls: int) -> None:
    chosen = FormatNegotiator(learner=_seen("mystery-7b", **{seen: calls})).negotiate(None, "mystery-7b")
    parser = sp.TextParser(chosen.dialects, tools=[TOOL])
    text = 'Well.\n<tool_call>\n{"name": "search", "arguments": {"query": "x"}}\n</tool_call>'
    assert [type(event) for event in parser.feed(text)].count(sp.ToolCallComplete) == 1
    prose = 'A record is {"name": "search", "arguments": {"query": 1}} and so on.'
    told = sp.TextParser(chosen.dialects, tools=[TOOL]).feed(prose)
    assert all(isinstance(event, sp.TextDelta) for event in told)


def test_a_dialect_that_a_model_was_seen_to_write_often_is_looked_for_beside_those_of_its_family() -> None:
    assert FormatNegotiator(learner=_seen("glm-4.5", hermes=4)).negotiate("vllm", "glm-4.5").dialects == (
        "glm-4.5",
        "auto",
    )
    for unclear in ("bare-json", "fenced-json", "pythonic"):
        learner = _seen("glm-4.5", hermes=5, **{unclear: 50})
        chosen = FormatNegotiator(learner=learner).negotiate("vllm", "glm-4.5")
        assert chosen.dialects == ("hermes", "glm-4.5", "auto")


@pytest.mark.parametrize(("native", "place"), [(True, "request"), (False, "prompt")])
def test_what_is_configured_is_not_overruled_by_what_is_learnt_or_known(native: bool, place: str) -> None:
    learner = _seen("m", hermes=50)
    learner.record("m", "native", "parsed" if place == "prompt" else "malformed", 50)
    learner.record("m", "native", "refused", 100 if place == "request" else 0)
    capabilities = {"native_tools": native, "dialects": ["kimi-k2"]}
    for provider in ("openai", "perplexity"):
        values = {"profiles": {"p": {"provider": provider, "capabilities": capabilities}}}
        chosen = FormatNegotiator(values, learner).negotiate(provider, "m")
        assert chosen.tools_in == place
        assert chosen.dialects[:-1] == ("kimi-k2",)
        assert chosen.capabilities.native_tools is native


def test_answers_that_were_cut_off_do_not_take_a_model_off_native_tools() -> None:
    learner = CapabilityLearner()
    call = {"index": 0, "id": "x", "function": {"name": "f", "arguments": '{"a":'}}
    for finish in ("length", "tool_calls", None) * 5:
        parser = sp.StreamParser("openai-chat")
        choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": finish}
        parser.feed(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n")
        parser.close()
        assert [broken.code for broken in parser.response.broken_calls] == ["truncated_call"]
        learner.observe("gpt-5", parser)
    assert learner.get_figures("gpt-5") == {}
    assert FormatNegotiator(learner=learner).negotiate("openai", "gpt-5").tools_in == "request"


def test_only_so_many_answers_are_kept() -> None:
    negotiator = FormatNegotiator()
    first = negotiator.negotiate("openai", "0")
    for number in range(2000):
        negotiator.negotiate("openai", str(number))
    assert negotiator.negotiate("openai", "0") == first
    assert negotiator.negotiate("openai", "0") is not first


# -- configuration

SPECIFIED = """
[profiles.hosted]
provider = "anthropic"
model = "claude-sonnet-4-5"
url = "https://api.anthropic.com"
output_modes = ["tools", "text"]
max_retries = 5
instructions = "Use one tool at a time."
context_window = 200000

[profiles.hosted.tools]
definition_format = "anthropic"
call_parser = "anthropic_xml"
result_format = "anthropic"

[profiles.local]
provider = "ollama"
model = "qwen3-coder:30b"
url = "http://127.0.0.1:11434"

[profiles.local.tools]
call_parser = "qwen_xml"

[profiles.cloud]
provider = "openai"
model = "gpt-4o"

[profiles.cloud.tools]
call_parser = "openai_native"

[profiles.any]
provider = "vllm"
model = "zai-org/GLM-4.5"

[profiles.any.tools]
call_parser = "auto"
"""


def test_a_profile_names_its_model_and_its_server() -> None:
    negotiator = FormatNegotiator(Configuration.loads(SPECIFIED))
    local = negotiator.negotiate("ollama", "Qwen3-Coder:30B")
    assert (local.name, local.model, local.url) == ("local", "Qwen3-Coder:30B", "http://127.0.0.1:11434")
    assert negotiator.negotiate(profile="local").model == "qwen3-coder:30b"
    assert negotiator.negotiate("ollama", "qwen3-coder:480b").name == "ollama", "another model"
    assert negotiator.negotiate("ollama").name == "ollama"
    assert negotiator.negotiate(profile="any").dialects == ("glm-4.5", "auto"), "the family of its own model"


def test_a_profile_says_how_an_answer_is_bound_and_how_often_it_is_asked_for_again() -> None:
    negotiator = FormatNegotiator(Configuration.loads(SPECIFIED))
    hosted = negotiator.negotiate(profile="hosted")
    assert (hosted.output_modes, hosted.max_retries) == (("tools", "text"), 5)
    assert (hosted.instructions, hosted.context_window) == ("Use one tool at a time.", 200_000)
    local = negotiator.negotiate(profile="local")
    assert local.output_modes == ("json_schema", "json_object", "text"), "what the server can do"
    assert (local.max_retries, local.instructions, local.context_window) == (2, "", None)
    assert negotiator.negotiate("deepseek", "deepseek-chat").output_modes == ("json_object", "text")


@pytest.mark.parametrize(
    ("profile", "dialects"),
    [
        ("hosted", ("anthropic-invoke", "reasoning")),
        ("local", ("qwen3-coder", "hermes", "auto")),
        ("cloud", "reasoning"),
        ("any", ("glm-4.5", "auto")),
    ],
)
def test_the_parser_of_a_profile_says_which_formats_come_first(profile: str, dialects: Any) -> None:
    chosen = FormatNegotiator(Configuration.loads(SPECIFIED)).negotiate(profile=profile)
    assert chosen.dialects == dialects
    assert isinstance(parser_for(chosen.call_parser, tools=[TOOL]), ToolCallParser)
    sp.TextParser(chosen.dialects)


def test_the_parsers_of_configurations_read_native_fields_and_their_own_formats() -> None:
    invoke = '<invoke name="search">\n<parameter name="query">tea</parameter>\n</invoke>'
    function = "<tool_call>\n<function=search>\n<parameter=query>\ntea\n</parameter>\n</function>\n</tool_call>"
    native = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "search", "arguments": "{}"}}]}
    found = {
        name: [len(parser_for(name).parse(body).tool_calls) for body in (invoke, function, native)]
        for name in ("auto", "anthropic_xml", "qwen_xml", "openai_native")
    }
    assert found == {
        "auto": [1, 1, 1],
        "anthropic_xml": [1, 0, 1],
        "qwen_xml": [0, 1, 1],
        "openai_native": [0, 0, 1],
    }


def test_a_profile_may_name_formats_beside_auto() -> None:
    for dialects in (["hermes", "auto"], "auto", "reasoning", ["reasoning"]):
        chosen = FormatNegotiator({"profiles": {"p": {"dialects": dialects}}}).negotiate(profile="p")
        assert chosen.dialects == (dialects if isinstance(dialects, str) else tuple(dialects))
        sp.TextParser(chosen.dialects)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[profiles.a]\nwire = 3", r"^profiles\.a\.wire: Expected `str \| null`, got `int`"),
        ("[profiles.a]\nwires = 'x'", r"^profiles\.a: .*unknown field `wires`"),
        ("[profiles.b]\n[profiles.a]\nwire = 'nope'", r"^profiles\.a\.wire: unknown wire 'nope'; .*known are: auto, "),
        ("[profiles.a.tools]\ndefinition_format = 'nope'", r"^profiles\.a\.tools\.definition_format: unknown 'nope'"),
        ("[profiles.a.tools]\nresult_format = 'nope'", r"^profiles\.a\.tools\.result_format: unknown 'nope'"),
        (
            "[profiles.a.tools]\ncall_parser = 'nope'",
            r"^profiles\.a\.tools\.call_parser: unknown parser 'nope'; .*known",
        ),
        ("[profiles.a.capabilities]\ndialects = ['x']", r"^profiles\.a\.capabilities\.dialects\[0\]: unknown 'x'"),
        ("[profiles.a]\nprovider = 'nope'", r"^profiles\.a\.provider: unknown 'nope'"),
        ("[profiles.a]\ndialects = ['hermes', 'nope']", r"^profiles\.a\.dialects\[1\]: unknown 'nope'"),
        ("[profiles.b]\n[profiles.a]\ndialects = [1]", r"^profiles\.a\.dialects\[0\]: Expected `str`"),
        ("[profiles.a]\nreasoning = 'x'", r"^profiles\.a\.reasoning: Invalid enum value 'x'"),
        ("[profile.a]", r"unknown field `profile`"),
        ("[profiles.a.capabilities]\nmax_calls = 0", r"^profiles\.a\.capabilities\.max_calls: Expected `int` >= 1"),
        ("[profiles.'a.b']\nwire = 3", r'^profiles\."a\.b"\.wire: Expected'),
        ("[profiles.'a b']\nwire = 'x'", r"""^profiles\."a b"\.wire: unknown wire 'x'"""),
        ("[profiles.a]\nmax_retries = -1", r"^profiles\.a\.max_retries: Expected `int` >= 0"),
        ("[profiles.a]\ncontext_window = 0", r"^profiles\.a\.context_window: Expected `int` >= 1"),
        ("[profiles.a]\noutput_modes = ['xml']", r"^profiles\.a\.output_modes\[0\]: Invalid enum value 'xml'"),
        ("[profiles", "^not TOML: "),
        ("a=" + "[" * 10_000, "^not TOML that can be read: values are nested too deeply"),
    ],
)
def test_an_error_in_the_configuration_names_its_key(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Configuration.loads(text)


@pytest.mark.parametrize(
    "name", ["composite", "json-content", "openai", "LM Studio", "openai-chat", *("markup", "native", "heuristic")]
)
def test_every_parser_that_can_be_had_by_name_may_be_configured(name: str) -> None:
    chosen = FormatNegotiator({"profiles": {"p": {"tools": {"call_parser": name}}}}).negotiate(profile="p")
    assert isinstance(parser_for(chosen.call_parser), ToolCallParser)


def test_a_parser_that_the_user_registered_may_be_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_factories", {})
    values = {"profiles": {"p": {"tools": {"call_parser": "my server"}}}}
    with pytest.raises(ConfigurationError, match="unknown parser 'my server'"):
        Configuration.of(values)
    sp.register_parser("My-Server", lambda tools: sp.CompositeParser(tools=tools))
    assert FormatNegotiator(values).negotiate(profile="p").call_parser == "my server"


def test_a_dialect_that_the_user_registered_may_be_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"profiles": {"p": {"dialects": ["mine", "reasoning"]}}}
    with pytest.raises(ConfigurationError, match=r"^profiles\.p\.dialects\[0\]: unknown 'mine'"):
        Configuration.of(values)
    monkeypatch.setitem(sp.DIALECTS, "mine", sp.DIALECTS["hermes"])
    assert FormatNegotiator(values).negotiate(profile="p").dialects == ("mine", "reasoning")


def test_a_file_may_be_empty_or_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "formats.toml"
    for text, names in (("", []), ("\ufeff[profiles.a]\r\nwire = 'auto'\r\n", ["a"])):
        file.write_text(text, encoding="utf-8", newline="")
        assert [*Configuration.load(file).profiles] == names


def test_an_error_in_a_file_names_the_file_too(tmp_path: Path) -> None:
    file = tmp_path / "formats.toml"
    file.write_text("[profiles.a]\nwire = 3")
    with pytest.raises(ConfigurationError, match=r"formats\.toml: profiles\.a\.wire"):
        Configuration.load(file)


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
    for provider in (None, *list_providers()):
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


def test_a_name_of_many_parts_is_as_soon_looked_up_as_any() -> None:
    assert find_family("a_" * 1_000_000) is None
    assert find_family("folder/" * 100_000 + "Qwen_Qwen3-8B") == find_family("qwen3-8b")
    assert find_family("ft:qwen3-8b:me::x") == find_family("qwen3-8b")
