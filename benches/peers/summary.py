"""Writes `docs/comparison.md`, the page for users: a row for each library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from peers.results import OURS, OURS_OVER_HTTP, ClientRow, QuirkRow, Results

__all__ = ["write_summary"]

_INTRODUCTION = """\
# Beside other libraries

The same streams, in one process, through streamparse and through other libraries, each as its own documentation uses
it. `make peers` measures them anew, and fails if a promise at the end of this page is broken.
[Every figure](internals/comparison.md) has what was measured, and how.

"""
_LIBRARIES = """\
## The libraries

- **× cost**: CPU time for a frame of a call, over that of streamparse over httpx on the same wire. The other clients do
  their own HTTP, so that is the row to hold beside them.
- **late**: bytes that the library takes from the server after the last byte of the first call, before it gives it out.
- **right**: deviations of real servers that it reads rightly. A call that was cut must not be given out.

"""
_OTHERS = """\
## What they have, and this has not

- **Their own conveniences**: typed models of every field, retries of uploads, files, batches, realtime APIs. Keep the
  SDK; its streams are [sources](parser/sources.md).
- **Tracing, routing and prices** of gateways, and hosted tools of agent frameworks.
- **Guided decoding** from the tools, which vLLM and SGLang do in the server. There no call can be malformed.

"""


def write_summary(
    results: Results, run: str, behind: str, gates: str, table: Callable[[Sequence[str], Iterable[Sequence[str]]], str]
) -> str:
    """Return the page; `run`, `behind` and `gates` are sections that the page of all figures has, too."""
    rows = table(("library", "× cost", "late", "right"), _write_rows(results.clients, results.quirks))
    where = run.partition(", and with ")[0]  # the versions are on the other page
    return f"{_INTRODUCTION}{where}.\n\n{_LIBRARIES}{rows}{behind}{_OTHERS}{gates}".rstrip() + "\n"


def _write_rows(clients: Sequence[ClientRow], quirks: Sequence[QuirkRow]) -> Iterator[tuple[str, ...]]:
    one = {row.wire: row.microseconds["call"] for row in clients if row.name == OURS_OVER_HTTP}
    for row in clients:
        if row.name != OURS:
            verdicts = [quirk.verdicts.get(row.name) for quirk in quirks if quirk.wire == row.wire]
            right = [verdict.is_right for verdict in verdicts if verdict is not None]
            late = f"{row.late[0].bytes:,} bytes"
            cost = f"{row.microseconds['call'] / one[row.wire]:.1f}"
            yield f"{row.name} ({row.wire})", cost, late, f"{sum(right)} of {len(right)}"
