"""Which calls break the provider's prompt cache, recorded and in a what-if."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compaction_app.engine.cache_breaks import CAUSES, CacheBreaks, recorded_breaks
from compaction_app.engine.calibration import weigh
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.policy import Policy, with_changes
from compaction_app.engine.replay import Replay, replay
from sessions_app.transcripts.columns import TOOL_RESULT, UNKNOWN
from sessions_app.transcripts.timeline import Timeline
from tests.engine.builders import Script, chat, grown_from
from tests.engine.pruning.messages import answer, calls, result, user
from tests.engine.timelines import timed

REAL = Path(__file__).parents[1] / "data/transcripts/pi-v1-2-compaction-and-joined-records.jsonl"
LONG = "t" * 9_000


def billed(*figures: tuple[int, int, int], chars: int = 400) -> Script:
    """A turn for each call's input, cacheRead and cacheWrite."""
    script = Script()
    for new, read, written in figures:
        usage = {"input": new, "cacheRead": read, "cacheWrite": written, "output": 100}
        content = [{"type": "text", "text": "a" * chars}]
        script.user(chars).message("assistant", content, provider="mock", model="m", usage=usage)
    return script


def recorded(grown: Timeline) -> CacheBreaks | None:
    return recorded_breaks(grown, weigh(grown))


def told(breaks: CacheBreaks | None) -> list[tuple[int, int, str]]:
    assert breaks is not None
    rows = zip(breaks.call.tolist(), breaks.tokens.tolist(), breaks.cause.tolist(), strict=True)
    return [(call, tokens, CAUSES[cause]) for call, tokens, cause in rows]


def what_if(grown: Timeline, **changes: Any) -> Replay:
    policy = with_changes(replace(Policy(), context_window=64_000), changes)
    return replay(grown, policy, Circumstances(provider="anthropic", model="claude"))


def test_bills_without_a_cache_tell_of_no_break() -> None:
    assert recorded(billed((1000, 0, 0), (1200, 0, 0)).grown()) is None
    assert recorded(Script().user().answer().grown()) is None


def test_a_cache_that_only_grows_is_never_broken() -> None:
    grown = billed((10, 0, 5_000), (12, 5_000, 300), (9, 5_300, 200), (9, 5_500, 0)).grown()
    assert told(recorded(grown)) == []


def test_what_the_cache_held_and_did_not_serve_was_sent_again() -> None:
    # 5,310 were sent before the third call, which reads 1,000 of them.
    grown = billed((10, 0, 5_000), (10, 5_000, 300), (10, 1_000, 4_600)).grown()
    assert told(recorded(grown)) == [(2, 4_310, "unknown")]


def test_where_writes_are_not_reported_reading_less_than_before_is_a_break() -> None:
    grown = billed((900, 0, 0), (300, 896, 0), (300, 1_152, 0), (1_500, 0, 0)).grown()
    assert told(recorded(grown)) == [(3, 1_452, "unknown")]


def test_a_recorded_compaction_sends_its_summary_and_the_kept_tail_again() -> None:
    grown = (
        billed((0, 0, 20_000), (0, 20_000, 200), (0, 20_200, 200))
        .compaction("e4")
        .user(400)
        .message("assistant", "a" * 400, usage={"input": 600, "cacheRead": 19_900, "cacheWrite": 0})
        .grown()
    )
    ((call, tokens, cause),) = told(recorded(grown))
    assert (call, cause) == (3, "compaction")
    assert tokens == 600 - 200, "an answer and a question are new"


def test_a_what_if_in_which_nothing_fires_sends_nothing_again() -> None:
    done = replay(chat(20).grown(), replace(Policy(), context_window=1_000_000), Circumstances())
    assert done.breaks.resent == done.totals.tokens_resent == 0


def test_a_simulated_compaction_sends_all_but_the_system_prompt_and_the_news_again() -> None:
    done = what_if(chat(90, overhead=3_000).grown(), **{"compaction.keepRecentTokens": 2_000})
    assert done.totals.compactions == len(done.breaks.call) > 0
    assert set(done.breaks.by_cause()) == {"compaction"}
    # The news are an answer of 500 tokens and a question of 100.
    again = done.prompt[done.breaks.call] - 3_000 - 600
    assert np.abs(done.breaks.tokens - again).max() <= 1


def test_cut_results_send_again_what_stands_from_the_first_one_on() -> None:
    script = chat(2, overhead=1_000)
    prompt = 1_000 + 2 * 600
    for _ in range(5):
        script.user(400).answer(40, prompt + 100).result(60_000)
        prompt += 110 + 15_000
        script.answer(40, prompt)
        prompt += 10
    script.user(400).answer(40, prompt + 100)
    done = what_if(script.grown())
    truncated = [event.call - 1 for event in done.events if event.kind == "truncate"]
    ((compacted, _, cause), *cut) = told(done.breaks)
    assert (compacted, cause) == (truncated[0], "compaction"), (
        "the earlier break is the one that counts"
    )
    assert [(call, cause) for call, _, cause in cut] == [(n, "cut_result") for n in truncated[1:]]
    grown, kept = script.grown(), done.cuts[0].kept
    first = kept + int(np.argmax(grown.columns.kind[kept:] == TOOL_RESULT))
    stable = 1_000 + done.summaries.size(0) + weigh(grown).rows[kept:first].sum()
    news = 10 + 100
    assert cut[0][1] == pytest.approx(done.prompt[cut[0][0]] - stable - news, abs=2)


def two_turns(gap: int) -> Timeline:
    """A long result in the first turn; the second begins ``gap`` seconds after the first ends."""
    return timed(
        (1, user()), (2, calls("c1")), (3, result(LONG)), (100, answer()),
        (100 + gap, user()), (101 + gap, calls("c2")), (102 + gap, result("short", "c2")),
        (103 + gap, answer()),
    )  # fmt: skip


@pytest.mark.parametrize(("gap", "causes"), [(299, []), (300, ["expiry"])])
def test_a_pause_as_long_as_the_cache_lives_sends_the_whole_prompt_again(
    gap: int, causes: list[str]
) -> None:
    done = what_if(two_turns(gap))
    assert [cause for _, _, cause in told(done.breaks)] == causes
    if causes:
        ((call, tokens, _),) = told(done.breaks)
        assert call == 2
        assert tokens == int(done.prompt[1])


def test_the_life_of_the_cache_is_the_ttl_of_the_settings() -> None:
    pruning = {"contextPruning.mode": "cache-ttl", "contextPruning.softTrimRatio": 1}
    done = what_if(two_turns(400), **pruning, **{"contextPruning.ttl": "10m"})
    assert told(done.breaks) == []


def test_a_cache_that_a_recorded_call_still_found_has_not_expired() -> None:
    entries = billed((10, 0, 5_000), (12, 5_000, 300)).entries
    entries[2]["timestamp"] = "2026-01-01T01:00:00Z"
    entries[3]["timestamp"] = "2026-01-01T01:00:09Z"
    found = Script(entries).grown()
    assert told(what_if(found).breaks) == []
    entries[3]["message"]["usage"] |= {"cacheRead": 0, "cacheWrite": 5_300}
    assert told(what_if(Script(entries).grown()).breaks) == [(1, 5_010, "expiry")]


def test_a_call_that_is_pruned_and_the_one_that_goes_out_whole_again_both_break() -> None:
    pruning = {
        "contextPruning.mode": "cache-ttl",
        "contextPruning.ttl": "60s",
        "contextPruning.keepLastAssistants": 0,
        "contextPruning.softTrimRatio": 0,
        "contextPruning.hardClearRatio": 1,
    }
    grown = two_turns(61)
    done = what_if(grown, **pruning)
    assert done.pruning.fired.tolist() == [False, False, True, False]
    expired, whole = told(done.breaks)
    assert (expired[0], expired[2]) == (2, "expiry")
    assert (whole[0], whole[2]) == (3, "pruning")
    # Behind what stands before the long result: it, the first answer, and the second question.
    columns = grown.columns
    assert whole[1] == int(columns.tokens[2:5].sum())


def test_two_calls_that_are_pruned_alike_share_their_prefix() -> None:
    grown = timed(
        (1, user()), (2, calls("c1")), (3, result(LONG)), (100, answer()),
        (200, user()), (201, answer()), (300, user()), (301, answer()),
    )  # fmt: skip
    pruning = {
        "contextPruning.mode": "cache-ttl",
        "contextPruning.ttl": "60s",
        "contextPruning.keepLastAssistants": 0,
        "contextPruning.softTrimRatio": 0,
        "contextPruning.hardClearRatio": 1,
    }
    done = what_if(grown, **pruning)
    assert done.pruning.fired.tolist() == [False, False, True, True]
    assert done.pruning.parting_rows(np.arange(4)) == {2: 2}


def test_the_cache_of_a_real_session_expired_where_the_what_if_says() -> None:
    grown = grown_from(REAL.read_bytes())
    real = {call: tokens for call, tokens, _ in told(recorded(grown))}
    done = replay(grown, replace(Policy(), context_window=1_000_000), Circumstances())
    expired = [row for row in told(done.breaks) if row[2] == "expiry"]
    assert [(call, real.get(call)) for call, _, _ in expired] == [
        (call, pytest.approx(tokens, rel=0.01)) for call, tokens, _ in expired
    ]
    assert len(expired) == 4


def test_a_call_that_was_stripped_breaks_nothing() -> None:
    done = what_if(chat(90).grown(), **{"compaction.keepRecentTokens": 2_000})
    assert (done.prompt[done.breaks.call] != UNKNOWN).all()
