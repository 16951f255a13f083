"""The settings of a proxy: where its server is, which wire the server speaks, how tools are offered."""

from __future__ import annotations

from base64 import b64encode
from typing import Final, Literal, TypeAlias
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec

from streamparse.dialects import Dialects
from streamparse.limits import Limits
from streamparse.parser import StreamParser
from streamparse.providers.endpoints import PATHS
from streamparse.providers.names import PROVIDERS
from streamparse.providers.wires import find_wire_name
from streamparse.proxy.turns import SystemMessages
from streamparse.unknown_names import list_known
from streamparse.writing.prompts import PROMPTS

ToolMode: TypeAlias = Literal["native", "prompt"]

_UNSUPPORTED: Final = {
    "auto": "a request is written before the server has said anything",
    "bedrock-converse": "its requests are signed with the secret of an AWS account, which a proxy does not hold",
    "ollama-generate": "its requests have no messages; the same server is asked as ollama-chat",
    "openai-completions": "its requests have no messages; most servers that know it are asked as openai-chat, too",
}
"""Why no server of the other wires can be asked."""
_DEFAULT_DIALECT: Final = "hermes"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one proxy; `validate` checks them."""

    upstream: str
    """The server's base URL, with or without the version that its paths begin with."""
    wire: str = "openai-chat"
    dialects: Dialects = "auto"
    """What to look for in the text, as a parser takes it; with `tools="prompt"` the prompt's dialect comes first."""
    tools: ToolMode = "native"
    """Whether the server gets the tools in a field of their own, or in the system prompt."""
    limits: Limits = Limits()
    model: str = ""
    """The model that is asked, whatever a client names; "" leaves the client's name."""
    context: int = 0
    """Tokens that a prompt and its answer may have together; a larger `max_tokens` is cut.  0: not known."""
    system_messages: SystemMessages = "user"
    """What becomes of a system message after the first turn."""
    key: str = ""
    """The key for the server, instead of the clients'."""
    token: str = ""
    """The only key that clients may bring; it goes no further.  "": whatever they bring is the server's."""
    max_request: int = 64 * 1024 * 1024
    """Bytes of a request; more is answered with status 413."""
    max_answer: int = 64 * 1024 * 1024
    """Bytes of an answer that is read here and sent whole; more is answered with status 502."""
    allowed_hosts: tuple[str, ...] = ()
    """Names by which the proxy may be asked besides this machine's own: `gate.example`, `*.example`, `*` for any."""
    request_timeout: float = 60.0
    """Seconds for the body of a request, and one more for each 16 KiB that came; then status 408."""
    connect_timeout: float = 10.0
    """Seconds until the server must have taken the connection."""
    read_timeout: float = 600.0
    """Seconds that the server may be silent."""
    keep_alive: float = 15.0
    """Seconds of silence in a stream of events after which a comment is sent; a proxy in between waits 30 to 60."""
    record: str | None = None
    """The folder to which the server's answers are recorded, without credentials; None: they are not."""
    answer_timeout: float = 3600.0
    """Seconds from the question to the server until the client must have the end of the answer."""

    def validate(self) -> Settings:
        """Return the settings, with the wire's own name; raise ValueError if no proxy can have them."""
        address = self._parse_upstream()
        if address.query or address.fragment:
            raise ValueError(f"upstream {self.upstream!r} is more than the base of URLs: it has a query or a fragment")
        if self.wire in _UNSUPPORTED:
            raise ValueError(f"a proxy's server cannot speak {self.wire!r}: {_UNSUPPORTED[self.wire]}")
        wire = find_wire_name(self.wire)
        if wire not in PATHS:
            raise ValueError(f"a proxy's server cannot speak {self.wire!r}; {list_known(self.wire, PATHS, PROVIDERS)}")
        StreamParser(wire, dialects=self.dialects)  # raises for an unknown dialect
        if self.tools not in ("native", "prompt"):
            known = list_known(self.tools, ("native", "prompt"))
            raise ValueError(f"unknown way to ask for tools {self.tools!r}; {known}")
        if self.tools == "prompt":
            choose_dialect_to_teach(self.dialects)
        return msgspec.structs.replace(self, wire=wire)

    @property
    def public_url(self) -> str:
        """The server's address without a name and a password."""
        address = self._parse_upstream()
        return address._replace(netloc=address.netloc.rpartition("@")[2]).geturl()

    @property
    def credentials(self) -> bytes:
        """The name and the password of the server's address as a value of `authorization`; empty without."""
        address = self._parse_upstream()
        if not address.username and not address.password:
            return b""
        name, password = unquote(address.username or ""), unquote(address.password or "")
        return b"Basic " + b64encode(f"{name}:{password}".encode())

    def _parse_upstream(self) -> SplitResult:
        """Return the parts of the base URL; raise ValueError if it is not a URL."""
        try:
            address = urlsplit(self.upstream)
            sound = address.scheme in ("http", "https") and address.hostname and address.port != 0
        except ValueError as error:
            raise ValueError(f"upstream {self.upstream!r} is no http:// or https:// URL: {error}") from error
        if not sound or any(sign.isspace() for sign in self.upstream):
            raise ValueError(f"upstream {self.upstream!r} is no http:// or https:// URL")
        return address


def choose_dialect_to_teach(dialects: Dialects) -> str:
    """Return the dialect in which a model is asked to write calls; raise ValueError if none of them has a prompt."""
    chosen = (dialects,) if isinstance(dialects, str) else tuple(dialects)
    names = [each if isinstance(each, str) else each.name for each in chosen]
    known = [name for name in names if name in PROMPTS]
    if not known and ("auto" in names or "all" in names):
        return _DEFAULT_DIALECT
    if not known:
        raise ValueError(f"no dialect of {names} has a prompt; those that have are: {', '.join(PROMPTS)}")
    return known[0]
