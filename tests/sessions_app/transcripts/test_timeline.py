"""Growth per model call, held against a slow and plain calculation of the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.importers import read_transcript
from sessions_app.transcripts.columns import UNKNOWN, Columns, columns_of_entries
from sessions_app.transcripts.measures import Measures, measure
from sessions_app.transcripts.timeline import PARTS, Timeline, timeline
from sessions_app.transcripts.transcript import Entry, Transcript
from tests.builders import Chain, short_session, usage
from tests.importers.reading import DATA, SAMPLES


def columns(data: bytes, encoding: str | None = None) -> Columns:
    entries = read_transcript([data]).entries
    return columns_of_entries((entry, measure(entry, encoding)) for entry in entries)


def grown(chain: Chain) -> Timeline:
    return timeline(columns(chain.data()))


# The plain calculation


@dataclass(frozen=True)
class Call:
    estimated: int
    billed_total: int | None
    shown: int


def plain(transcript: Transcript, leaf: int | None = None) -> list[Call]:
    """Each call by itself: build its context, add up, look back for the last billed call."""
    entries = transcript.entries
    path: list[Entry] = []
    at: int | None = leaf if leaf is not None else len(entries) - 1
    while at is not None and entries:
        path.insert(0, entries[at])
        at = entries[at].parent_seq
    calls: list[Call] = []
    billed_at: int | None = None  # place on the path of the last billed call of this cycle
    for place, entry in enumerate(path):
        if entry.type == "compaction":
            billed_at = None
        if entry.role != "assistant" or entry.mark == "injected":
            continue
        measures = measure(entry)
        estimated = sum(m.tokens for m in context(path, place))
        total = _total(measures)
        if total is not None:
            shown, billed_at = total, place
        elif billed_at is not None:
            before = _total(measure(path[billed_at]))
            assert before is not None
            since = [measure(e).tokens for e in path[billed_at + 1 : place + 1]]
            shown = before + sum(since)
        else:
            shown = estimated + measures.tokens
        calls.append(Call(estimated, total, shown))
    return calls


def context(path: list[Entry], end: int) -> list[Measures]:
    """What the runtime would send at a place: summary, kept entries, everything since."""
    compactions = [p for p in range(end) if path[p].type == "compaction"]
    if not compactions:
        return [measure(entry) for entry in path[:end]]
    last = compactions[-1]
    on_path = [p for p in range(last) if path[p].seq == path[last].kept_seq]
    start = on_path[0] if on_path else last
    kept = [measure(e) for e in path[start:end] if e.type != "compaction"]
    return [measure(path[last]), *kept]


def _total(measures: Measures) -> int | None:
    used = measures.usage
    if used is None:
        return None
    parts = (used.input, used.cache_read, used.cache_write, used.output)
    return sum(int(part or 0) for part in parts)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["user", "billed", "unbilled", "injected", "result", "compaction", "jump"]),
        st.integers(0, 60),
    ),
    max_size=25,
)


def transcript_of(steps: list[tuple[str, int]]) -> bytes:
    chain = Chain()
    ids: list[str] = []
    for kind, number in steps:
        text = "x" * (number * 3)
        if kind == "user":
            ids.append(chain.user(text))
        elif kind == "billed":
            ids.append(chain.assistant(text, usage(100 + number, number, cache_read=number)))
        elif kind == "unbilled":
            ids.append(chain.assistant(text, calls=("c",)))
        elif kind == "injected":
            ids.append(chain.assistant(text, provider="openclaw"))
        elif kind == "result":
            ids.append(chain.result("c", text))
        elif kind == "compaction":
            kept = ids[-1 - number % len(ids)] if ids and number % 4 else "nothing"
            ids.append(chain.compaction(kept, f"summary {number} {text}"))
        elif ids:
            chain.leaf = ids[number % len(ids)]
    return chain.data()


@given(STEPS)
def test_it_equals_the_plain_calculation(steps: list[tuple[str, int]]) -> None:
    data = transcript_of(steps)
    transcript = read_transcript([data])
    table = columns(data)
    for leaf in [None, *table.leaves()]:
        fast = timeline(table, leaf)
        calls = plain(transcript, leaf)
        assert fast.estimated.tolist() == [c.estimated for c in calls]
        assert fast.shown.tolist() == [c.shown for c in calls]
        billed = [UNKNOWN if c.billed_total is None else c.billed_total for c in calls]
        assert fast.billed_total.tolist() == billed
        assert fast.is_estimate.tolist() == [c.billed_total is None for c in calls]


@given(STEPS)
def test_the_parts_add_up_to_the_estimate(steps: list[tuple[str, int]]) -> None:
    fast = timeline(columns(transcript_of(steps)))
    assert fast.parts.shape == (len(PARTS), fast.calls)
    assert (fast.parts >= 0).all()
    assert fast.parts.sum(axis=0).tolist() == fast.estimated.tolist()


def test_missing_usage_goes_on_from_the_last_billed_call() -> None:
    chain = Chain()
    chain.user("x" * 40)
    chain.assistant("y" * 40, usage(5000, 100, cache_read=4000, cache_write=500))
    chain.user("z" * 40)
    chain.assistant("w" * 40)
    fast = grown(chain)
    assert fast.billed_prompt.tolist() == [5000, UNKNOWN]
    assert fast.billed_total.tolist() == [5100, UNKNOWN]
    assert fast.output.tolist() == [100, UNKNOWN]
    assert fast.shown.tolist() == [5100, 5120]
    assert fast.is_estimate.tolist() == [False, True]
    assert fast.peak == 5120


def test_a_compaction_begins_anew_from_its_summary_and_kept_tail() -> None:
    chain = Chain()
    chain.user("x" * 400)
    chain.assistant("y" * 400, usage(9000, 100))
    kept = chain.user("z" * 40)
    chain.assistant("w" * 40, usage(9200, 10))
    chain.compaction(kept, "s" * 80, before=9210)
    chain.user("next")
    chain.assistant("v" * 8)
    fast = grown(chain)
    assert fast.estimated.tolist() == [100, 210, 20 + 10 + 10 + 1]
    assert fast.shown.tolist() == [9100, 9210, 41 + 2]
    assert fast.compactions.before_call.tolist() == [2]
    assert fast.compactions.tokens_before.tolist() == [9210]
    assert fast.compactions.summary_tokens.tolist() == [20]
    assert dict(zip(PARTS, fast.parts[:, 2].tolist(), strict=True))["summary"] == 20


def test_a_compaction_that_kept_nothing_leaves_only_its_summary() -> None:
    chain = Chain()
    chain.user("x" * 400)
    chain.assistant()
    chain.compaction("nowhere", "s" * 80)
    chain.assistant()
    assert grown(chain).estimated.tolist() == [100, 20]


def test_turns_are_counted_by_users_and_not_by_flushes() -> None:
    chain = short_session(turns=2)
    chain.user("Continue the OpenClaw runtime event.")
    chain.assistant()
    chain.user("/compact")
    chain.assistant()
    assert grown(chain).turn.tolist() == [1, 1, 2, 2, 2, 3]


def test_the_exact_count_is_unknown_where_it_was_not_made() -> None:
    data = short_session().data()
    assert timeline(columns(data)).exact.tolist() == [UNKNOWN] * 4
    exact = timeline(columns(data, "o200k_base")).exact
    assert exact[0] == 3
    assert (np.diff(exact) > 0).all()


def test_nothing_at_all_has_no_calls() -> None:
    fast = timeline(columns_of_entries([]))
    assert (fast.calls, fast.peak) == (0, 0)
    chain = Chain()
    chain.user()
    chain.compaction("e1")
    assert grown(chain).calls == 0


# Real sessions


@pytest.mark.parametrize(
    "path",
    [
        SAMPLES / "pi-v3-1-two-compactions.jsonl",
        DATA / "transcripts" / "pi-v1-1-two-compactions.jsonl",
    ],
    ids=["v3", "v1"],
)
def test_the_curve_of_a_session_with_two_compactions(path: object) -> None:
    data = path.read_bytes()  # type: ignore[attr-defined]
    assert len(data.splitlines()) == 1003
    fast = timeline(columns(data))
    assert len(fast.compactions.place) == 2
    assert int(fast.billed_total.max()) == 185_014
    assert int(fast.billed_prompt.max()) == 184_915
    for compaction, after in zip(
        fast.compactions.before_call.tolist(), (26_171, 29_011), strict=True
    ):
        later = fast.billed_total[compaction:]
        assert int(later[later != UNKNOWN][0]) == after
    assert int(fast.shown.min()) > 0
    assert fast.peak == 185_014


def test_the_first_version_of_a_session_gives_the_same_curve() -> None:
    old = timeline(columns((DATA / "transcripts" / "pi-v1-1-two-compactions.jsonl").read_bytes()))
    new = timeline(columns((SAMPLES / "pi-v3-1-two-compactions.jsonl").read_bytes()))
    assert old.billed_total.tolist() == new.billed_total.tolist()
    assert old.shown.tolist() == new.shown.tolist()
    assert old.compactions.kept.tolist() == new.compactions.kept.tolist()


def test_without_any_usage_the_estimate_is_shown_and_marked() -> None:
    fast = timeline(columns((SAMPLES / "openclaw-1-large-tool-results.jsonl").read_bytes()))
    assert fast.calls == 7
    assert fast.is_estimate.all()
    assert (fast.billed_total == UNKNOWN).all()
    assert (np.diff(fast.shown) > 0).all()
    assert fast.shown[0] > 0


def test_a_joined_line_of_a_real_session_is_recovered_and_listed() -> None:
    path = DATA / "transcripts" / "pi-v1-2-compaction-and-joined-records.jsonl"
    data = path.read_bytes()
    transcript = read_transcript([data])
    joined = [p for p in transcript.problems if p.kind == "FILE_JOINED_RECORDS"]
    assert len(joined) == 1
    assert len([e for e in transcript.entries if e.line == joined[0].line]) == 2
    assert {p.kind for p in transcript.problems} == {"FILE_JOINED_RECORDS"}
    fast = timeline(columns(data))
    assert fast.compactions.place.tolist() == [668, 1012]  # the second stands on the joined line
    assert int(fast.billed_total.max()) == 184_525
