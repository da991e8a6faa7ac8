"""Reading the text of a configuration."""

from __future__ import annotations

import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.config.syntax import ConfigSyntaxError, parse_config


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":1}', {"a": 1}),
        ("{a:'x', $b:+.5, _c:5., d:0x1F, e:-Infinity,}", {"a": "x", "$b": 0.5, "_c": 5, "d": 31, "e": -math.inf}),
        ("\ufeff// note\n/* more */ [1, 2,] // end", [1, 2]),
        ("{a:'li\\\nne \\x41 \\v'}", {"a": "line A \v"}),
        ("{a:1,a:2}", {"a": 2}),
        ("{__proto__:1,b:{__proto__:2}}", {"b": {}}),
        ('{"__proto__":1}', {}),
        ("{a:'\\ud83d'}", {"a": "\ud83d"}),
        ("{a:'\\ud83d\\ude00'}", {"a": "\U0001f600"}),
        ("{a:'\\\\ud83d'}", {"a": "\\ud83d"}),
        ("{a:1e400,b:-1e400}", {"a": math.inf, "b": -math.inf}),
        ("{a:'1_0', /* 1_0 */ b_1:2}", {"a": "1_0", "b_1": 2}),
        ("{a:1e+5}", {"a": 100000}),
        ("9" * 500, math.inf),
        ("null", None),
    ],
)  # fmt: skip
def test_accepted(text: str, value: Any) -> None:
    assert parse_config(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "// only a comment", "# note\n{}", "{a:`x`}", "{a:undefined}", "{a:01}", "{a:1 b:2}", "{a:1}x",
        "{a-b:1}", "{a:1_000}", "{a:'\\01'}", "{a:'x\ny'}", "{a:1,,}", "[1,,2]", "{a:NaN1}", "{a:}", "{a", "'x",
        "/* open", "{a:1}{b:2}", "{a:0x}", "{a:1e}", "{a:tru}", "{a:'\\u12'}", "nul",
    ],
)  # fmt: skip
def test_refused(text: str) -> None:
    with pytest.raises(ConfigSyntaxError):
        parse_config(text)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("{\n  a: 1\n  b: 2\n}", 3, 3),
        ("{a:1}\nx", 2, 1),
        ("{\r\n a: 1_0}", 2, 5),
        ("{\n a: `x`}", 2, 5),
    ],
)
def test_errors_say_where(text: str, line: int, column: int) -> None:
    with pytest.raises(ConfigSyntaxError) as caught:
        parse_config(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert f"line {line}, column {column}" in str(caught.value)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[" * 3000 + "]" * 3000, "{a:" * 3000 + "1" + "}" * 3000]
)
def test_nesting_without_end_is_an_error_of_its_own(text: str) -> None:
    with pytest.raises(ConfigSyntaxError):
        parse_config(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text().filter(lambda k: k != "__proto__"), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(JSON)
def test_all_json_is_read_as_it_is(value: Any) -> None:
    if "inf" not in repr(value):
        assert parse_config(json.dumps(value)) == value
        assert parse_config("// as JSON5\n" + json.dumps(value)) == value


@given(
    st.text()
    | st.lists(st.sampled_from([*"{}[],:'\"\\/*_0x1e+-.aNI \n\ud800", "__proto__", "\\u", "//"])).map("".join)
)  # fmt: skip
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ConfigSyntaxError):
        parse_config(text)
