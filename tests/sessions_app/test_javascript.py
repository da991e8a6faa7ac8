"""JavaScript's strings, numbers and JSON, checked against values that Node printed."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.tokens import javascript as js

any_text = st.text(st.characters(codec=None, categories=None), max_size=40)


@pytest.mark.parametrize(
    ("text", "length"),
    [("", 0), ("abc", 3), ("日本", 2), ("😀", 2), ("a😀b", 4), ("\ud83d", 1), ("\ufeff", 1)],
)
def test_length_counts_code_units(text: str, length: int) -> None:
    assert js.utf16_len(text) == length


def test_a_slice_may_split_a_pair() -> None:
    assert js.utf16_slice("a😀b", 0, 2) == "a\ud83d"
    assert js.utf16_slice("a😀b", 2) == "\ude00b"
    assert js.utf16_slice("a😀b", -2) == "\ude00b"


def test_halves_that_meet_become_one_character() -> None:
    assert js.concat(["a\ud83d", "\ude00b"]) == "a😀b"
    assert js.concat(["\ude00", "\ud83d"]) == "\ude00\ud83d"


@given(any_text, st.integers(-50, 50), st.integers(-50, 50))
def test_slices_agree_with_code_unit_lists(text: str, start: int, end: int) -> None:
    units = [
        text.encode("utf-16-le", "surrogatepass")[i : i + 2]
        for i in range(0, 2 * js.utf16_len(text), 2)
    ]
    expected = b"".join(units[start:end]).decode("utf-16-le", "surrogatepass")
    assert js.utf16_slice(js.concat([text]), start, end) == expected


@given(st.text("a\n😀日", max_size=30), st.integers(-3, 80))
def test_index_searches_agree_with_code_unit_lists(text: str, at: int) -> None:
    units = text.encode("utf-16-le")
    places = [i for i in range(len(units) // 2) if units[2 * i : 2 * i + 2] == b"\n\x00"]
    assert js.utf16_last_index(text, "\n", at) == max(
        (p for p in places if p <= max(at, 0)), default=-1
    )
    assert js.utf16_index(text, "\n", at) == min((p for p in places if p >= max(at, 0)), default=-1)


def test_trim_takes_the_byte_order_mark_but_not_the_separators() -> None:
    assert js.trim("\ufeff\u3000 x\u2028") == "x"
    assert js.trim("\x1c\x85\u200bx") == "\x1c\x85\u200bx"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-10, "1.5e-10"),
        (1.5e300, "1.5e+300"),
        (2**53, "9007199254740992"),
        (2**53 + 1, "9007199254740992"),
        (-12.5, "-12.5"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
    ],
)
def test_number_text(value: float, text: str) -> None:
    assert js.number_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_number_text_reads_back(value: float) -> None:
    assert float(js.number_text(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [1.0, None, True, "x"]}, '{"b":1,"a":[1,null,true,"x"]}'),
        ({"b": 1, "10": 2, "9": 3, "01": 4}, '{"9":3,"10":2,"b":1,"01":4}'),
        ({"x": math.nan}, '{"x":null}'),
        ('日\u2028\x7f\n"\\/', '"日\u2028\x7f\\n\\"\\\\/"'),
        ("\ud83d", '"\\ud83d"'),
        ("\x01", '"\\u0001"'),
        ({}, "{}"),
        ([], "[]"),
    ],
)
def test_json_text(value: object, text: str) -> None:
    assert js.json_text(value) == text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_json_text_reads_back_as_the_same_value(value: object) -> None:
    again = json.loads(js.json_text(value))
    assert js.json_text(again) == js.json_text(value)


mixed_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | any_text
    | st.from_regex(r"[0-9]{0,3}"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


@given(mixed_values)
def test_plain_values_are_written_as_all_others_are(value: object) -> None:
    parts: list[str] = []
    js._write(value, parts.append)
    assert js.json_text(value) == "".join(parts)


def test_json_text_refuses_what_json_cannot_hold() -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    for bad in (cycle, object(), {1, 2}):
        with pytest.raises(js.NoJson):
            js.json_text(bad)


@pytest.mark.parametrize(
    ("value", "expected"), [(2.5, 3), (-2.5, -2), (0.49999999999999994, 0), (-0.2, 0), (7, 7)]
)
def test_round_half_up(value: float, expected: int) -> None:
    assert js.round_half_up(value) == expected


def test_nan_wins_in_maximum_and_minimum() -> None:
    assert math.isnan(js.maximum(0, math.nan)) and math.isnan(js.minimum(math.nan, 1))


@pytest.mark.parametrize(
    ("value", "whole"),
    [(3.9, 3), (0.9, None), (True, None), (math.inf, None), ("5", None), (None, None), (-1, None)],
)
def test_pos_int(value: object, whole: int | None) -> None:
    assert js.pos_int(value) == whole


@pytest.mark.parametrize(
    ("value", "index"), [(2.9, 2), (-2.9, -2), (math.nan, 0), (math.inf, js.MAX_SAFE_INTEGER)]
)
def test_position_reads_a_number_as_slice_does(value: float, index: int) -> None:
    assert js.position(value) == index


@pytest.mark.parametrize(("dividend", "quotient"), [(6, 3), (0, 0), (-1, -0.5)])
def test_divide(dividend: float, quotient: float) -> None:
    assert js.divide(dividend, 2) == quotient


def test_dividing_by_zero_is_no_error() -> None:
    assert js.divide(1, 0) == math.inf and js.divide(-1, 0) == -math.inf
    assert math.isnan(js.divide(0, 0))


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (" 99 ", 99),
        ("", 0),
        ("1.5e3", 1500),
        (".5", 0.5),
        (None, 0),
        (True, 1),
        ("-Infinity", -math.inf),
    ],
)
def test_to_number_reads_texts(value: object, number: float) -> None:
    assert js.to_number(value) == number


@pytest.mark.parametrize("value", ["9a", "1_000", "inf", "nan", [], {}])
def test_to_number_of_anything_else_is_nan(value: object) -> None:
    assert math.isnan(js.to_number(value))


def test_truth_is_javascripts() -> None:
    assert all(map(js.is_truthy, [[], {}, "0", -1, True]))
    assert not any(map(js.is_truthy, ["", 0, math.nan, None, False]))


def test_code_unit_order_differs_from_code_point_order() -> None:
    assert sorted(["\uff5e", "😀"], key=js.utf16_sort_key) == ["😀", "\uff5e"]


def test_only_ascii_letters_lose_their_case() -> None:
    assert js.ascii_lower("ABC xyz 0-9_") == "abc xyz 0-9_"
    assert js.ascii_lower("HTTP \u212a \u0130 \u00c4") == "http \u212a \u0130 \u00c4"


def test_an_integer_beyond_a_double_is_not_finite() -> None:
    assert js.is_finite(10**308) and not js.is_finite(10**400)
