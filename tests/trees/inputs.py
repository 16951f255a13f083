"""The inputs of `compare_trees.py`: one JSON object a line, each read by both trees.

    python tests/trees/inputs.py OUT [--shared PATH] [--only PATTERN ...]

It runs with the package of the tree whose fixtures it reads.  A name is `SOURCE/...`, with a source of `SOURCES`.
What an input holds depends on its `kind`:

| kind | keys |
|---|---|
| `stream` | `body` (base64), `wire`, `options`, `format` of its text or "", `is_brief` if it is not written again |
| `text` | `text`, `dialects` (a list of what the parser is told), `options` |
| `body` | `body` (a JSON value), `wire`, `options` |
| `request` | `request`, `provider` whose request it is |
| `conversation` | `tools`, `calls`, `results`: what a program hands to the adapters |
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("", "adapters", "shared", "trust")]

import streamparse as sp  # noqa: E402 - of the tree that PYTHONPATH names

__all__ = ["SOURCES", "Input"]

Input: TypeAlias = dict[str, Any]
Source: TypeAlias = Callable[[Path], Iterator[Input]]

PATHS = {
    "/v1/chat/completions": ("openai-chat", "openai"),
    "/v1/completions": ("openai-completions", ""),
    "/v1/responses": ("openai-responses", "openai-responses"),
    "/v1/messages": ("anthropic", "anthropic"),
    "/api/chat": ("ollama-chat", "ollama"),
    "/api/generate": ("ollama-generate", ""),
}
"""The wire and the provider of a recorded request, by its path."""
FAMILIES = {"bedrock-eventstream": "bedrock-converse", "gemini-json-array": "gemini", "gemini-interactions": "gemini"}
"""The wires of recorded streams whose family has another name; a family that is no wire is told from its body."""
EXAMPLES = 60
"""Generated conversations."""
WEATHER = [
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "on": {"type": "boolean"}},
        },
    },
    {"name": "note", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}},
    {"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}},
    {"name": "now", "parameters": {"type": "object", "properties": {}}},
]
"""The tools of texts that do not name their own."""


def _load(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


def _lines(path: Path) -> Iterator[Any]:
    if path.is_file():
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


# -- what an input looks like ----------------------------------------------------------------------------------------


def make_stream(name: str, wire: str, body: bytes, **options: Any) -> Input:
    """A body of a wire, read in every way."""
    encoded = base64.b64encode(body).decode()
    return {
        "name": name, "kind": "stream", "wire": wire, "body": encoded,
        "format": "", "is_brief": False, "options": options,
    }  # fmt: skip


def make_brief_stream(name: str, wire: str, body: bytes, text_format: str = "", **options: Any) -> Input:
    """A body of a wire of which many are much alike."""
    return make_stream(name, wire, body, **options) | {"format": text_format, "is_brief": True}


def make_text(name: str, text: str, *dialects: Any, tools: Any = None, **options: Any) -> Input:
    """A text, read with each of the dialects, with "auto" and with "all"."""
    ways = list({json.dumps(way): way for way in (*dialects, "auto", "all")}.values())
    return {"name": name, "kind": "text", "text": text, "dialects": ways, "options": {"tools": tools, **options}}


def frame_chat(pieces: Iterable[str], finish: str = "stop") -> bytes:
    """The pieces of a text as a stream of OpenAI chat."""
    frames = [{"index": 0, "delta": {"content": piece}, "finish_reason": None} for piece in pieces]
    frames.append({"index": 0, "delta": {}, "finish_reason": finish})
    return b"".join(b"data: %s\n\n" % json.dumps({"choices": [frame]}).encode() for frame in frames)


def frame_anthropic(pieces: Iterable[str]) -> bytes:
    """The pieces of a text as a stream of Anthropic."""
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ]
    events += [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}} for piece in pieces
    ]
    events += [
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]
    return b"".join(b"event: %s\ndata: %s\n\n" % (each["type"].encode(), json.dumps(each).encode()) for each in events)


def cut_text(text: str, size: int = 5) -> list[str]:
    """A text in pieces about as long as tokens."""
    return [text[start : start + size] for start in range(0, len(text), size)]


# -- the project's own fixtures --------------------------------------------------------------------------------------


def read_streams(_: Path) -> Iterator[Input]:
    """Every stream of the fixtures, whole and cut."""
    folder = FIXTURES / "streams"
    tools = {tool["name"]: tool for tool in _load(folder / "tools.json")}
    for name, row in _load(folder / "index.toml").items():
        options = {key: value for key, value in row.items() if key != "wire"}
        options["tools"] = [tools[tool] for tool in row.get("tools", ())]
        body = (folder / name).read_bytes()
        yield make_stream(f"streams/{name}", row["wire"], body, **options)
        for part in (1, 2):
            cut = body[: len(body) * part // 3]
            yield make_brief_stream(f"streams/{name} cut at {part} of 3", row["wire"], cut, **options)


def read_faults(_: Path) -> Iterator[Input]:
    for fault in _load(FIXTURES / "faults" / "faults.toml")["fault"]:
        for number, case in enumerate(fault.get("case", ())):
            yield make_stream(f"faults/{fault['id']}-{number}", case["wire"], _fault_body(case))


def _fault_body(case: Any) -> bytes:
    if "hex" in case:
        return bytes.fromhex(case["hex"])
    text = case.get("body") or "".join(f"data: {data}\n\n" for data in case.get("frames", ()))
    text = text or "".join(f"{line}\n" for line in case.get("lines", ()))
    return re.sub("⟪(.+?)×([0-9]+)⟫", lambda match: match[1] * int(match[2]), text).encode()


def read_rules(_: Path) -> Iterator[Input]:
    """Rules of SSE and UTF-8 as bodies; rules of JSON as the arguments of a native call and of one in the text."""
    rules = {name: _load(FIXTURES / "rules" / f"{name}.json") for name in ("sse", "utf8", "json")}
    for rule in rules["sse"]["rules"]:
        yield make_stream(f"rules/sse-{rule['id']}", "openai-chat", base64.b64decode(rule["input_b64"]))
    for rule in rules["utf8"]["rules"]:
        inner = base64.b64decode(rule["input_b64"])
        body = b'data: {"choices": [{"index": 0, "delta": {"content": "a%sb"}}]}\n\ndata: [DONE]\n\n' % inner
        yield make_stream(f"rules/utf8-{rule['id']}", "openai-chat", body)
    for rule in rules["json"]["rules"] + rules["json"]["partial_rules"]:
        if rule["input_b64"] is None:  # too long to be written out
            continue
        text = base64.b64decode(rule["input_b64"]).decode("utf-8", "replace")
        call = {"index": 0, "id": "c", "function": {"name": "note", "arguments": text}}
        delta = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
        yield make_stream(
            f"rules/json-{rule['id']}", "openai-chat", b"data: %s\n\n" % json.dumps({"choices": [delta]}).encode()
        )
        yield make_text(
            f"rules/json-{rule['id']}-in-text",
            f'<tool_call>\n{{"name": "note", "arguments": {text}}}\n</tool_call>',
            ["hermes"],
        )


def read_recorded(_: Path) -> Iterator[Input]:
    """Answers of real servers that the project holds, as streams, and their requests."""
    yield from _read_recordings("recorded", FIXTURES / "recorded")


def read_texts(_: Path) -> Iterator[Input]:
    for file in sorted((FIXTURES / "texts").glob("*.json")):
        for case in _load(file) if not file.stem.endswith(".events") else ():
            own = case.get("dialects", "auto")
            named = [file.stem] if file.stem in sp.DIALECTS else "auto"
            yield make_text(
                f"texts/{file.stem}: {case['promise']}", case["text"], own, named,
                tools=WEATHER if case.get("tools") is True else case.get("tools"),
                reasoning=case.get("reasoning", "auto"),
            )  # fmt: skip


def read_dialects(_: Path) -> Iterator[Input]:
    """The cases of each dialect as texts, and as streams of two wires, of which one has no calls in its text."""
    for file in sorted((FIXTURES / "dialects").glob("*.toml")):
        for name, case in _load(file).items():
            if "text" in case:
                text, label = case["text"], f"dialects/{file.stem}-{name}"
                yield make_text(label, text, [file.stem], "reasoning", tools=WEATHER)
                for wire, frame in (("openai-chat", frame_chat), ("anthropic", frame_anthropic)):
                    body = frame(cut_text(text))
                    yield make_brief_stream(f"{label} by {wire}", wire, body, file.stem, tools=WEATHER)


def read_prose(_: Path) -> Iterator[Input]:
    for file in sorted((FIXTURES / "prose").glob("*.toml")):
        for name, row in _load(file).items():
            text = row if isinstance(row, str) else row["text"]
            yield make_text(f"prose/{file.stem}: {name}", text, tools=WEATHER)
            yield make_text(f"prose/{file.stem}: {name}, quoted", text, tools=WEATHER, quoted="calls")


def read_echoes(_: Path) -> Iterator[Input]:
    from corpus import read_answers, read_samples, read_tools, read_undecidable

    for name, sample in read_samples().items():
        yield make_text(f"echoes/a call of {name}", sample.text, [name], tools=_plain(read_tools()))
    for answer in (read_answers() | read_undecidable()).values():
        named = [[name] for name in sorted(answer.formats)]
        yield make_text(f"echoes/{answer.id}", answer.text, *named, tools=_plain(answer.tools))


def _plain(tools: Iterable[sp.Tool]) -> list[Any]:
    return [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools]


def read_conversations(_: Path) -> Iterator[Input]:
    """Generated tools, calls and results, the same in each run; and requests that hold them."""
    from conversations import PICTURE, calls, results, tools
    from hypothesis import Phase, given, settings
    from hypothesis import strategies as st

    drawn: list[tuple[Any, Any, Any]] = []

    @settings(max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, phases=[Phase.generate])
    @given(st.lists(tools, max_size=3), st.lists(calls, max_size=3), st.lists(results, max_size=3))
    def draw(declared: Any, made: Any, given_back: Any) -> None:
        drawn.append((declared, made, given_back))

    draw()
    for number, (declared, made, given_back) in enumerate(drawn):
        told = [
            {"call_id": each.call_id, "tool_name": each.tool_name, "result": each.result, "error": each.error}
            for each in given_back
        ]
        plain_calls = [{"name": call.name, "arguments": call.arguments, "id": call.id} for call in made]
        yield {
            "name": f"conversations/{number}", "kind": "conversation",
            "tools": _plain(declared), "calls": plain_calls, "results": told,
        }  # fmt: skip
        yield {
            "name": f"conversations/{number} as a request", "kind": "request", "provider": "openai",
            "request": _make_request(_plain(declared), plain_calls, told, PICTURE),
        }  # fmt: skip


def _make_request(tools: list[Any], calls: list[Any], results: list[Any], picture: str) -> Any:
    """A request of OpenAI chat whose last answer made these calls."""
    made = [
        {
            "id": f"{call['id']}{number}", "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
        }
        for number, call in enumerate(calls)
    ]  # fmt: skip
    shown = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}", "detail": "low"}}
    texts = [each["error"] if each["error"] is not None else str(each["result"]) for each in results]
    answers = [
        {"role": "tool", "tool_call_id": call["id"], "content": text}
        for call, text in zip(made, [*texts, *[""] * len(made)], strict=False)
    ]
    return {
        "model": "m", "stream": True, "temperature": 0.5, "max_tokens": 100, "stop": ["END"], "seed": 7,
        "parallel_tool_calls": False, "tool_choice": "required" if tools else "auto",
        "tools": [{"type": "function", "function": tool} for tool in tools],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "What is this?"}, shown]},
            {"role": "assistant", "content": "I look.", **({"tool_calls": made} if made else {})},
            *answers,
            {"role": "user", "content": "Go on.", "name": "ada"},
        ],
    }  # fmt: skip


# -- the collection beside the checkout ------------------------------------------------------------------------------


def read_shared_streams(shared: Path) -> Iterator[Input]:
    """Recorded streams, and their text by itself."""
    for row in _lines(shared / "streams" / "index.jsonl"):
        wire = FAMILIES.get(row["family"], row["family"])
        body = (shared / "streams" / row["file"]).read_bytes()
        tools = row.get("tools") or None
        yield make_stream(f"shared-streams/{row['id']}", wire if wire in sp.WIRES else "auto", body, tools=tools)
        if row.get("inband"):
            yield make_text(f"shared-streams/{row['id']} as a text", row["expect"]["text"], tools=tools)


def read_shared_wholes(shared: Path) -> Iterator[Input]:
    """The bodies that servers would have sent whole."""
    from whole_bodies import SUMS, messages_of

    for row in _lines(shared / "streams" / "index.jsonl"):
        if row["family"] in SUMS and not row["expect"].get("error"):
            try:
                body = SUMS[row["family"]](messages_of((shared / "streams" / row["file"]).read_bytes()))
            except (ValueError, LookupError, TypeError):  # a stream that is no sum
                continue
            yield {
                "name": f"shared-wholes/{row['id']}", "kind": "body", "body": body,
                "wire": FAMILIES.get(row["family"], row["family"]), "options": {"tools": row.get("tools") or None},
            }  # fmt: skip


def read_shared_recordings(shared: Path) -> Iterator[Input]:
    yield from _read_recordings("shared-recordings", shared / "servers" / "recordings")


def read_shared_vectors(shared: Path) -> Iterator[Input]:
    path = shared / "formats" / "vectors.json"
    book = _load(path) if path.is_file() else {"tools": [], "vectors": []}
    for number, vector in enumerate(book["vectors"]):
        named = [[vector["format"]]] if vector["format"] in sp.DIALECTS else []
        name = f"shared-vectors/{vector['format']}-{vector['case']}-{number}"
        yield make_text(name, vector["text"], *named, tools=book["tools"])


def read_shared_peers(shared: Path) -> Iterator[Input]:
    """The cases of other projects as texts, and as streams in the pieces of their tests."""
    for case in _lines(shared / "peertests" / "cases.jsonl"):
        known = case["format"] in sp.DIALECTS
        start = case["options"].get("starts_in_reasoning")
        options = {"tools": case["tools"], "reasoning": {None: "auto", True: "open", False: "closed"}[start]}
        text = "".join(case["chunks"])
        yield make_text(f"shared-peers/{case['id']}", text, *([[case["format"]]] if known else []), **options)
        body = frame_chat(case["chunks"])
        named = case["format"] if known else ""
        yield make_brief_stream(f"shared-peers/{case['id']} by chat", "openai-chat", body, named, **options)


def _read_recordings(source: str, folder: Path) -> Iterator[Input]:
    """Bodies with the requests that were sent for them."""
    for body in sorted(folder.rglob("*.body")):
        asked = _load(body.with_name(f"{body.stem}.request.json"))
        wire, provider = PATHS.get(asked["path"], ("auto", ""))
        if "GenerateContent" in asked["path"]:
            wire = provider = "gemini"
        request = asked["body"] if isinstance(asked["body"], dict) else {}
        name = f"{source}/{body.relative_to(folder).with_suffix('')}"
        yield make_stream(name, wire, body.read_bytes(), tools=request.get("tools"))
        if provider and request:
            yield {"name": f"{name} request", "kind": "request", "provider": provider, "request": request}


SOURCES: dict[str, Source] = {
    "streams": read_streams,
    "faults": read_faults,
    "rules": read_rules,
    "recorded": read_recorded,
    "texts": read_texts,
    "dialects": read_dialects,
    "prose": read_prose,
    "echoes": read_echoes,
    "conversations": read_conversations,
    "shared-streams": read_shared_streams,
    "shared-wholes": read_shared_wholes,
    "shared-recordings": read_shared_recordings,
    "shared-vectors": read_shared_vectors,
    "shared-peers": read_shared_peers,
}
"""Every source by the first part of its inputs' names; one that is not there has none."""


def read_inputs(shared: Path, only: list[str]) -> Iterator[Input]:
    """All inputs, or those whose names match one of the patterns."""
    for source, read in SOURCES.items():
        if not only or any(fnmatch(source, pattern.split("/")[0]) for pattern in only):
            for case in read(shared):
                if not only or any(fnmatch(case["name"], pattern) for pattern in only):
                    yield case


def main() -> int:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    arguments.add_argument("--only", action="append", default=[])
    given = arguments.parse_args()
    with given.out.open("wb") as out:
        for case in read_inputs(given.shared, given.only):
            out.write(msgspec.json.encode(case) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
