"""A whole response of any type, as what the engine reads: frames, and the text it is if no wire claims them."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

from streamparse.dialects.grammars.call_json import extract_calls
from streamparse.frames import AutoFramer, Format, Frame, FramingError
from streamparse.json import snapshot
from streamparse.limits import Limits
from streamparse.parser.to_builtins import Unreadable, to_builtins
from streamparse.patterns import plain
from streamparse.providers.partial_bodies import complete_body, wrap_bare_value
from streamparse.providers.wires import UNDECIDED_FRAMES, WIRES, detect
from streamparse.reading.decode import lenient

_JSON: Final = ("json", "ndjson", "json-array")
_OBJECT: Final = plain(r"\s*+\[?\s*+\{\s*+(?:\"|\}?\s*+\]?\s*+$)")
_PAGE: Final = plain(r"\s*<(?:!doctype\s+html|html\b|\?xml\b)", re.IGNORECASE)

_EVENT: Final = plain(r"response\..+|ping|\w+[-_](?:start|delta|stop|end)|.+\.(?:start|delta|stop|complete|chunk)")
_CONVERSE: Final = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"}
)


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """What a whole response is made of."""

    frames: list[Frame] = []
    framing: Format | None = None
    """None if it was no bytes, but values that somebody decoded."""
    size: int = 0
    """In bytes; of values, of their JSON."""
    text: str | None = None
    """What it is if it shows no wire; None if it is then nothing."""
    wire: str | None = None
    """The wire that claims one of the first frames."""
    shown_by: Frame | None = None
    """That frame."""
    whole: bool = False
    """Whether it is all of an answer: one object that is no message of a stream."""
    prose: bool = False
    """Whether it was given as text, and is not framed in any way."""
    answer: bool = False
    """Whether it is JSON given as text that may well be the answer itself, and not the error it looks like."""
    fault: FramingError | None = None
    """Why no more than these frames can be read."""

    @property
    def streamed(self) -> bool:
        """Whether it is a stream of JSON, or the end of one, though of no known wire: then it is no text."""
        first = self.frames[:UNDECIDED_FRAMES] if self.framing in ("sse", "aws-eventstream") else ()
        data = [frame.data.strip() for frame in first if frame.field == b"data"]
        return any(each[:1] == b"{" or each == b"[DONE]" for each in data)


def read_body(thing: Any, limits: Limits) -> Body:
    """Read anything: text, bytes, decoded JSON, SDK objects, lists of chunks; raises TypeError for what is no body."""
    try:
        value = "" if thing is None else to_builtins(thing)
        if isinstance(value, str):
            return _read_text(value, limits)
        if isinstance(value, bytes):
            return _without_silent_text(_read_bytes(value, value.decode("utf-8", "replace"), limits))
        if value == []:
            return Body(fault=FramingError("empty_body", "there is no response", 0))
        return _read_value(value)
    except (Unreadable, ValueError, RecursionError) as error:
        return Body(fault=FramingError("unexpected_shape", f"the response cannot be read: {error}", 0))


def _read_text(text: str, limits: Limits) -> Body:
    if not text.strip():
        return Body(text=text, size=len(text), prose=True)  # an answer that says nothing
    body = _read_bytes(text.encode(), text, limits)
    prose = not any(frame.field == b"data" for frame in body.frames)
    return msgspec.structs.replace(body, prose=prose, answer=body.wire is None and '"error"' not in text)


def _read_bytes(data: bytes, text: str | None, limits: Limits) -> Body:
    framer = AutoFramer(limits)
    most = limits.max_total
    frames = framer.feed(data if most is None else data[:most])
    fault = framer.error
    if most is not None and len(data) > most and fault is None:
        fault = FramingError("limit_total", f"the response exceeds {most} bytes", most)
    elif fault is None:
        frames += framer.close()
        fault = framer.error
    framing = framer.format or "empty"
    if framing == "empty":
        text = None
    value = _decode_sole_value(data, frames, framing) if fault is None else None
    completed = complete_body(value)
    if completed is not None and completed != value:
        return msgspec.structs.replace(_read_value(completed), framing=framing, size=len(data), text=text)
    shown_by = next((frame for frame in frames[:UNDECIDED_FRAMES] if detect(frame)), None)
    wire = None if shown_by is None else detect(shown_by)
    if wire is None and text is not None and framing in _JSON and (wire := _detect_before_cut(text)) is not None:
        shown_by = frames[0] if frames else None
    return Body(
        frames=frames,
        framing=framing,
        size=len(data),
        text=text,
        wire=wire,
        shown_by=shown_by,
        whole=isinstance(value, dict) and not is_piece(value),
        fault=fault,
    )


def _detect_before_cut(text: str) -> str | None:
    """The wire that shows in what there is of a JSON body that was cut."""
    value = snapshot(text)
    return next((wire for wire in _claim_wires(value) if wire), None) if isinstance(value, (dict, list)) else None


def _without_silent_text(body: Body) -> Body:
    """Bytes are a body: one of no wire is no text if it is blank, a page, or JSON, even cut, without calls."""
    text = body.text or ""
    silent = body.framing == "aws-eventstream" or (body.framing == "sse" and not body.frames)
    is_json = bool(_OBJECT.match(text)) or text.strip() in ("null", "[]")
    if body.wire is not None:
        return body
    if silent or _PAGE.match(text) or (is_json and next(extract_calls(_decode(text.encode())), None) is None):
        return msgspec.structs.replace(body, text=None)
    return body


def _decode_sole_value(data: bytes, frames: list[Frame], framing: Format) -> Any:
    """The one JSON value that the data is; None if it is another or none."""
    is_one = framing == "json-array" or (len(frames) == 1 and framing in ("json", "ndjson"))
    return _decode(data) if is_one else None


def _read_value(value: Any) -> Body:
    """The body of decoded JSON: one message, or a list of them."""
    value = complete_body(value) or wrap_bare_value(value) or value
    wires = _claim_wires(value)
    messages = _list_messages(value)
    frames = []
    size = 0
    for message in messages:
        frames.append(Frame(json.dumps(message).encode(), offset=size))
        size += len(frames[-1].data)
    place = next((number for number, wire in enumerate(wires) if wire), None)
    text = (
        None if place is not None or next(extract_calls(value), None) is None else json.dumps(value, ensure_ascii=False)
    )
    return Body(
        frames=frames,
        size=size,
        whole=isinstance(value, dict) and not is_piece(value),
        text=text,
        wire=None if place is None else wires[place],
        shown_by=None if place is None else frames[place],
    )


def _list_messages(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _claim_wires(value: Any) -> list[str | None]:
    """The wire of each of the first messages.  They are asked as they are: not all of them can be written as JSON."""
    return [
        next((name for name, wire in WIRES.items() if isinstance(message, dict) and wire.claims(message, b"")), None)
        for message in _list_messages(value)[:UNDECIDED_FRAMES]
    ]


def _decode(data: bytes) -> Any:
    try:
        return lenient(data)
    except (ValueError, RecursionError):
        return None


def is_piece(value: dict[str, Any]) -> bool:
    """Whether an object is one message of a stream."""
    kinds = (value.get("type"), value.get("event_type"), value.get("object"))
    if value.get("done") is False or any(isinstance(kind, str) and _EVENT.fullmatch(kind) for kind in kinds):
        return True
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    is_delta = isinstance(first, dict) and first.get("delta") is not None and first.get("message") is None
    return is_delta or not _CONVERSE.isdisjoint(value)
