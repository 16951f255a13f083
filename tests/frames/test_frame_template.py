"""Chunks that are the same but for one string."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.frames import NDJSON, SSE, Framer, FrameTemplate
from streamparse.limits import Limits


class _Delta(msgspec.Struct):
    text: str | None = None


class _Message(msgspec.Struct):
    delta: _Delta | None = None
    read: str | None = None


DECODE = msgspec.json.Decoder(_Message).decode
UNLIMITED = Limits()
STRINGS = st.text(min_size=1) | st.sampled_from(['"', "\\", '","', ": ", "}", "\n", "é", "🎉", "text", "delta"])


def learnt(
    *chunks: bytes, limits: Limits = UNLIMITED, kind: type[SSE | NDJSON] = SSE
) -> tuple[Framer, FrameTemplate | None]:
    """The form after these chunks, each of which has a string."""
    framer = kind(limits)
    template = None
    for chunk in chunks:
        data = framer.try_next(chunk, 0)
        assert data is not None
        message = DECODE(data)
        template = FrameTemplate.learn(framer, chunk, message.delta.text)
    return framer, template


def chunk(string: str = "one", before: str = "", behind: str = "", ascii: bool = False) -> bytes:
    """An event with a string, and what else is in it."""
    spelled = json.dumps(string, ensure_ascii=ascii)
    return f'data: {{{before}"delta":{{"type":"t","text":{spelled}}}{behind}}}\n\n'.encode()


def test_a_chunk_that_differs_in_the_string_alone_gives_its_string() -> None:
    framer, template = learnt(chunk("one"))
    assert template is not None
    assert template.take(chunk("two")) == "two"
    assert (framer.received, framer.singles, framer.offset) == (len(chunk("one")) * 2, 2, len(chunk("one")) + 6)


@given(STRINGS, STRINGS, st.booleans())
def test_the_string_is_what_decoding_gives(first: str, second: str, ascii: bool) -> None:
    _, template = learnt(chunk(first))
    taken = template.take(chunk(second, ascii=ascii)) if template is not None else None
    assert taken in (None, second)
    if template is not None and second.isalnum():
        assert taken == second


@given(st.binary(max_size=40))
def test_whatever_stands_between_is_that_string_or_not_taken(between: bytes) -> None:
    _, template = learnt(chunk("one"))
    assert template is not None
    whole = chunk("one").replace(b"one", between)
    try:
        expected = DECODE(whole[6:-2])
    except ValueError:
        expected = None
    taken = template.take(whole)
    if taken is not None:
        assert expected == _Message(_Delta(taken))


@pytest.mark.parametrize(
    "other",
    [
        chunk(""),
        chunk("two", before='"more":1,'),
        chunk("two", behind=',"read":"x"'),
        chunk("one").replace(b'"one"', b'"a","text":"b"'),
        chunk("one").replace(b'"one"', b'"'),
        chunk("one").replace(b"one", b"a\nb"),
        chunk("one").replace(b"one", b"\xff"),
        chunk("one").replace(b'"one"', b"null"),
        chunk("one")[:-1],
        chunk("one") + chunk("two"),
    ],
)
def test_a_chunk_of_another_form_is_not_taken(other: bytes) -> None:
    framer, template = learnt(chunk("one"))
    assert template is not None
    before = framer.received
    assert template.take(other) is None
    assert framer.received == before


@pytest.mark.parametrize(
    "first",
    [
        chunk(""),
        chunk("t"),  # it stands there twice
        chunk("delta"),
        chunk("one", before='"x":"\\u0061",'),
        chunk("é", ascii=True),
    ],
)
def test_no_form_is_learnt_where_the_place_of_the_string_is_not_certain(first: bytes) -> None:
    assert learnt(first)[1] is None


@pytest.mark.parametrize(
    "between", ['", "a": "1"', '", "read": "\\u006fne"', '", "a": "one", "read": "one"', '", "a": "\\n", "read": "one"']
)
def test_no_form_is_learnt_of_a_string_that_is_not_twice_in_a_chunk_and_alike(between: str) -> None:
    first = f'data: {{"text": "one{between}}}\n\n'.encode()
    framer = SSE(UNLIMITED)
    assert framer.try_next(first, 0) is not None
    assert FrameTemplate.learn(framer, first, "one", twice=True) is None


@pytest.mark.parametrize("limits", [Limits(max_total=150), Limits(max_line=70, max_event=70)])
def test_a_chunk_beyond_a_limit_is_not_taken(limits: Limits) -> None:
    framer, template = learnt(chunk("one"), limits=limits)
    assert template is not None
    assert template.take(chunk("x" * 200)) is None
    assert framer.received == len(chunk("one"))


def test_lines_have_forms_too() -> None:
    lines = [chunk(f"s{n}")[6:-1] for n in range(3)]
    framer, template = learnt(lines[0], kind=NDJSON)
    assert template is not None
    assert [template.take(line) for line in lines[1:]] == ["s1", "s2"]
    assert framer.offset == sum(map(len, lines[:2]))


def take(strings: list[bytes], way: str, kind: type[SSE | NDJSON]) -> list[object]:
    """What is told of a read of such strings, as they are written, and where: of the whole read, or chunk by chunk."""
    form = chunk("one") if kind is SSE else chunk("one")[6:-1]
    framer, template = learnt(form, kind=kind)
    assert template is not None
    told: list[object] = []

    def tell(string: str) -> None:
        told.append((string, framer.offset, framer.received, framer.singles))

    chunks = [form.replace(b"one", string) for string in strings]
    end = 0
    if way == "at once":
        end = template.take_run(b"".join(chunks), 0, tell)
    else:
        for each in chunks:
            string = template.take(each)
            if string is None:
                break
            tell(string)
            end += len(each)
    return [*told, end]


ESCAPED = [b"\\n", b'\\"', b"\\", b"\\u00e9", b"\\ud83d"]
BROKEN = [b'","', b'a","b', b'",\t"', b"\xff", b"a\nb", b"\r"]
WRITTEN = st.sampled_from([b"one", b"two", b"", *ESCAPED, *BROKEN]) | st.binary(max_size=4)


@given(st.lists(WRITTEN, max_size=9), st.sampled_from([SSE, NDJSON]))
def test_of_a_read_of_many_chunks_is_taken_what_is_taken_of_each(
    strings: list[bytes], kind: type[SSE | NDJSON]
) -> None:
    assert take(strings, "at once", kind) == take(strings, "one by one", kind)


def test_a_run_ends_at_a_limit_as_chunk_by_chunk() -> None:
    framer, template = learnt(chunk("one"), limits=Limits(max_total=len(chunk("one")) * 4))
    assert template is not None
    told: list[str] = []
    assert template.take_run(chunk("two") * 9, 0, told.append) == 3 * len(chunk("two"))
    assert (told, framer.received) == (["two"] * 3, 4 * len(chunk("one")))
