"""Remembered forms by arrays equal those of real messages, call after call (2026.9)."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from compaction_app.engine.policy_config import policy_from_config
from compaction_app.engine.pruning.cache_ttl_settings import CacheTtlSettings, HardClear
from compaction_app.engine.pruning.projecting import project_pruning
from compaction_app.engine.pruning.projection import ProjectionState
from compaction_app.engine.replay import replay
from compaction_app.engine.replay_prunable import prunable_rows
from compaction_app.engine.replay_remembered import RememberedForms
from compaction_app.engine.rule_sets import OPENCLAW_2026_9
from compaction_app.engine.session_policy import session_policy
from sessions_app.importers import read_transcript
from sessions_app.tokens.pruner_chars import pruner_message_chars
from sessions_app.transcripts.columns import columns_of_entries
from sessions_app.transcripts.measures import measure
from sessions_app.transcripts.timeline import timeline
from tests.engine.pruning.messages import IMAGE, answer, result, user
from tests.engine.timelines import columns
from tests.golden.runs import data, folder

CHARS = OPENCLAW_2026_9.pruning.cache_ttl.chars
Step = tuple[str, int, bool]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["user", "answer", "result", "image"]),
        st.integers(0, 30_000),
        st.booleans(),
    ),
    max_size=24,
)


def message(number: int, step: Step) -> Any:
    kind, chars, _ = step
    if kind == "user":
        return user("u" * (chars // 10))
    if kind == "answer":
        return answer({"type": "text", "text": "a" * (chars // 10)})
    made = result("r" * chars, f"call{number}", name="exec" if chars % 7 == 0 else "read")
    return {**made, "content": [*made["content"], IMAGE]} if kind == "image" else made


@given(
    STEPS,
    st.integers(1_000, 60_000),
    st.integers(0, 3),
    st.booleans(),
    st.sampled_from([0, 2_000, 50_000]),
)
@example(
    [("user", 1, False), ("result", 9_000, False)] + [("answer", 1, True)] * 4, 1_000, 3, True, 0
)
def test_every_call_sees_what_the_messages_show(
    steps: list[Step], window: int, keep: int, clears: bool, least: int
) -> None:
    settings = CacheTtlSettings(
        keep_last_assistants=keep,
        tools={"deny": ["exec"]},
        min_prunable_tool_chars=least,
        hard_clear=HardClear(enabled=clears),
    )
    messages = [message(n, step) for n, step in enumerate(steps)]
    rows = columns(messages)
    no_rows = np.zeros(len(rows), np.bool_)
    fixed = prunable_rows(rows, no_rows, settings, OPENCLAW_2026_9, window, lambda asked: asked)
    forms = RememberedForms(fixed, np.maximum(rows.pruner_chars, 0).astype(np.float64))
    state = ProjectionState()
    for place, (_, _, prunes) in enumerate(steps, 1):
        real = project_pruning(
            messages[:place], state, settings, OPENCLAW_2026_9,
            now_ms=10**9, touched_at_ms=1, window_tokens=window, new_rounds=prunes,
        )  # fmt: skip
        state = real.state
        done = forms.round(0, place, has_summary=False) if prunes else None
        assert real.decision is not None
        if done is not None:
            assert (done.reason, done.fired) == (real.decision.reason, real.pruned)
        lost = {
            made.position: pruner_message_chars(messages[made.position], CHARS)
            - pruner_message_chars(real.messages[made.position], CHARS)
            for made in real.changes
        }
        seen = forms.shown(0, place)
        assert forms.removed_by_row(seen) == lost
        assert sum(forms.removed_chars(seen)) == sum(lost.values())


def test_a_recorded_run_sends_what_it_was_billed() -> None:
    name = "2026.9.6/prune-64k"
    (file,) = (path for path in folder(name).glob("*.jsonl") if path.name != "gates.jsonl")
    entries = read_transcript([file.read_bytes()]).entries
    grown = timeline(columns_of_entries((entry, measure(entry)) for entry in entries))
    config, (index,) = data(name, "openclaw.json"), data(name, "sessions.json").values()
    known = session_policy(config, index, "mock", "filler-1", OPENCLAW_2026_9)
    assert policy_from_config(config, "mock", "filler-1").policy.pruning_ttl == "1s"
    done = replay(grown, known.policy, known.around)
    assert done.totals.pruned
    assert np.abs(done.prompt - grown.billed_prompt).max() <= 30
