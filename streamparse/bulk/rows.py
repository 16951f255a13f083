"""One flat row for each response: what of it fits into a table; `docs/bulk.md` describes the columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from streamparse.dialects import Dialects
from streamparse.parser import StreamParser
from streamparse.providers.wires import WireName
from streamparse.tools import Toolset

__all__ = ["Row", "RowMaker", "make_failure"]


class Row(msgspec.Struct, kw_only=True, gc=False):
    """One response.

    `source` and `row` say where its body was: a file, or a row of a table, from 0.  The columns that begin with `call_`
    have one entry for each complete call that was not taken back, `broken_call_` one for each that never became whole,
    and `error_` one for each error.  Arguments of complete calls are JSON, those of broken ones what there was of them.
    """

    source: str = ""
    row: int | None = None
    wire: str | None = None
    ok: bool = False
    stop: str | None = None
    finish_reason: str | None = None
    content: str = ""
    reasoning: str = ""
    refusal: str = ""
    call_names: list[str] = []
    call_ids: list[str] = []
    call_arguments: list[str] = []
    call_sources: list[str] = []
    broken_call_names: list[str] = []
    broken_call_ids: list[str] = []
    broken_call_arguments: list[str] = []
    revoked_calls: int = 0
    error_codes: list[str] = []
    error_messages: list[str] = []
    error_offsets: list[int | None] = []
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    bytes: int = 0


_encode: Final = msgspec.json.Encoder().encode


class RowMaker:
    """Parses bodies, each into a row.  Unknown names of wires and dialects raise ValueError at once."""

    def __init__(
        self, wire: WireName = "auto", *, dialects: Dialects = "auto", tools: Iterable[Any] | None = None
    ) -> None:
        self._wire = wire
        self._options: dict[str, Any] = {"dialects": dialects, "tools": Toolset.of(tools)}
        StreamParser(wire, **self._options)

    def parse(self, body: bytes | str, source: str = "", row: int | None = None) -> Row:
        """Parse one body, whole or streamed.  Nothing in it raises; what a plugin raises gets a note with its place."""
        try:
            made = self._parse(body if isinstance(body, bytes) else body.encode("utf-8", "replace"))
        except Exception as error:
            error.add_note(f"in {source}" if row is None else f"in row {row} of {source}")
            raise
        made.source = source
        made.row = row
        return made

    def _parse(self, body: bytes) -> Row:
        parser = StreamParser(self._wire, **self._options)
        parser.feed(body)
        parser.close()
        response = parser.response
        row = Row(
            wire=parser.wire,
            ok=response.ok,
            stop=response.stop,
            finish_reason=response.finish_reason,
            content=response.content,
            reasoning=response.reasoning,
            refusal=response.refusal,
            bytes=len(body),
        )
        if response.usage:
            tokens = response.tokens
            row.prompt_tokens, row.cached_tokens = tokens.prompt, tokens.cached
            row.completion_tokens, row.reasoning_tokens = tokens.completion, tokens.reasoning
        if response.tool_calls:
            calls = [call for call in response.tool_calls if not call.revoked]
            row.call_names = [call.name for call in calls]
            row.call_ids = [call.id for call in calls]
            row.call_arguments = [_encode(call.arguments).decode() for call in calls]
            row.call_sources = [call.source for call in calls]
            row.revoked_calls = len(response.tool_calls) - len(calls)
        if response.broken_calls:
            row.broken_call_names = [call.name for call in response.broken_calls]
            row.broken_call_ids = [call.id for call in response.broken_calls]
            row.broken_call_arguments = [call.raw for call in response.broken_calls]
        if response.errors:
            row.error_codes = [error.code for error in response.errors]
            row.error_messages = [error.message for error in response.errors]
            row.error_offsets = [error.offset for error in response.errors]
        return row


def make_failure(code: str, message: str, source: str, row: int | None) -> Row:
    """Return the row of a body that could not be read or parsed."""
    return Row(source=source, row=row, error_codes=[code], error_messages=[message], error_offsets=[None])
