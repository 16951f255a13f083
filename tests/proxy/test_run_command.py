"""`streamparse run -- COMMAND`: the command is a small Python program that asks what it was told to ask."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from emitting import stream_of
from serving import Upstream, serving

from streamparse.cli import main
from streamparse.cli.agents import Launch, Server, make_environment, prepare_launch

RUN = [sys.executable, "-m", "streamparse", "run"]
OURS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENROUTER_API_KEY", "OPENAI_ORG_ID")
PLANTED = {name: f"planted-{name}" for name in OURS}
SERVER = Server("http://127.0.0.1:9", "the-token", "qwen3", 40_000)

_ASKING = """
import json, os, httpx
base, key = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
tool = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
request = {"model": "any", "stream": True, "messages": [{"role": "user", "content": "x"}], "tools": [tool]}
planted = {"x-api-key": "planted-header", "openai-organization": "planted-org", "cookie": "planted=1"}
answers = [
    httpx.post(base + "/chat/completions", json=request, headers=headers, timeout=60)
    for headers in ({}, {"authorization": "Bearer planted-wrong"}, {"authorization": "Bearer " + key, **planted})
]
print(json.dumps([[answer.status_code for answer in answers], answers[-1].text.count("tool_calls\\":[")]))
"""


def _run(upstream: str, *command: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    environment = os.environ | PLANTED
    return subprocess.run(
        [*RUN, "--upstream", upstream, *options, "--", *command],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
    )


class _Local(Upstream):
    """A server that lists its models, and answers each question with calls in its text."""

    def __init__(self, count: int = 1) -> None:
        models = {"data": [{"id": f"local-{number}", "max_model_len": 5000} for number in range(count)]}
        self._answers = {"GET": [json.dumps(models).encode()], "POST": stream_of("openai-chat")[1]}
        super().__init__()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.chunks = self._answers.get(scope.get("method", ""), [])
        await super().__call__(scope, receive, send)


def test_a_command_asks_through_a_proxy_of_its_own_with_the_token_of_this_run() -> None:
    upstream = _Local()
    with serving(upstream) as url:
        done = _run(url, sys.executable, "-c", _ASKING)
    assert done.returncode == 0, done.stderr
    statuses, _ = json.loads(done.stdout)
    assert statuses == [401, 401, 200]
    questions = [asked for asked in upstream.asked if asked[0] == "POST"]
    assert [json.loads(body)["model"] for _, _, _, body in questions] == ["local-0"]
    assert done.stderr.splitlines()[-1] == "streamparse: 3 requests, 2 hermes calls, 0 repaired, 0 errors"


def test_no_key_of_the_user_reaches_the_server() -> None:
    upstream = _Local()
    with serving(upstream) as url:
        done = _run(url, sys.executable, "-c", _ASKING)
    assert "planted" not in str(upstream.asked)
    assert "authorization" not in str([headers for _, _, headers, _ in upstream.asked])
    assert "planted" not in done.stderr


def test_the_servers_own_key_is_sent_and_is_not_the_agents() -> None:
    upstream = _Local()
    with serving(upstream) as url:
        program = "import os; print([name for name, value in os.environ.items() if value == 'planted-OPENAI_API_KEY'])"
        done = _run(url, sys.executable, "-c", program, options=("--key-env", "OPENAI_API_KEY"))
    assert done.stdout.strip() == "[]"
    assert upstream.asked[0][2]["authorization"] == "Bearer planted-OPENAI_API_KEY"


@pytest.mark.parametrize("program", ["import sys; sys.exit(7)", "import os; os._exit(7)"])
def test_the_exit_status_is_the_commands(program: str) -> None:
    with serving(_Local()) as url:
        assert _run(url, sys.executable, "-c", program).returncode == 7


def test_a_signal_that_ends_the_command_is_its_status() -> None:
    with serving(_Local()) as url:
        done = _run(url, sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == 128 + signal.SIGKILL


_WAITING = """
import signal, sys, time
def stop(*_):
    print("interrupted", flush=True)
    sys.exit(3)
signal.signal(signal.SIGINT, stop)
signal.signal(signal.SIGTERM, stop)
print("ready", flush=True)
while True:
    time.sleep(0.05)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_the_commands_affair(number: signal.Signals) -> None:
    with serving(_Local()) as url:
        command = [*RUN, "--upstream", url, "--", sys.executable, "-c", _WAITING]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline() == "ready\n"
            if number == signal.SIGINT:  # as a terminal sends it: to both
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)
            assert process.stdout.readline() == "interrupted\n"
            assert process.wait(60) == 3
            assert process.stderr.read().splitlines()[-1].startswith("streamparse: ")


def test_a_command_that_is_not_there_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    with serving(_Local()) as url:
        assert main(["run", "--upstream", url, "--", "no-such-agent-here"]) == 2
    assert "no-such-agent-here cannot be run: No such file" in capfd.readouterr().err


def test_a_command_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--upstream", "http://127.0.0.1:9"]) == 2
    assert "no command to run" in capsys.readouterr().err


def test_what_is_set_is_printed_and_the_token_is_not() -> None:
    with serving(_Local()) as url:
        done = _run(url, sys.executable, "-c", "import os; print(os.environ['OPENAI_API_KEY'])")
    token = done.stdout.strip()
    assert "OPENAI_BASE_URL=http://127.0.0.1:" in done.stderr
    assert token
    assert token not in done.stderr


def test_a_named_model_counts_before_the_servers_only_one() -> None:
    upstream = _Local(2)
    with serving(upstream) as url:
        done = _run(url, sys.executable, "-c", _ASKING, options=("--model", "local-1"))
    assert done.returncode == 0
    assert json.loads(upstream.asked[-1][3])["model"] == "local-1"


def test_a_profile_names_the_server_and_its_model(tmp_path: Path) -> None:
    upstream = _Local(2)
    with serving(upstream) as url:
        (tmp_path / "p.toml").write_text(f'[profiles.home]\nurl = "{url}"\nmodel = "local-1"\ncontext_window = 4096\n')
        command = [*RUN, "--config", str(tmp_path / "p.toml"), "--profile", "home", "--", sys.executable, "-c", _ASKING]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(upstream.asked[-1][3])["model"] == "local-1"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--profile", "home"], "--profile names a profile of --config"),
        (["--config", "/no/such.toml", "--profile", "home"], "such.toml"),
        (["--key-env", "NOT_SET_HERE"], "NOT_SET_HERE is not set"),
    ],
)
def test_options_that_cannot_hold_are_one_line(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--upstream", "http://127.0.0.1:9", *options, "--", "true"]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


# -- what each agent is told -------------------------------------------------------------------------------


def test_claude_asks_the_proxy_with_the_token_for_one_model_of_every_size() -> None:
    launch = prepare_launch(["claude", "-p", "Fix it."], SERVER)
    assert launch.command == ["claude", "-p", "Fix it."]
    told = launch.variables
    assert (told["ANTHROPIC_BASE_URL"], told["ANTHROPIC_AUTH_TOKEN"]) == (SERVER.url, SERVER.token)
    assert {told[name] for name in told if name.endswith("_MODEL")} == {"qwen3"}
    assert sum(name.endswith("_MODEL") for name in told) == 4
    assert told["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "10000"


@pytest.mark.parametrize(("keep_tools", "kept"), [(False, False), (True, True)])
def test_codex_is_told_by_arguments_before_its_subcommand(keep_tools: bool, kept: bool) -> None:
    launch = prepare_launch(["/opt/bin/codex", "exec", "Fix it."], SERVER, keep_tools=keep_tools)
    told = launch.command
    assert (told[0], told[-2:]) == ("/opt/bin/codex", ["exec", "Fix it."])
    settings = told[2:-2:2]
    assert told[1:-2:2] == ["-c"] * len(settings)
    assert 'model="qwen3"' in settings
    assert "model_context_window=40000" in settings
    assert ("features.multi_agent=false" not in settings) == kept
    assert launch.variables == {"STREAMPARSE_TOKEN": SERVER.token}
    assert not any(SERVER.token in word for word in told)  # every user of the machine sees the arguments


def test_opencode_is_told_by_its_configuration() -> None:
    launch = prepare_launch(["opencode.cmd", "run"], SERVER)
    told = json.loads(launch.variables["OPENCODE_CONFIG_CONTENT"])
    assert told["model"] == told["small_model"] == "streamparse/qwen3"
    assert told["provider"]["streamparse"]["options"] == {"baseURL": SERVER.url + "/v1", "apiKey": SERVER.token}


def test_any_other_command_has_the_variables_of_the_official_clients() -> None:
    told = prepare_launch(["python", "agent.py"], SERVER).variables
    assert told["OPENAI_BASE_URL"] == SERVER.url + "/v1"
    assert told["ANTHROPIC_BASE_URL"] == told["OLLAMA_HOST"] == SERVER.url
    keys = [value for name, value in told.items() if name.endswith(("_KEY", "_TOKEN"))]
    assert len(keys) == 4
    assert {*keys} == {SERVER.token}


def test_an_agents_environment_has_no_key_and_no_other_server() -> None:
    others = {"ANTHROPIC_API_KEY": "x", "CLAUDE_CODE_USE_BEDROCK": "1", "CLAUDE_CODE_USE_VERTEX": "1", "PATH": "/bin"}
    assert make_environment(Launch(["claude"], {"A": "b"}), others) == {"PATH": "/bin", "A": "b"}


@pytest.mark.parametrize(("before", "after"), [("", "127.0.0.1"), ("corp.example", "corp.example,127.0.0.1")])
def test_a_proxy_of_the_environment_does_not_come_between(before: str, after: str) -> None:
    environment = (
        {"HTTPS_PROXY": "http://corp:3128", "NO_PROXY": before} if before else {"http_proxy": "http://corp:3128"}
    )
    made = make_environment(Launch([], {}), environment)
    assert made["NO_PROXY"] == made["no_proxy"] == after
