"""Of what kind a tool's failure is, by the exception that its function raised.

| raised | kind |
|---|---|
| `TimeoutError`; a client's `…Timeout…`; status 408, 504 | `timeout` |
| `ConnectionError`, a name that is not found, an unreachable network; a client's `ConnectError` and the like; 5xx | `network` |
| `FileNotFoundError`, `FileExistsError`, a folder for a file; status 404, 410 | `resource` |
| `PermissionError`; status 401, 403 | `permission` |
| status 429 | `quota` |
| anything else | `execution` |

Clients (httpx, aiohttp, requests, the SDKs) are known by the names of their classes; none is imported.
"""  # noqa: E501 - a row of a table is one line

from __future__ import annotations

import errno
from typing import Final

from streamparse.providers.endpoints import CLIENTS
from streamparse.repair.refusals import find_statuses
from streamparse.runtime.model_failures import is_transport
from streamparse.tools import ErrorKind

_OF_CLASSES: Final[dict[type[BaseException], ErrorKind]] = {
    TimeoutError: "timeout",
    ConnectionError: "network",
    PermissionError: "permission",
    FileNotFoundError: "resource",
    FileExistsError: "resource",
    IsADirectoryError: "resource",
    NotADirectoryError: "resource",
}
_OF_STATUSES: Final[dict[int, ErrorKind]] = {
    401: "permission", 403: "permission", 404: "resource", 408: "timeout", 410: "resource", 429: "quota",
    504: "timeout",
}  # fmt: skip
_UNREACHABLE: Final = frozenset((errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN))
_MODULES: Final = CLIENTS | {"urllib"}
_NAMES: Final = frozenset(("gaierror", "herror", "SSLError", "URLError"))  # of the standard library


def find_kind(error: BaseException) -> ErrorKind:
    """Return the kind of a failure that a tool did not name itself."""
    if any(kind.__module__.partition(".")[0] in _MODULES for kind in type(error).__mro__):
        return _find_clients_kind(error)
    for kind in type(error).__mro__:
        if kind in _OF_CLASSES:
            return _OF_CLASSES[kind]
        if kind.__name__ in _NAMES and issubclass(kind, OSError):
            return "network"
    return "network" if isinstance(error, OSError) and error.errno in _UNREACHABLE else "execution"


def _find_clients_kind(error: BaseException) -> ErrorKind:
    status = next(find_statuses(error), None)
    if status is not None:
        return _OF_STATUSES.get(status, "network" if status >= 500 else "execution")
    if isinstance(error, TimeoutError) or any("Timeout" in kind.__name__ for kind in type(error).__mro__):
        return "timeout"
    is_unreached = isinstance(error, ConnectionError) or any(kind.__name__ in _NAMES for kind in type(error).__mro__)
    return "network" if is_unreached or is_transport(error) else "execution"
