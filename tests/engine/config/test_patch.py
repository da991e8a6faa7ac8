"""Edits in the text of a configuration: exactly what was meant, and nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.config.edits import Edit, Put, Remove, Rename, applied
from compaction_app.engine.config.layout import NoLayout, layout
from compaction_app.engine.config.patch import CannotPatch, patched
from compaction_app.engine.config.syntax import parse_config

FILE = """// my file
{
  "models": { "providers": { "acme": { "models": [ { "id": "m" } ] } } },
  "agents": {
    "defaults": {
      "compaction": {
        "reserveTokens": 5, // because
        "keepRecentTokens": 20000 // keep
        // more
      }
    }
  }
}
"""
COMPACTION = ("agents", "defaults", "compaction")


def lines_changed(text: str, *edits: Edit) -> tuple[list[str], list[str]]:
    """The lines that went, and those that came."""
    old, new = text.splitlines(), patched(text, edits).splitlines()
    gone = [line.strip() for line in old if line not in new]
    return gone, [line.strip() for line in new if line not in old]


def test_a_value_is_replaced_where_it_stands() -> None:
    gone, came = lines_changed(FILE, Put((*COMPACTION, "reserveTokens"), 7))
    assert (gone, came) == (['"reserveTokens": 5, // because'], ['"reserveTokens": 7, // because'])


def test_a_new_key_comes_last_in_the_style_of_the_others() -> None:
    gone, came = lines_changed(FILE, Put((*COMPACTION, "mode"), "default"))
    assert gone == ['"keepRecentTokens": 20000 // keep']
    assert came == ['"keepRecentTokens": 20000, // keep', '"mode": "default"']


def test_objects_on_the_way_are_made() -> None:
    text = patched(FILE, [Put((*COMPACTION, "memoryFlush", "enabled"), True)])
    assert '        "memoryFlush": {\n          "enabled": true\n        }\n' in text


def test_a_key_that_goes_leaves_its_comment() -> None:
    gone, came = lines_changed(FILE, Remove((*COMPACTION, "keepRecentTokens")))
    assert len(gone) == 2
    assert came == ['"reserveTokens": 5 // because', "// keep"]


def test_a_line_with_nothing_left_goes_too() -> None:
    text = '{\n  "a": 1,\n  "b": 2\n}\n'
    assert patched(text, [Remove(("a",))]) == '{\n  "b": 2\n}\n'
    assert patched(text, [Remove(("b",))]) == '{\n  "a": 1\n}\n'


def test_a_key_gets_another_name_at_its_place() -> None:
    gone, came = lines_changed(FILE, Rename((*COMPACTION, "reserveTokens"), "reserveTokensFloor"))
    assert came == ['"reserveTokensFloor": 5, // because']
    assert len(gone) == 1


def test_a_place_in_a_list() -> None:
    place = ("models", "providers", "acme", "models")
    text = patched(FILE, [Put((*place, 0, "contextWindow"), 9), Put((*place, 1, "id"), "n")])
    assert '[ { "id": "m", "contextWindow": 9 }, {"id": "n"} ]' in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", '{"x": {"y": 1}}'),
        ("{a:1}", "{a:1, x: {y: 1}}"),
        ("{a:1,}", "{a:1, x: {y: 1},}"),
        ("{x: null}", "{x: {y: 1}}"),
        ("{x: 'text', }", "{x: {y: 1}, }"),
        ("{\n\ta: 1,\n}", "{\n\ta: 1,\n\tx: {\n\t\ty: 1\n\t},\n}"),
        ("{\r\n  a: 1\r\n}", "{\r\n  a: 1,\r\n  x: {\r\n    y: 1\r\n  }\r\n}"),
        ("{ // c\n}", '{ // c\n  "x": {\n    "y": 1\n  }\n}'),
    ],
)
def test_the_style_of_the_file_is_kept(text: str, expected: str) -> None:
    assert patched(text, [Put(("x", "y"), 1)]) == expected


def test_of_a_repeated_key_the_last_one_counts_and_all_of_them_go() -> None:
    assert patched("{a: 1, a: 2}", [Put(("a",), 3)]) == "{a: 1, a: 3}"
    assert parse_config(patched("{a: 1, b: 0, a: 2}", [Remove(("a",))])) == {"b": 0}


def test_a_patch_that_would_say_something_else_is_not_given_out() -> None:
    with pytest.raises(CannotPatch):
        patched("{ ", [Put(("a",), 1)])
    with pytest.raises(CannotPatch):
        patched("{__proto__: {}}", [Put(("__proto__", "a"), 1)])


@pytest.mark.parametrize("text", ["", "{", "[1", "{a}", "{a:1 b:2}", "{/* never closed", "{a: }}"])
def test_a_text_that_is_no_configuration_has_no_layout(text: str) -> None:
    with pytest.raises(NoLayout):
        layout(text)


def test_half_a_surrogate_pair_is_written_as_an_escape() -> None:
    assert patched("{}", [Put(("a",), "\ud83d ü")]) == '{"a": "\\ud83d \\u00fc"}'


# Any file, any edit

KEYS = st.sampled_from(["a", "b", "c-d", "agents", "x y"])
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.sampled_from(["", "'\"", "//x"])
)
objects = st.recursive(
    st.dictionaries(KEYS, scalars, max_size=3),
    lambda inner: st.dictionaries(
        KEYS, st.one_of(scalars, inner, st.lists(st.one_of(scalars, inner), max_size=3)), max_size=3
    ),
    max_leaves=8,
)
places = st.lists(st.one_of(KEYS, st.integers(0, 2)), min_size=1, max_size=4).map(tuple)
edits = st.one_of(
    st.builds(Put, places, st.one_of(scalars, objects)),
    st.builds(Remove, places),
    st.builds(Rename, places, KEYS),
)


@st.composite
def files(draw: st.DrawFn) -> str:
    """A file in any style, with comments anywhere between its tokens."""
    number = iter(range(1000))

    def gap() -> str:
        kinds = ["", "", "", " ", "\n", "\n  ", f" /* {next(number)} */ ", f" // {next(number)}\n"]
        return draw(st.sampled_from(kinds))

    def written(value: Any) -> str:
        if not isinstance(value, dict | list):
            return json.dumps(value)
        parts = [
            f"{gap()}{key_of(item)}{gap()}:{gap()}{written(value[item])}{gap()}"
            if isinstance(value, dict)
            else f"{gap()}{written(item)}{gap()}"
            for item in value
        ]
        more = "," + gap() if parts and draw(st.booleans()) else gap()
        opens, closes = "{}" if isinstance(value, dict) else "[]"
        return opens + ",".join(parts) + more + closes

    def key_of(key: str) -> str:
        bare = re.fullmatch(r"\w+", key) and draw(st.booleans())
        return key if bare else draw(st.sampled_from([json.dumps(key), f"'{key}'"]))

    return gap() + written(draw(objects)) + gap()


def comments(text: str) -> list[str]:
    return re.findall(r"(?:/\*|//) (\d+)", text)


@given(files(), st.lists(edits, max_size=3))
def test_the_patched_text_says_what_was_meant_and_keeps_its_comments(
    text: str, changes: list[Edit]
) -> None:
    new = patched(text, changes)
    assert parse_config(new) == applied(parse_config(text), changes)
    kept = [number for number in comments(text) if number in comments(new)]
    if not any(isinstance(change, Put) for change in changes):
        gone = [change for change in changes if isinstance(change, Remove)]
        assert kept == comments(new)
        assert gone or kept == comments(text)


@given(files())
def test_no_edit_changes_nothing(text: str) -> None:
    assert patched(text, []) == text
