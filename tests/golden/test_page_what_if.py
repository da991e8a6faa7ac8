"""The page's what-if of runs of 2026.9.6 under their own settings: the gates fire where the runtime's did.

It knows sizes alone, so its numbers are a little off: a summary's weight is its estimate times the run's
density, and the frame around it counts nothing. A gate that lies within so little of its line may part.
"""

from __future__ import annotations

import numpy as np

from compaction_app.engine.replay import Replay, replay
from compaction_app.engine.rule_sets import OPENCLAW_2026_9
from compaction_app.engine.session_policy import session_policy, system_tokens
from sessions_app.importers import read_transcript
from sessions_app.transcripts.columns import columns_of_entries
from sessions_app.transcripts.measures import measure
from sessions_app.transcripts.timeline import Timeline, timeline
from tests.golden.runs import data, folder

OFF = 20
"""Tokens by which a what-if of such a run is off after a compaction."""


def what_if(name: str) -> tuple[Timeline, Replay]:
    (file,) = (path for path in folder(name).glob("*.jsonl") if path.name != "gates.jsonl")
    entries = read_transcript([file.read_bytes()]).entries
    grown = timeline(columns_of_entries((entry, measure(entry)) for entry in entries))
    config, (index,) = data(name, "openclaw.json"), data(name, "sessions.json").values()
    known = session_policy(config, index, "mock", "filler-1", OPENCLAW_2026_9)
    return grown, replay(grown, known.policy, known.around, system_tokens(index))


def test_a_flush_follows_the_reply_and_preflight_comes_two_turns_later() -> None:
    grown, done = what_if("2026.9.6/growth-96k")
    assert [(e.turn, e.kind, e.tokens_before) for e in done.events] == [
        (28, "flush", 72_277),
        (30, "preflight_compaction", 77_296),
    ]
    assert np.abs(done.prompt - grown.billed_prompt).max() <= OFF


def test_every_cycle_of_a_small_window_is_flushed_after_its_first_reply() -> None:
    _, done = what_if("2026.9.6/growth-32k")
    early = [event for event in done.events if event.turn < 29]
    assert [(event.turn, event.kind) for event in early] == [
        (20, "flush"),
        (25, "preflight_compaction"),
        (25, "flush"),
        (27, "preflight_compaction"),
        (27, "flush"),
    ]
    judged = [20_254, 24_453, 22_621, 24_297, 22_319]
    assert np.abs(np.array([event.tokens_before for event in early]) - judged).max() <= OFF
    assert done.totals.blocked == 0
