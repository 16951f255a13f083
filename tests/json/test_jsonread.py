"""The reader: one whole JSON text, clean or not."""

from __future__ import annotations

import json
import math
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamparse.errors import CODES
from streamparse.json import JSONError, Mode, Reading, read
from streamparse.limits import Limits

MODES: tuple[Mode, ...] = get_args(Mode)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner), max_leaves=10
)
JSON_LIKE = st.text(alphabet="{}[]()\"'\\/*#u0d8c,: -+.1eEtrufalsnT_\n\t`\ufeff\ud83d\xe9", max_size=30)
FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *[
                '{"a":',
                '"b"',
                "[",
                "]",
                "{",
                "}",
                ",",
                ":",
                " ",
                "1",
                "-1.5e3",
                "01",
                "1e999",
                "true",
                "nul",
                "NaN",
                "'c'",
            ],
            *[
                "\\u0061",
                '"\\ud83d"',
                '"\\ude00"',
                '"\\n"',
                '"\\x"',
                '"\n"',
                "//c\n",
                "/*c*/",
                "None",
                "d",
                "-Infinity",
            ],
        ]
    ),
    max_size=12,
).map("".join)


def outcome(text: str | bytes, mode: Mode) -> Reading | JSONError:
    """What reading gives or raises; anything but a JSONError goes through."""
    try:
        return read(text, mode)
    except JSONError as error:
        return error


def failure(text: str | bytes, mode: Mode = "lenient", limits: Limits | None = None) -> tuple[str, int]:
    with pytest.raises(JSONError) as caught:
        read(text, mode, limits or Limits())
    assert str(caught.value) == f"{caught.value.message} (at byte {caught.value.offset})"
    return caught.value.code, caught.value.offset


@given(VALUES, st.booleans(), st.sampled_from([None, 2]), st.sampled_from(MODES))
def test_what_json_writes_is_read_as_it_was(value: object, ascii_only: bool, indent: int | None, mode: Mode) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    reading = read(text, mode)
    assert repr(reading.value) == repr(value)
    assert reading.repairs == ()
    assert read(text.encode(), mode) == reading


@given(VALUES)
def test_the_tolerant_reader_reads_clean_text_as_the_clean_one_does(value: object) -> None:
    text = json.dumps(value)
    assert repr(read(text + "//", "heal").value) == repr(value)
    assert repr(read("\ufeff" + text).value) == repr(value)


@given(VALUES)
def test_a_python_literal_without_tuples_is_read_only_when_healing(value: object) -> None:
    text = repr(value)
    reading = read(text, "heal")
    if "\\" not in text:  # Python's repr has more escapes than JSON
        assert repr(reading.value) == text
    if reading.repairs:
        assert isinstance(outcome(text, "strict"), JSONError)


@given(JSON_LIKE | FRAGMENTS | st.text() | st.binary(max_size=30), st.sampled_from(MODES))
def test_no_text_raises_anything_but_a_json_error_with_a_known_code_inside_the_text(
    text: str | bytes, mode: Mode
) -> None:
    result = outcome(text, mode)
    if isinstance(result, JSONError):
        assert result.code in CODES
        assert 0 <= result.offset <= len(text if isinstance(text, bytes) else text.encode(errors="surrogatepass"))
    else:
        assert mode != "strict" or result.repairs == ()
        json.dumps(result.value, ensure_ascii=False, allow_nan=False).encode()


@given(JSON_LIKE | FRAGMENTS)
@example("[1]//c")
@example('{"a":1,"a":2}')
def test_a_kinder_mode_reads_the_same_from_whatever_a_stricter_one_accepts(text: str) -> None:
    accepted: list[Reading] = []
    for mode in MODES:
        result = outcome(text, mode)
        if isinstance(result, JSONError):
            assert not accepted
        else:
            accepted.append(result)
    assert len(set(map(repr, accepted))) <= 1


NAMED_DIFFERENCES = {"json_non_finite", "json_lone_surrogate", "json_duplicate_key"}
"""What the standard library accepts in short texts and we do not."""


@given(JSON_LIKE | FRAGMENTS | VALUES.map(json.dumps))
@example("[-0]")
@example("[1E400]")
@example('["\\u12_4"]')
@example("\x0b1")
@example("[\xa01]")
@example('{"a":1,"a":1}')
@example("\ufeff1")
def test_strict_accepts_and_rejects_what_the_standard_library_does_but_for_named_differences(text: str) -> None:
    try:
        expected = repr(json.loads(text))
    except ValueError:
        failure(text, "strict")
        return
    result = outcome(text, "strict")
    if isinstance(result, JSONError):
        assert result.code in NAMED_DIFFERENCES
    else:
        assert repr(result.value) == expected


@pytest.mark.parametrize(
    ("text", "code", "offset"),
    [
        ("é", "json_syntax", 0),
        ('["é" x]', "json_syntax", 6),
        ('["a\x01"]', "json_control_char", 3),
        ('["\\x', "json_bad_escape", 2),
        ('["\\u00', "json_truncated", 6),
        ('["a\nb', "json_control_char", 3),
        ('["\\n\\u0061\\ud800"]', "json_lone_surrogate", 10),
        ('{"a": 1, "a": 2}', "json_duplicate_key", 9),
        ("[1,]", "json_syntax", 3),
        ("[01]", "json_syntax", 2),
        ("[1.]", "json_syntax", 3),
        ("[1.", "json_truncated", 3),
        ("[1e5x]", "json_syntax", 4),
        ("01", "json_syntax", 1),
        ("-", "json_truncated", 1),
        ("1e", "json_truncated", 2),
        ("[nulL]", "json_syntax", 1),
        ('["é", NaN]', "json_non_finite", 7),
        ("[1e999, 2", "json_non_finite", 1),
        ("1 2", "json_trailing", 2),
        ('{"a": 1}]', "json_trailing", 8),
        (b'["\xc3\xa9\xff"]', "utf8_invalid", 4),
        ('["\ud800"]', "json_lone_surrogate", 2),
    ],
)
def test_the_offset_counts_the_bytes_before_the_first_wrong_one(text: str | bytes, code: str, offset: int) -> None:
    assert failure(text, "strict") == (code, offset)


@pytest.mark.parametrize(
    ("text", "code", "offset"),
    [
        (b'["\xff", x]', "json_syntax", 6),
        (b'["\xe2\x82", \xff]', "json_syntax", 7),
        (b'\xef\xbb\xbf["a" x]', "json_syntax", 8),
        ("['a']", "json_syntax", 1),
        ("[1] // c", "json_trailing", 4),
    ],
)
def test_the_offset_is_that_of_the_bytes_as_they_came_also_after_a_repair(
    text: str | bytes, code: str, offset: int
) -> None:
    assert failure(text) == (code, offset)


@pytest.mark.parametrize(
    ("text", "value", "repairs"),
    [
        ("{'a': 'it\\'s', \"b\": 'say \"x\"'}", {"a": "it's", "b": 'say "x"'}, ("single_quotes",)),
        (r"""["it\'s", 'a\"b\x']""", ["it\\'s", 'a"b\\x'], ("bad_escape", "single_quotes")),
        ("{a: 1, $b_2: [None,],}", {"a": 1, "$b_2": [None]}, ("unquoted_key", "python_literal", "trailing_comma")),
        ("/* a */ [1, // b\n 2] // c", [1, 2], ("comment",)),
        ("```json\n[1]\n```\n", [1], ("fence",)),
        ("```\r\n{'a': True}```", {"a": True}, ("fence", "single_quotes", "python_literal")),
        ('["// no", "/* comment */"]', ["// no", "/* comment */"], ()),
        ("```\n12\n```", 12, ("fence",)),
        ("False", False, ("python_literal",)),
        ("['a', true, null]", ["a", True, None], ("single_quotes",)),
    ],
)
def test_healing_names_each_repair_once_in_order_of_appearance(
    text: str, value: object, repairs: tuple[str, ...]
) -> None:
    assert read(text, "heal") == Reading(value, repairs)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("(1, 2)", "json_syntax"),
        ("{'a': (1,)}", "json_syntax"),
        ("dict(a=1)", "json_syntax"),
        ("['a' 'b']", "json_syntax"),
        ("[b'a']", "json_syntax"),
        ("[f'a']", "json_syntax"),
        ("['''a''']", "json_syntax"),
        ("{1: 2}", "json_syntax"),
        ("{'a', 'b'}", "json_syntax"),
        ("[nan]", "json_syntax"),
        ("[undefined]", "json_syntax"),
        ("[0x10, 1_000]", "json_syntax"),
        ("# c\n[1]", "json_syntax"),
        ("[1,,2]", "json_syntax"),
        ("/* c", "json_truncated"),
        ("[1 /* c", "json_truncated"),
        ("[1, // ]", "json_truncated"),
        ("```json\n[1]", "json_truncated"),
        ("```json\n12", "json_truncated"),
        ("```json\n[1]\n``` and so on", "json_trailing"),
        ("```json\n[1] 2\n```", "json_trailing"),
        ("Here you are: [1]", "json_syntax"),
        ("{'a': 'b", "json_truncated"),
        ("{'a': 'b'", "json_truncated"),
        ("{a", "json_truncated"),
        ("[Tru", "json_truncated"),
        ("[-", "json_truncated"),
    ],
)
def test_healing_guesses_nothing(text: str, code: str) -> None:
    assert failure(text, "heal")[0] == code


@given(VALUES.filter(lambda value: isinstance(value, list | dict)), st.sampled_from(MODES))
def test_no_prefix_of_a_container_is_read_in_any_mode(value: object, mode: Mode) -> None:
    text = json.dumps(value)
    for end in range(1, len(text)):
        assert failure(text[:end], mode) == ("json_truncated", end)


@pytest.mark.parametrize("tail", ["", " //", "\n"])
@pytest.mark.parametrize("limit", [1, 2, 128, 900])
def test_depth_is_read_up_to_its_limit(limit: int, tail: str) -> None:
    limits = Limits(max_depth=limit)
    for depth in (limit, max(limit - 1, 1)):
        value = read("[" * depth + "]" * depth + tail, "heal", limits).value
        for _ in range(depth - 1):
            (value,) = value
        assert value == []
    assert failure("[" * (limit + 1) + "]" * (limit + 1) + tail, "heal", limits) == ("json_depth", limit)
    assert failure('{"":' * (limit + 1), "heal", limits) == ("json_depth", 4 * limit)


def test_brackets_side_by_side_or_in_strings_are_not_depth() -> None:
    text = json.dumps([["["] * 200, [[]] * 200, "{[" * 200, '\\"['])
    assert read(text, "strict").value == json.loads(text)


def test_without_a_limit_of_depth_nothing_recurses() -> None:
    value = read("[" * 100_000 + "]" * 100_000, limits=Limits(max_depth=None)).value
    depth = 1
    while value:
        (value,) = value
        depth += 1
    assert depth == 100_000


@pytest.mark.parametrize("tail", ["", "//"])
@pytest.mark.parametrize("shape", ["{}", "-{}", "{}.0", "0.{}", "{}e-9"])
def test_a_number_is_read_up_to_its_limit(shape: str, tail: str) -> None:
    limits = Limits(max_number=50)
    around = len(shape) - 2
    for length in (49, 50):
        digits = shape.format("1" * (length - around))
        assert read(f"[{digits}]{tail}", "heal", limits).value == [json.loads(digits)]
    assert failure(f"[{shape.format('1' * (51 - around))}]{tail}", "heal", limits) == ("json_number_too_long", 51)


def test_a_number_of_1000_digits_is_exact_and_one_more_is_refused() -> None:
    assert read("9" * 999).value == 10**999 - 1
    assert read("9" * 1000).value == 10**1000 - 1
    assert failure("9" * 1001) == ("json_number_too_long", 1000)
    assert failure("[" + "9" * 1001) == ("json_number_too_long", 1001)


def test_an_integer_beyond_the_limit_of_the_interpreter_is_too_long_also_without_a_limit() -> None:
    assert failure("[" + "9" * 5000 + "]", limits=Limits(max_number=None)) == ("json_number_too_long", 1)
    assert read("0." + "1" * 5000, limits=Limits(max_number=None)).value == pytest.approx(1 / 9)


@pytest.mark.parametrize("tail", ["", "//"])
def test_a_key_is_read_up_to_its_limit_counted_in_characters(tail: str) -> None:
    limits = Limits(max_key=10)
    for written in ("k", "é", "\\n", "\\u0061"):
        for length in (9, 10):
            text = f'{{"{written * length}": 1}}{tail}'
            assert [len(key) for key in read(text, "heal", limits).value] == [length]
        assert failure(f'[{{"{written * 11}": 1}}]{tail}', "heal", limits) == ("json_key_too_long", 2)


def test_a_long_string_value_is_not_a_key() -> None:
    text = json.dumps({"a": "x" * 100_000})
    assert read(text).value == {"a": "x" * 100_000}


def test_without_limits_long_keys_are_read() -> None:
    limits = Limits(max_depth=None, max_number=None, max_key=None)
    assert read('{"' + "k" * 100_000 + '": 1}', limits=limits).value == {"k" * 100_000: 1}


def test_a_duplicate_key_is_named_in_the_message_and_shortened() -> None:
    with pytest.raises(JSONError, match="'city'"):
        read('{"city": 1, "city": 2}', "strict")
    with pytest.raises(JSONError) as caught:
        read(json.dumps({"k" * 5000: 1})[:-1] + ', "' + "k" * 5000 + '": 2}', "strict")
    assert len(caught.value.message) < 200


def test_a_surrogate_pair_is_whole_only_where_both_halves_are_escapes() -> None:
    assert read('["\\ud83d\\ude00"]', "strict").value == ["\U0001f600"]
    assert read('["\\\\ud83d"]', "strict").value == ["\\ud83d"]
    assert read('["\\\\ud83d\\ude00"]') == Reading(["\\ud83d\ufffd"], ("lone_surrogate",))
    assert read('["\\ud83d\\ud83d\\ude00"]') == Reading(["\ufffd\U0001f600"], ("lone_surrogate",))


def test_a_negative_zero_keeps_its_sign_as_a_float() -> None:
    value: Any = read("[-0.0, -0]").value
    assert math.copysign(1, value[0]) == -1
    assert type(value[1]) is int
