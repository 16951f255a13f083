"""A wire by its own name or by that of a provider, and the errors of names that nobody has."""

from __future__ import annotations

from typing import Any

import pytest

import streamparse as sp
from streamparse.negotiate import FormatNegotiator
from streamparse.providers import adapter_for, find_wire, register_wire
from streamparse.providers.names import PROVIDERS, find_provider
from streamparse.providers.wires import WIRES, find_wire_name
from streamparse.proxy.settings import Settings
from streamparse.runtime import History, Request


@pytest.mark.parametrize("wire", WIRES)
def test_the_name_of_a_wire_means_the_wire(wire: str) -> None:
    for written in (wire, wire.upper(), wire.replace("-", "_"), wire.replace("-", " ")):
        assert find_wire_name(written) == wire
        assert find_wire(written) is WIRES[wire]


@pytest.mark.parametrize("provider", [word for name, row in PROVIDERS.items() for word in (name, *row.aliases)])
def test_the_name_of_a_provider_means_the_wire_that_it_speaks(provider: str) -> None:
    expected = provider if provider in WIRES else PROVIDERS[find_provider(provider) or ""].wire
    assert find_wire_name(provider) == expected
    assert sp.StreamParser(provider).wire == expected


def test_a_parser_that_is_named_after_a_provider_reads_its_wire() -> None:
    parser = sp.StreamParser("Groq")
    events = parser.feed(b'data: {"choices": [{"delta": {"content": "Hi."}}]}\n\n')
    assert [event.text for event in events if isinstance(event, sp.TextDelta)] == ["Hi."]
    body = {"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}]}
    assert sp.parse_response(body, "groq") == sp.parse_response(body, "openai-chat")


@pytest.mark.parametrize("wire", [row.wire for row in PROVIDERS.values()])
def test_the_name_of_a_wire_means_a_provider_that_speaks_it(wire: str) -> None:
    request = Request(History().with_prompt("Hi."))
    assert request.body(wire, "m")
    assert request.wire == wire
    assert adapter_for(wire) is adapter_for(find_provider(wire) or "")
    assert FormatNegotiator().negotiate(wire).wire == wire


def test_a_wire_without_requests_says_so() -> None:
    with pytest.raises(ValueError, match="requests of the wire 'ollama-generate' are not known"):
        Request(History().with_prompt("Hi.")).body("ollama-generate", "m")


def test_a_proxy_knows_its_server_by_either_name() -> None:
    assert Settings(upstream="http://127.0.0.1:8080", wire="vllm").validate().wire == "openai-chat"
    with pytest.raises(ValueError, match="did you mean 'ollama-chat'"):
        Settings(upstream="http://127.0.0.1:8080", wire="ollama_chatt").validate()


@pytest.mark.parametrize("name", ["groq", "Open AI", "openai_chat", "ollama-chat", "auto", ""])
def test_no_wire_takes_the_name_of_another_or_of_a_provider(name: str) -> None:
    with pytest.raises(ValueError, match=r"there is a wire|is the name of a provider"):
        register_wire(name, WIRES["openai-chat"])


@pytest.mark.parametrize(
    ("make", "nearest"),
    [
        (lambda: sp.StreamParser("opnai-chat"), "openai-chat"),
        (lambda: sp.StreamParser("anthropc"), "anthropic"),
        (lambda: sp.StreamParser(dialects=["hermez"]), "hermes"),
        (lambda: sp.StreamParser(reasoning="autoo"), "auto"),  # type: ignore[arg-type]
        (lambda: adapter_for("mistrall"), "mistral"),
        (lambda: sp.parser_for("olama"), "ollama"),
        (lambda: sp.CompositeParser(strategy="frist"), "first"),  # type: ignore[arg-type]
    ],
)
def test_an_unknown_name_proposes_the_nearest(make: Any, nearest: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean '{nearest}'"):
        make()
