"""The address of a what-if reads as what it was written from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from hypothesis import given, settings
from hypothesis import strategies as st

from compaction_app.engine.circumstances import PATHS, Circumstances
from compaction_app.engine.policy import BY_KEY, Policy
from compaction_app.engine.presets import PRESETS
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.forms import Query, query_of, read_query
from compaction_app.runs import Situation
from sessions_app.models import Session, Window
from tests.engine.policies import policies


def situation(policy: Policy, around: Circumstances | None = None) -> Situation:
    session = Session(title="t")
    window = Window(session=session, entry_count=1_000)
    return Situation(session, window, policy, around or Circumstances(provider="mock"), None, ())


def read(address: str, own: Situation) -> Query:
    return read_query(dict(parse_qsl(address, keep_blank_values=True)), own)


AROUND = st.builds(
    Circumstances,
    path=st.sampled_from(PATHS),
    provider=st.sampled_from(["mock", "", "zai", "a&b=c"]),
    rules=st.sampled_from(list(RULE_SETS.values())),
)


@settings(max_examples=200)
@given(
    policies(),
    policies(),
    AROUND,
    AROUND,
    st.none() | st.tuples(st.integers(1, 500), st.integers(1, 500)),
    st.none() | st.integers(0, 999),
)
def test_an_address_reads_as_the_query_it_was_written_from(
    own: Policy,
    other: Policy,
    around: Circumstances,
    else_where: Circumstances,
    span: tuple[int, int] | None,
    leaf: int | None,
) -> None:
    base = situation(own, around)
    query = Query(other, else_where, span, leaf, all_events=False, problems={})
    address = query_of(query, base)
    assert read(address, base) == query
    assert query_of(read(address, base), base) == address


@given(policies())
def test_the_sessions_own_query_is_empty(own: Policy) -> None:
    base = situation(own)
    assert query_of(read("", base), base) == ""


@given(policies(), st.sampled_from(PRESETS))
def test_a_preset_starts_from_the_defaults_and_the_sessions_window(
    own: Policy, preset: Any
) -> None:
    found = read(f"preset={preset.name}", situation(own)).policy
    window = preset.changes.get("contextWindow", own.context_window)
    assert found.context_window == window
    for key, value in preset.changes.items():
        assert getattr(found, BY_KEY[key].name) == value
    untouched = set(found.changes(Policy())) - {"contextWindow"}
    assert untouched <= set(preset.changes)


def test_settings_beside_a_preset_win_over_it() -> None:
    base = situation(Policy())
    found = read("preset=small-window&contextWindow=64000", base).policy
    assert found.context_window == 64_000
    assert found.keep_recent_tokens == 6_000


def test_one_bad_value_leaves_the_others() -> None:
    base = situation(replace(Policy(), keep_recent_tokens=700))
    found = read("compaction.keepRecentTokens=x&compaction.reserveTokens=9000", base)
    assert found.policy.keep_recent_tokens == 700
    assert found.policy.reserve_tokens == 9_000
    assert set(found.problems) == {"compaction.keepRecentTokens"}


def test_changes_can_be_put_into_an_address_and_taken_out() -> None:
    base = situation(Policy())
    query = replace(read("", base), span=(2, 9))
    assert query_of(query, base, from_=None, to=None) == ""
    assert query_of(query, base, leaf=4) == "from=2&to=9&leaf=4"


@given(st.dictionaries(st.text(max_size=12), st.text(max_size=30), max_size=5))
def test_no_query_at_all_fails(values: dict[str, str]) -> None:
    read_query(values, situation(Policy()))


@given(st.sampled_from(sorted(BY_KEY)), st.text())
def test_no_text_for_a_setting_fails(key: str, text: str) -> None:
    read_query({key: text}, situation(Policy()))
