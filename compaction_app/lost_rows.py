"""The rows of the difference table that say what compactions lose."""

from __future__ import annotations

from compaction_app.differences import Difference, retention_differences
from compaction_app.engine.replay import Replay
from compaction_app.forms import Query
from compaction_app.lost import EXTRACTIVE, known_ledger, ledger_of, recorded_tally
from compaction_app.runs import Situation, replay_for
from sessions_app.transcripts.timeline import Timeline


def compacts(grown: Timeline, now: Replay, done: Replay) -> bool:
    """Whether anything is compacted, in the recording or in a what-if."""
    return bool(len(grown.compactions.place) or now.cuts or done.cuts)


def lost_rows(
    situation: Situation, query: Query, now: Replay, done: Replay
) -> list[Difference] | None:
    """The rows, none while the texts of this branch have not been read: then they are asked for later."""
    ledger = known_ledger(situation.window, query.leaf)
    if ledger is None:
        return None
    return retention_differences(
        recorded_tally(situation.window, query.leaf),
        ledger.tally(now.cuts, EXTRACTIVE),
        ledger.tally(done.cuts, EXTRACTIVE),
    )


def counted_rows(situation: Situation, query: Query) -> list[Difference]:
    """The rows, after reading what was not read before."""
    ledger_of(situation.window, query.leaf)
    now = replay_for(situation, situation.policy, situation.around, query.leaf, query.summary)
    done = replay_for(situation, query.policy, query.around, query.leaf, query.summary)
    return lost_rows(situation, query, now, done) or []
