"""The base class of wires that read one type of JSON message.

The fast path is one typed msgspec decode.  What it refuses is read again, slowly: a frame with one field of an
unexpected type keeps its other fields; NaN, raw control characters and broken UTF-8 are tolerated; the rest becomes an
`Error` with its offset, and the stream goes on.

What is not a message is taken here, too: the end marker, errors outside of the protocol, halves of characters, bare
JSON, an HTML page in place of an event.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from io import StringIO
from threading import Lock
from typing import Any, ClassVar, Final, Generic, TypeVar, cast

import msgspec
from msgspec.structs import replace

from streamparse.finish_reasons import COMMON_STOPS, Stop, find_common_stop, find_stop
from streamparse.frames import Frame, ValueScanner
from streamparse.frames.frame import BOM
from streamparse.json import JSONError, read
from streamparse.limits import Limits, most
from streamparse.patterns import lazy_re
from streamparse.reading.decode import (
    decode_lenient,
    decode_untyped,
    find_objects,
    get_fields,
    has_half_at_end,
    loads_lenient,
    read_argument_text,
    read_excerpt,
    rejoin_pairs,
    strip_prefix,
    write_argument_text,
)
from streamparse.reading.errors import find_error, report_provider_error
from streamparse.reading.plain_strings import PlainString
from streamparse.reading.wire import UnknownMessage
from streamparse.sink import Outcome, Sink
from streamparse.tools import Toolset

Part = TypeVar("Part")

# How a turn ended, as the sink wants it.  A reason that is in no table means a good end:
# so will the words of next year's servers.
_OUTCOMES: Final[dict[Stop, Outcome]] = {
    "end": "stop", "tools": "tools", "length": "cut", "filter": "failed", "error": "failed",
}  # fmt: skip
_COMMON_OUTCOMES: Final[dict[str, Outcome]] = {reason: _OUTCOMES[stop] for reason, stop in COMMON_STOPS.items()}


def find_outcome(reason: str) -> Outcome:
    """Return how a turn ended that has this reason, whichever server sends it."""
    return _COMMON_OUTCOMES.get(reason) or _OUTCOMES[find_common_stop(reason) or "end"]


def find_listed_outcome(reason: str) -> Outcome:
    """As `find_outcome`, where the provider lists its reasons: words that only such a list has count, too."""
    return _OUTCOMES[find_stop(reason) or "end"]


UNFINISHED: Final = ("queued", "in_progress")
"""The status of a whole body that was fetched while the server works on it."""


def report_unfinished(sink: Sink, status: str) -> None:
    """Report such a status: the turn has not ended, so what is open is cut."""
    sink.error("stream", "stream_truncated", f"the server has not ended the turn: it is {status}")
    sink.finish(status, "cut")


def decode_part(decode: Callable[[msgspec.Raw], Part], raw: msgspec.Raw, sink: Sink, what: str) -> Part | None:
    """Decode what a message has kept raw; None, and an error, for what cannot be read."""
    try:
        return decode(raw)
    except (ValueError, RecursionError) as error:
        sink.error("frame", "unexpected_shape", f"{what} cannot be read: {error}")
        return None


def send_whole_call(sink: Sink, name: str | None, arguments: msgspec.Raw, id: str | None = None) -> None:
    """Send a call that came in one piece; without a name it is an error."""
    if name:
        sink.call_whole(name, read_argument_text(arguments), id or None)
    else:
        sink.error("frame", "call_without_name", "a call without a name")


# -- ----------------------------------------------------------------------------------------------------
# Bare JSON between the events of a stream, which the framer has cut into lines and fields.


class BareJsonJoiner(msgspec.Struct, eq=False):
    """Joins such lines again; `max_event` bounds what waits for its end.

    Gemini writes an error after its first events this way, pretty printed over several lines.
    """

    max_event: int
    _data: bytearray = msgspec.field(default_factory=bytearray)
    _offset: int = 0
    _scanner: ValueScanner | None = None

    def add(self, frame: Frame) -> Frame | None:
        """Take a line that is not data; return the value that it ends, as a frame."""
        if self._scanner is None:
            if frame.field != b"":
                return None
            self._scanner = ValueScanner()
            self._offset = frame.offset
        line = frame.data
        if frame.field != b"":  # the framer took the text before the colon for the name of a field
            line = frame.field + b":" + frame.data if frame.data else frame.field
        self._data += line
        return self.close() if self._scanner.end(line) >= 0 or len(self._data) > self.max_event else None

    def close(self) -> Frame | None:
        """Return what waits, whole or not."""
        if self._scanner is None:
            return None
        self._scanner = None
        frame = Frame(bytes(self._data), b"", self._offset)
        self._data.clear()
        return frame


# -- ----------------------------------------------------------------------------------------------------

T = TypeVar("T", bound=msgspec.Struct)


_DECODERS: Final[dict[type[Any], Callable[[bytes], Any]]] = {}
"""The decoder of each shape, made once: it has no state."""
_MAKING: Final = Lock()
"""Held while a decoder is made: another thread must not decode with what msgspec has half built of a Struct."""


_PATH = lazy_re(r"`\$((?:\.[\w-]+|\[\d+\])+)`")
_STEP = lazy_re(r"\.([\w-]+)|\[(\d+)\]")
_MOST_PRUNINGS: Final = 8  # bound: fields of one message that are dropped, each for another decoding
_MOST_LOOKS: Final = 4  # bound: messages that are decoded once more; Azure's first names nothing
_HTML: Final = lazy_re(rb"<[A-Za-z!]")
_LONGEST_PAGE: Final = 2000  # bound: characters of a page that are kept for its error
_LONGEST_FAILURE: Final = 32  # source: no beginning of `_FAILURES` is longer
_FAILURES: Final = (
    "error", "internal server error", "bad gateway", "gateway timeout", "gateway time-out", "service unavailable",
    "too many requests", "<!doctype html", "<html",
)  # fmt: skip
"""How data begins that a gateway has written in place of JSON."""


class MessageWire(Generic[T]):
    """A wire without its `claims` and its `take`.

    `_over` is set once the end marker has come.  What follows is counted as ignored, by `take` too.
    """

    shape: ClassVar[type[Any]]
    """The Struct of a message.  It names only the fields that are read."""
    loose_shape: ClassVar[type[Any] | None] = None
    """The Struct of messages that `shape` refuses, if it is another one."""
    argument_texts: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Paths to texts of arguments: some relays send an object there."""
    facts: ClassVar[type[Any] | None] = None
    """The Struct of what a message says about the answer, each field by the name that the sink has for it."""
    reads: ClassVar[tuple[str, ...]] = ()
    parses_calls: ClassVar[bool] = False
    reopens: ClassVar[bool] = False
    plain_strings: ClassVar[tuple[PlainString, ...]] = ()

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None:  # noqa: ARG002
        self._sink = sink
        self._text: Callable[[str], None] = sink.text
        self._choice = choice
        self._limits = limits
        self.decode: Callable[[bytes], T] = _DECODERS.get(self.shape) or find_decoder(self.shape)
        self._bare_json: BareJsonJoiner | None = None
        self._half: Frame | None = None  # ends in half of a character
        self.waits: bool = False
        self._page: StringIO | None = None  # HTML where an event should be: a gateway has failed
        self._sent: dict[str, Any] | None = None  # what was sent last of the items that are repeated
        self._looks = _MOST_LOOKS  # so many more messages may be looked at for who answers
        self._over = False
        self._failed = False
        self.ignored: int = 0

    @staticmethod
    def claims(message: dict[str, Any], event: bytes, /) -> bool:
        """Whether the first message of a body shows this wire."""
        raise NotImplementedError

    @property
    def over(self) -> bool:
        return self._over

    def take(self, message: T) -> bool | None:
        """Send the sink what a decoded message holds; raise UnknownMessage for one that holds nothing of the wire.

        True asks for `read_facts`.
        """
        raise NotImplementedError

    def read_facts(self, data: bytes) -> None:
        """Send the sink what a message says about the answer, which `shape` does not name: most messages repeat it."""
        self._looks -= 1
        facts = read_struct(data, self.facts) if self.facts is not None else None
        for name, value in get_fields(facts).items() if facts is not None else ():
            self._sink.fact(name, value)
            self._looks = 0

    def frame(self, frame: Frame) -> None:
        if self._half is not None:
            frame = self._rejoin(self._half, frame)
        if frame.field != b"data" or frame.event == b"error":
            self._take_nonstandard(frame)
            return
        message = self._decode_message(frame)
        if message is None:
            return
        try:
            if self.take(message):
                self.read_facts(frame.data)
        except UnknownMessage as unknown:
            error = find_error(decode_untyped(frame.data))
            self._fail(error)
            if error is None and unknown.args:
                self._sink.error("frame", "unexpected_shape", str(unknown), frame.offset)

    def close(self) -> None:
        """The body is over: send what waited for more.  A wire that has more to send calls this first."""
        self._flush_half()
        frame = self._bare_json.close() if self._bare_json is not None else None
        if frame is not None:
            if not self.over:
                self._sink.go_on()  # a value that does not end
            self.frame(frame)
            self._flush_half()
        if self._page is not None:
            self._fail(self._page.getvalue())

    def _mend(self, message: dict[str, Any]) -> None:
        """Mend known deviations of a message, in place, that `decode` refused."""
        for *path, key in self.argument_texts:
            for holder in find_objects(message, *path):
                if isinstance(holder.get(key), (dict, list)):
                    holder[key] = write_argument_text(holder[key])

    def _send_items(self, message: msgspec.Struct, names: Iterable[str]) -> None:
        """Send each of these fields that is there as an item of its own."""
        for kind, value in get_fields(message, names).items():
            self._sink.item(kind, value)

    def _send_new_items(self, message: msgspec.Struct, names: Iterable[str]) -> None:
        """Send each of these fields that is not empty, and not as it was: some servers repeat them in each message."""
        for kind, value in get_fields(message, names).items():
            self._sent = self._sent or {}
            if value and value != self._sent.get(kind):
                self._sent[kind] = value
                self._sink.item(kind, value)

    def _send_usage(self, usage: dict[str, Any] | None) -> None:
        if usage is not None:
            self._sink.fact("usage", usage)

    def _decode_message(self, frame: Frame) -> T | None:
        """Decode a frame; None if it was something else than a message, which has been dealt with."""
        data = frame.data
        if data != b"[DONE]":
            try:
                return self.decode(data)
            except (ValueError, RecursionError):
                data = data.strip()
                if data[:5] == b"data:":
                    return self._decode_message(replace(frame, data=strip_prefix(data)))
        if self._over:
            self.ignored += 1
            return None
        if data == b"[DONE]":
            self._over = True
            self._sink.end()
            return None
        if has_half_at_end(data):
            self._half, self.waits = frame, True
            return None
        return self._decode_slowly(frame) if data and not self._report_error_frame(frame) else None

    def _decode_slowly(self, frame: Frame) -> T | None:
        """Decode a frame that `decode` refused; None, after an `Error`, if it cannot be read."""
        if self.loose_shape is not None and not self._may_be_too_deep(frame.data.count(b"{") + frame.data.count(b"[")):
            try:
                return cast("T", find_decoder(self.loose_shape)(frame.data))  # as most that lack a field
            except (ValueError, RecursionError):
                pass
        value = self._read_object(frame)
        if value is None:
            return None
        self._mend(value)
        for _ in range(_MOST_PRUNINGS):
            try:
                text = json.dumps(value, ensure_ascii=False)  # `convert` makes no `Raw`
                return cast("T", msgspec.json.decode(text, type=self.loose_shape or self.shape, strict=False))
            except msgspec.ValidationError as error:
                reason = str(error)
            path = _PATH.search(reason)
            if path is None:
                break
            _prune(value, _STEP.findall(path[1]))
            self._sink.error("frame", "unexpected_shape", f"a field was ignored: {reason}", frame.offset)
        self._sink.error("frame", "unexpected_shape", reason, frame.offset)
        return None

    def _read_object(self, frame: Frame) -> dict[str, Any] | None:
        """The object that a frame holds; None, after an `Error`, if it holds none."""
        text = frame.data.decode("utf-8", "replace")
        if self._may_be_too_deep(text.count("{") + text.count("[")):
            # `json` would raise RecursionError far beyond the limit; the tolerant reader finds out what is at it.
            error = self._find_error(text)
            if error is not None and error.code == "json_depth":
                self._refuse(frame, error)
                return None
        try:
            value = loads_lenient(text)
        except ValueError:
            if text.lstrip(" \t\r\n[(*!")[:_LONGEST_FAILURE].lower().startswith(_FAILURES):
                self._fail(text.strip())
            else:
                self._refuse(frame, self._find_error(text))
            return None
        except RecursionError:  # there is no limit to the depth, but one of the interpreter
            self._sink.error("frame", "json_depth", "a frame nests deeper than can be read", frame.offset)
            return None
        if isinstance(value, dict):
            return value
        error = find_error(value)
        if error is None:
            self._sink.error("frame", "unexpected_shape", f"a frame holds {_name_kind(value)}", frame.offset)
        self._fail(error)
        return None

    def _may_be_too_deep(self, brackets: int) -> bool:
        return self._limits.max_depth is not None and brackets > self._limits.max_depth

    def _find_error(self, text: str) -> JSONError | None:
        try:
            read(text, "lenient", self._limits)
        except JSONError as error:  # a new one: this one's traceback leads back to who keeps it
            return JSONError(error.code, error.message, error.offset)
        return None

    def _refuse(self, frame: Frame, error: JSONError | None) -> None:
        if error is None:
            self._sink.error("frame", "json_syntax", "a frame is not JSON", frame.offset)
            return
        within = min(error.offset, len(frame.data))  # replacement characters made the text longer than its bytes
        self._sink.error("frame", error.code, f"{error.message}: {read_excerpt(frame)!r}", frame.offset + within)

    def _rejoin(self, half: Frame, frame: Frame) -> Frame:
        """Take the message that waits, and return the next one without what belongs to it."""
        self._half, self.waits = None, False
        data, rest = rejoin_pairs(half.data, frame.data)
        self.frame(replace(half, data=data))
        return replace(frame, data=rest)

    def _flush_half(self) -> None:
        """No message follows the one that waits."""
        if self._half is not None:
            self._rejoin(self._half, Frame(b""))

    def _report_error_frame(self, frame: Frame) -> bool:
        """Report a frame that is an error in another shape than the wire's; whether it was one."""
        message = decode_untyped(frame.data)
        error = None if self.claims(message, frame.event) else find_error(message)
        if error is not None:
            self._fail(error)
        return error is not None

    def _take_nonstandard(self, frame: Frame) -> None:
        """Take a field or an event that is not in the protocol: an error, a message without its field, or nothing."""
        if self._over:
            self.ignored += 1
        elif frame.event == b"error" or frame.field.lower() == b"error":
            self._take_error(frame.data)
        elif frame.field.removeprefix(BOM).lower() == b"data":
            # In capitals, or behind a mark in the middle of the body, as where bodies with marks were joined.
            self.frame(replace(frame, field=b"data"))
        elif _HTML.match(frame.field) or self._page is not None:
            self._page = self._page or StringIO()
            if self._page.tell() < _LONGEST_PAGE:
                self._page.write((frame.field + frame.data).decode("utf-8", "replace"))
        else:
            self._bare_json = self._bare_json or BareJsonJoiner(most(self._limits.max_event))
            if (whole := self._bare_json.add(frame)) is not None:
                self.frame(whole)

    def _take_error(self, data: bytes) -> None:
        words = data.decode("utf-8", "replace").strip()
        try:
            self._fail(msgspec.json.decode(data) or words)
        except (ValueError, RecursionError):
            self._fail(words)

    def _fail(self, error: Any) -> None:
        """Report the provider's error once, unless it is blank: some send it in two events of different names."""
        if error and not self._failed:
            self._failed = True
            report_provider_error(self._sink, error)


def find_decoder(shape: type[Any]) -> Callable[[bytes], Any]:
    """Return the decoder of a shape, which is made at its first use."""
    with _MAKING:
        decode = _DECODERS.get(shape)
        if decode is None:
            decode = _DECODERS[shape] = msgspec.json.Decoder(shape).decode
    return decode


def read_struct(data: bytes, shape: type[T]) -> T | None:
    """Read a few fields of a message; None if it is not as expected."""
    try:
        return cast("T", find_decoder(shape)(data))
    except (ValueError, RecursionError):
        pass
    try:
        return msgspec.convert(decode_lenient(data), shape, strict=False)
    except (ValueError, RecursionError):
        return None


def _prune(value: Any, path: list[tuple[str, str]]) -> None:
    """Remove the field or the element that msgspec complains of; each step to it is a name or an index."""
    *steps, last = (name or int(index) for name, index in path)
    for step in steps:
        value = value[step]
    del value[last]


def _name_kind(value: Any) -> str:
    if value is None:
        return "null"
    return {list: "an array", str: "a string", bool: "a boolean"}.get(type(value), "a number") + ", not an object"
