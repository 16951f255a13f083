"""Chunks that are the same but for one string."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.frames import NDJSON, SSE, Framer, FrameTemplate
from streamparse.frames.frame import StringTwice
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
        data = framer.try_single(chunk)
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


def test_a_chunk_fits_a_form_if_it_has_the_string_there() -> None:
    _, template = learnt(chunk("one"))
    assert template is not None
    assert template.fits(chunk("two"), "two")
    assert template.fits(chunk("é\n", ascii=True), "é\n")
    others = (chunk("two"), chunk("one", before=" "), chunk("one", behind=" "), chunk("one").replace(b"one", b'"'))
    assert not any(template.fits(each, "one") for each in others)


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
    assert framer.try_single(first) is not None
    assert FrameTemplate.learn(framer, first, StringTwice("one")) is None


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


def take(strings: list[bytes], taken_at_once: int | None, kind: type[SSE | NDJSON] = SSE) -> list[object]:
    """What is told of a read of such strings, as they are written, and where: by a long run, or one by one."""
    form = chunk("one") if kind is SSE else chunk("one")[6:-1]
    framer, template = learnt(form, kind=kind)
    assert template is not None
    told: list[object] = []

    def tell(string: str) -> None:
        told.append((string, framer.offset))  # of the counts only what they are in the end is asked

    def tell_run(together: list[str]) -> int:
        taken = min(taken_at_once or 0, len(together))
        told.extend(together[:taken])
        return taken

    data = b"".join(form.replace(b"one", string) for string in strings)
    is_long = taken_at_once is not None
    end = template.take_long_run(data, 0, tell, tell_run) if is_long else template.take_run(data, 0, tell)
    return [*told, end, framer.offset, framer.received, framer.singles]


ESCAPED = [b"\\n", b'\\"', b"\\", b"\\u00e9", b"\\ud83d"]
BROKEN = [b'","', b'a","b', b'",\t"', b"\xff", b"a\nb", b"\r"]
WRITTEN = st.sampled_from([b"one", b"two", b"", *ESCAPED, *BROKEN]) | st.binary(max_size=4)


@given(st.lists(WRITTEN, max_size=9), st.sampled_from([SSE, NDJSON]))
def test_a_long_run_takes_what_one_by_one_is_taken(strings: list[bytes], kind: type[SSE | NDJSON]) -> None:
    assert take(strings, 0, kind) == take(strings, None, kind)


@given(st.lists(WRITTEN, max_size=9), st.integers(1, 4))
def test_strings_that_are_told_together_are_the_same(strings: list[bytes], together: int) -> None:
    *told, end, offset, received, singles = take(strings, together)
    *alone, end_alone, offset_alone, received_alone, singles_alone = take(strings, None)
    assert [each if isinstance(each, str) else each[0] for each in told] == [each[0] for each in alone]
    assert (end, offset, received, singles) == (end_alone, offset_alone, received_alone, singles_alone)


def test_two_that_are_no_strings_are_none_though_together_they_look_like_two() -> None:
    assert take([b"a\\", b',"z'], 0) == take([b"a\\", b',"z'], None)


def test_of_many_strings_more_and_more_are_told_together_up_to_a_bound() -> None:
    strings = [b"%d" % number for number in range(1000)]
    framer, template = learnt(chunk("one"))
    assert template is not None
    told: list[list[str]] = []

    def tell_run(together: list[str]) -> int:
        told.append(together)
        return len(together)

    data = b"".join(chunk("one").replace(b"one", string) for string in strings)
    assert template.take_long_run(data, 0, lambda _: None, tell_run) == len(data)
    assert [string for each in told for string in each] == [string.decode() for string in strings]
    assert [*map(len, told)][:4] == [32, 64, 128, 128]
    assert framer.received == len(data) + len(chunk("one"))


def test_a_long_run_that_a_limit_may_end_is_taken_one_by_one() -> None:
    framer, template = learnt(chunk("one"), limits=Limits(max_total=len(chunk("one")) * 4))
    assert template is not None
    told: list[str] = []
    end = template.take_long_run(chunk("two") * 9, 0, told.append, len)
    assert (told, end) == (["two"] * 3, 3 * len(chunk("two")))
    assert framer.received == 4 * len(chunk("one"))
