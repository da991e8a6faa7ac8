"""The recorded compactions of a session, one after the other."""

from __future__ import annotations

import json

from compaction_app.engine.retention.cycles import Cycle, cycles_of
from compaction_app.engine.retention.losses import (
    Loss,
    losses_from_json,
    losses_of,
    losses_to_json,
)
from compaction_app.engine.retention.session_index import SessionIndex
from sessions_app.importers import read_transcript
from sessions_app.transcripts.columns import columns_of_entries
from sessions_app.transcripts.measures import context_message, measure
from sessions_app.transcripts.timeline import timeline
from tests.compaction_app.forgetful import RULES, forgetful, mindful
from tests.engine.builders import FLUSH_TEXT, Script, chat, text_of


def cycles(script: Script, step: int | None = None) -> list[Cycle]:
    entries = read_transcript([text_of(script.entries).encode()]).entries
    index = SessionIndex()
    for start in range(0, len(entries), step or len(entries)):
        index.add(entries[start : start + (step or len(entries))])
    assert index.seen == len(entries)
    grown = timeline(columns_of_entries((entry, measure(entry)) for entry in entries))
    by_seq = {entry.seq: context_message(entry.type, entry.record) for entry in entries}
    return cycles_of(index, grown, lambda seqs: [by_seq[seq] for seq in seqs])


def test_each_compaction_is_judged_on_what_it_removed() -> None:
    first, second = cycles(forgetful())
    assert (first.number, second.number) == (1, 2)
    assert first.removed == (0, 15) and second.removed == (16, 22)
    kinds = first.retention.by_kind
    assert kinds["constraint"].lost == 3 and kinds["ticket"].summary == 1


def test_what_only_a_summary_held_is_lost_with_it() -> None:
    _, second = cycles(forgetful())
    lost = {f.anchor.text: f for f in second.retention.lost}
    assert lost["OPS-4412"].position is None and lost["OPS-4412"].anchor.entry == 10


def test_what_was_lost_before_is_not_lost_again() -> None:
    _, second = cycles(forgetful())
    assert "constraint" not in second.retention.by_kind


def test_what_is_left_of_the_first_cycle() -> None:
    first, second = cycles(forgetful())
    assert first.first_left is not None and second.first_left is not None
    assert 0 < first.first_left < 1 and second.first_left == 0
    assert [c.first_left for c in cycles(mindful())][-1] > 0.75  # type: ignore[operator]


def test_a_memory_file_counts_when_its_write_worked() -> None:
    first, _ = cycles(forgetful(f"- {RULES[0]}"))
    saved = [f.anchor.text for f in first.retention.lost if f.saved]
    assert saved == [RULES[0]]
    assert first.memory_files == ("memory/2026-12-01.md",)
    broken = forgetful(f"- {RULES[0]}")
    for entry in broken.entries:
        if entry.get("message", {}).get("toolCallId") == "c5":
            entry["message"]["isError"] = True
    assert cycles(broken)[0].memory_files == () and not cycles(broken)[0].retention.has_memory


def test_a_memory_file_that_is_read_again() -> None:
    first, second = cycles(forgetful())
    assert first.read_back == 20 and second.read_back is None


def test_an_identifier_that_the_user_names_again() -> None:
    first, _ = cycles(forgetful())
    assert first.used_again == {("hash", "9fceb02ab1c2"): 19}


def test_what_a_flush_says_is_no_conversation() -> None:
    script = forgetful()
    for entry in script.entries:
        if entry.get("message", {}).get("content") == FLUSH_TEXT:
            entry["message"]["content"] = f"Pre-compaction memory flush. {FLUSH_TEXT} Never stop."
    assert all("Never stop." not in f.anchor.text for f in cycles(script)[0].retention.fates)


def test_it_does_not_matter_in_how_many_steps_the_entries_were_read() -> None:
    whole, stepwise = (cycles(forgetful(), step) for step in (None, 3))
    assert [c.to_json() for c in whole] == [c.to_json() for c in stepwise]
    json.dumps([c.to_json() for c in whole])


def test_a_session_without_compactions_has_none() -> None:
    assert cycles(chat(4)) == []


def test_a_compaction_that_removed_nothing() -> None:
    script = Script().user(RULES[0]).answer()
    script.compaction("e0", "None.")
    (cycle,) = cycles(script)
    assert cycle.removed is None and cycle.retention.fates == () and losses_of([cycle]) == ()


def test_a_verdict_is_told_the_gravest() -> None:
    loss, _ = losses_of(cycles(forgetful()))
    assert loss.constraint_count == 3 and loss.constraints[0] in RULES
    assert loss.used_again == (("9fceb02ab1c2", 19),)
    assert loss.flushed and loss.weighty >= 3 and loss.saved == 0
    assert losses_from_json(json.loads(json.dumps(losses_to_json([loss])))) == (loss,)


def test_a_constraint_said_in_other_words_is_no_alarm() -> None:
    script = forgetful()
    for entry in script.entries:
        if entry["type"] == "compaction":
            entry["summary"] = (
                "legacy_invoices is off limits and must not be modified. harbor-api 不部署。 db-2.example.com:5432 is the replica to read from."
            )
    loss: Loss = losses_of(cycles(script))[0]
    assert loss.constraint_count == 0


def test_what_is_no_loss_is_not_read_as_one() -> None:
    assert losses_from_json(None) is None
    assert losses_from_json([{"entry": 1}]) is None
    assert losses_from_json(["x"]) is None
