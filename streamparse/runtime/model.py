"""What answers an agent: any async function from a `Request` to a source of chunks, a model behind HTTP, or a profile.

    async def model(request: sp.Request):
        return await client.messages.create(**request.body("anthropic", "claude-sonnet-4-5"))

A source is whatever `streamparse.aiter_events` takes, a whole body among it.
A model behind HTTP is asked with httpx, which is imported when the first client is made.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

import anyio
import msgspec

from streamparse.dialects import Dialects, Reasoning
from streamparse.json.json_safety import try_decode
from streamparse.negotiate import NegotiatedFormat
from streamparse.parser import StreamParser
from streamparse.parser.sources import AsyncSource
from streamparse.providers.adapters import find_format
from streamparse.providers.endpoints import USUAL_WIRE, find_answer_url, is_local, write_key_headers
from streamparse.providers.wires import WireName, find_wire_name
from streamparse.reading.errors import describe_error, find_error
from streamparse.runtime.model_failures import ModelError, read_retry_after
from streamparse.runtime.request import Request, ToolsIn, check_settings
from streamparse.writing.markup import PromptDialect
from streamparse.writing.prompts import get_prompt

if TYPE_CHECKING:
    import httpx

Headers: TypeAlias = Mapping[str, str]
Model: TypeAlias = Callable[[Request], Awaitable[AsyncSource]]
"""Any async function that returns a source."""

TIMEOUT: Final = 600.0  # source: the default of the SDKs of OpenAI and Anthropic, in seconds
CONNECT_TIMEOUT: Final = 10.0  # bound: seconds until the next model is tried
MAX_ERROR_BODY: Final = 64 * 1024  # bound: bytes of an error's body that are read
ERROR_BODY_SECONDS: Final = 5.0  # bound: the wait for them
CLOSE_SECONDS: Final = 5.0  # bound: the wait for a connection to close
_SHOWN: Final = 500  # bound: characters of a server's error in a message
_REDACTED: Final = "[api key]"
# How headers, and parameters of a query, are called whose value is a key
_HOLDS_SECRET: Final = re.compile(r"auth|key|token|secret|cookie|credential|^(?:code|sig|signature)$")
_JSON: Final = {"content-type": "application/json", "accept-encoding": "identity"}  # a compressed stream comes in gulps


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where a model is asked, with what besides the conversation, and how its answers are parsed."""

    url: str
    provider: str
    name: str
    headers: dict[str, str]
    timeout: float
    wire: str
    dialects: Dialects = "auto"
    reasoning: Reasoning = "auto"
    settings: dict[str, Any] = {}
    tools_in: ToolsIn = "request"
    dialect: str = "hermes"
    instructions: str = ""


class HTTPModel:
    """A model that is asked by HTTP; made by `http_model`, or by `build_model` of a negotiated format.

        async with sp.http_model("http://127.0.0.1:11434", "ollama-chat", "qwen3-coder:30b") as model:
            agent = sp.Agent(model, tools)

    In its `async with` block all requests share its client, and with it the connections.  A run of an agent opens a
    client for itself if the model is not entered, so one model serves any number of runs, on any event loop.
    Calling it returns the bytes of the answer as soon as its headers have come; the loop that reads them closes the
    response.

    Raises ModelError for any status but 2xx, redirects among them: the key goes nowhere but where it was sent.
    What httpx raises when no answer comes passes through.
    """

    def __init__(self, endpoint: Endpoint, client: httpx.AsyncClient | None) -> None:
        self.name: str = endpoint.name
        self.provider: str = endpoint.provider
        self.url: str = endpoint.url
        if client is None:
            _import_httpx()  # it fails here where it is missing, and not at the first request
        self._endpoint = endpoint
        self._given = client
        self._client = client
        self._secrets = _find_secrets(endpoint.url, endpoint.headers)

    def __repr__(self) -> str:
        return f"HTTPModel({_drop_secrets(self.url)!r}, {self._endpoint.wire!r}, {self.name!r})"

    async def __call__(self, request: Request) -> Chunks:
        """Ask, and return the bytes of the answer when its headers have come."""
        client, asked = self._client, self._endpoint
        if client is None:
            raise RuntimeError(f"{self!r} has no client: enter it with `async with`, or give it one")
        body = request.body(
            asked.provider, asked.name, tools_in=asked.tools_in, dialect=asked.dialect,
            instructions=asked.instructions, **{**asked.settings, **request.settings},
        )  # fmt: skip
        dialects = asked.dialects
        if request.tools_in != asked.tools_in == "request":  # the server has said that it takes no tools
            dialects = add_dialect(asked.dialect, dialects)
        request.read_as(asked.wire, dialects=dialects, reasoning=asked.reasoning)
        content = msgspec.json.encode(body)
        question = client.build_request("POST", asked.url, content=content, headers={**_JSON, **asked.headers})
        try:
            response = await client.send(question, stream=True, follow_redirects=False)
        except _import_httpx().TransportError as error:
            error.add_note(f"asked: {_drop_secrets(self.url)}")
            raise
        if response.is_success:
            return Chunks(response)
        raise await self._read_error(response)

    async def __aenter__(self) -> Self:
        if self._given is None:
            if self._client is not None:
                raise RuntimeError(f"{self!r} is already entered")
            self._client = _make_client(self._endpoint.timeout)
        return self

    async def __aexit__(self, *_: object) -> None:
        client, self._client = self._client, self._given
        if client is not None and client is not self._given:
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):  # also in a task that was cancelled
                await client.aclose()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[HTTPModel]:
        """Give the model with a client: its own if it has one, else one that lives as long as the block."""
        if self._client is not None:
            yield self
        else:
            async with HTTPModel(self._endpoint, None) as opened:
                yield opened

    async def _read_error(self, response: httpx.Response) -> ModelError:
        """Read what the server says of a failure, as far as it is bounded, and close the response."""
        chunks = Chunks(response)
        body = b""
        try:
            with anyio.move_on_after(ERROR_BODY_SECONDS):
                async for piece in chunks:
                    body += piece
                    if len(body) >= MAX_ERROR_BODY:
                        break
        except _import_httpx().HTTPError:
            pass  # the status says enough
        finally:
            await chunks.aclose()
        text = self._redact(body.decode("utf-8", "replace"))[:MAX_ERROR_BODY]
        words = self._redact(_describe_body(text) or _read_location(response))
        message = f"{response.status_code} {response.reason_phrase} from {_drop_secrets(self.url)}"
        return ModelError(
            f"{message}: {words}" if words else message,
            status=response.status_code,
            retry_after=read_retry_after({name.lower(): value for name, value in response.headers.items()}),
            text=text,
        )

    def _redact(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, _REDACTED)
        return text


class Chunks(AsyncIterator[bytes]):
    """The bytes of a response as they come; `aclose` closes its connection at any time, also in a cancelled task."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._chunks = response.aiter_bytes()

    def __anext__(self) -> Awaitable[bytes]:
        return anext(self._chunks)

    async def aclose(self) -> None:
        """Close the response."""
        module = _import_httpx()
        with anyio.move_on_after(CLOSE_SECONDS, shield=True):
            await self._response.aclose()
            # httpx leaves its generators as they are: on trio whatever collects them warns.  They end by an error here.
            with suppress(module.HTTPError, module.StreamError, StopAsyncIteration):
                while True:
                    await anext(self._chunks)


def http_model(
    url: str,
    wire: WireName,
    name: str,
    *,
    api_key: str | None = None, headers: Headers | None = None,
    dialects: Dialects = "auto", reasoning: Reasoning = "auto",
    tools_in: ToolsIn = "request", dialect: PromptDialect = "hermes",
    timeout: float = TIMEOUT, client: httpx.AsyncClient | None = None,
    **settings: Any,
) -> HTTPModel:  # fmt: skip
    """Return the model of that name at a server.

    `url` is the server's base, with or without a version, or the endpoint itself.  `wire` is what the server speaks, or
    the name of a provider, whose messages may differ ("mistral", "deepseek", "openrouter").  `api_key` is written where
    the wire wants it; `headers` replace those that are written here.  `dialects` and `reasoning` are those of
    `StreamParser`; of a local server (`localhost`, an address that is not public) "auto" reads calls in the text on
    every wire, for it may print them.  `tools_in="prompt"` teaches the tools in a `dialect`, for servers that know
    none.  `timeout`: seconds that the server may be silent.  A `client` of httpx that is given is used as it is, and
    never closed.  `settings` are those of `Request`; a request's own go over them.

    Raises ValueError for a bad URL, a wire that cannot be asked so, and an unknown dialect; TypeError for an
    unknown setting.
    """
    provider, spoken = find_format(wire), find_wire_name(wire)
    check_settings(settings)
    if dialects == "auto" and is_local(url):
        dialects = "all"
    if tools_in == "prompt":
        get_prompt(dialect)
        dialects = add_dialect(dialect, dialects)
    StreamParser(spoken, dialects=dialects, reasoning=reasoning)  # raises for an unknown dialect
    endpoint = Endpoint(
        url=find_answer_url(url, spoken, name), provider=provider, name=name, wire=spoken, timeout=timeout,
        headers=_merge_headers(write_key_headers(spoken, api_key), headers),
        dialects=dialects, reasoning=reasoning, settings=settings, tools_in=tools_in, dialect=dialect,
    )  # fmt: skip
    return HTTPModel(endpoint, client)


def build_model(
    found: NegotiatedFormat,
    *,
    api_key: str | None = None,
    headers: Headers | None = None,
    timeout: float = TIMEOUT,
    client: httpx.AsyncClient | None = None,
) -> HTTPModel:
    """Return the model that a profile of `streamparse.negotiate` describes; the rest is as in `http_model`.

    Raises ValueError if it names no URL or no model, or a wire that cannot be asked so.
    """
    if found.url is None or found.model is None:
        missing = "url" if found.url is None else "model"
        raise ValueError(f"the profile {found.name!r} names no {missing}, so it is no model to ask")
    wire = USUAL_WIRE if found.wire == "auto" else found.wire
    endpoint = Endpoint(
        url=find_answer_url(found.url, wire, found.model), provider=find_format(found.provider), name=found.model,
        wire=found.wire, timeout=timeout, headers=_merge_headers(write_key_headers(wire, api_key), headers),
        dialects=found.dialects, reasoning=found.reasoning,
        tools_in=found.tools_in, dialect=found.dialect, instructions=found.instructions,
    )  # fmt: skip
    return HTTPModel(endpoint, client)


def open_model(model: Model | NegotiatedFormat) -> AbstractAsyncContextManager[Model]:
    """Return a block that gives what can be called; an `HTTPModel` that is not entered gets a client for it.

    Raises ValueError for a profile that names no URL or no model; TypeError for anything else that is not a model.
    """
    check_model(model)
    if isinstance(model, NegotiatedFormat):
        model = build_model(model)
    return model.open() if isinstance(model, HTTPModel) else nullcontext(model)


def check_model(model: object) -> None:
    """Raise TypeError for anything that is not a model."""
    if not (isinstance(model, NegotiatedFormat) or callable(model)):
        raise TypeError(f"a model is an async function, an HTTPModel or a NegotiatedFormat, not {type(model).__name__}")


def add_dialect(dialect: str, dialects: Dialects) -> Dialects:
    """Return what is looked for, with the dialect first that the prompt teaches."""
    return (dialect, *((dialects,) if isinstance(dialects, str) else dialects))


async def ask_model(model: Model, request: Request) -> AsyncSource:
    """Return a model's source; raises TypeError for a model that is no async function."""
    answer: object = model(request)
    if not isinstance(answer, Awaitable):
        kind = type(answer).__name__
        raise TypeError(f"a model is an `async def` that returns a source; {model!r} returned {kind}, not an awaitable")
    source: AsyncSource = await answer
    return source


def _merge_headers(written: dict[str, str], given: Headers | None) -> dict[str, str]:
    return written | {name.lower(): value for name, value in (given or {}).items()}


def _describe_body(text: str) -> str:
    """Say in a line what an error's body says."""
    error = find_error(try_decode(msgspec.json.decode, text))
    return (describe_error(error) if error is not None else " ".join(text.split()))[:_SHOWN]


def _drop_secrets(url: str) -> str:
    """Return a URL without a name, a password and a query, which may hold keys."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _read_location(response: httpx.Response) -> str:
    """Return where a server redirects to; its query may repeat a key that it was asked with."""
    try:
        return _drop_secrets(response.headers.get("location", ""))
    except ValueError:  # no URL
        return ""


def _find_secrets(url: str, headers: Headers) -> list[str]:
    """Find what no message may show: the keys in headers and query, and the password; longest first."""
    parts = urlsplit(url)
    found = {unquote(parts.password or "")}
    for name, value in (*parse_qsl(parts.query), *headers.items()):
        if _HOLDS_SECRET.search(name.lower()):
            found |= {value, value.rpartition(" ")[2]}  # without "Bearer"
    return sorted(filter(None, found), key=len, reverse=True)


def _make_client(timeout: float) -> httpx.AsyncClient:
    module = _import_httpx()
    client: httpx.AsyncClient = module.AsyncClient(
        timeout=module.Timeout(timeout, connect=CONNECT_TIMEOUT, pool=None),
        limits=module.Limits(max_connections=None, max_keepalive_connections=20),
        follow_redirects=False,
    )
    return client


def _import_httpx() -> Any:
    """Return the module `httpx`; raises ModuleNotFoundError that says where it comes from."""
    try:
        import httpx  # noqa: PLC0415 - only this model needs it
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("http_model needs httpx: pip install httpx") from error
    return httpx
