"""What a what-if's compactions would lose, without reading a text again."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.compaction.requests import ModelCall
from compaction_app.engine.replay_context import Cut
from compaction_app.engine.retention.anchors import Anchor
from compaction_app.engine.retention.ledger import Ledger, Room, Tally
from compaction_app.engine.retention.retention import retention
from compaction_app.engine.retention.session_index import SessionIndex
from compaction_app.lost import EXTRACTIVE
from compaction_app.summarisers.extractive import extractive_summary
from sessions_app.importers import read_transcript
from sessions_app.transcripts.measures import context_message
from tests.compaction_app.forgetful import forgetful
from tests.engine.builders import text_of

NO_ROOM = Room(0, EXTRACTIVE.shares)
ALL_ROOM = Room(10**9, EXTRACTIVE.shares)
SAMPLE = Path(settings.BASE_DIR) / "sessions_app/samples/pi-v3-1-two-compactions.jsonl"


def anchor(key: str, entry: int, kind: str = "hash", start: int = 0) -> Anchor:
    return Anchor(kind, key, key, entry, 0, start, start + len(key), "user")  # type: ignore[arg-type]


def ledger(*rows: str, kind: str = "hash") -> Ledger:
    """One row for each text; every letter of it is an anchor."""
    found = {n: [anchor(letter, n, kind) for letter in row] for n, row in enumerate(rows)}
    return Ledger(range(len(rows)), found)


def lost(book: Ledger, *cuts: tuple[int, int, int], room: Room = NO_ROOM) -> tuple[int, int]:
    tally = book.tally([Cut(*cut) for cut in cuts], room)
    return tally.removed, tally.lost


def test_what_is_removed_is_lost_without_a_summary() -> None:
    assert lost(ledger("ab", "c", "d"), (0, 2, 3)) == (3, 3)


def test_what_the_tail_says_again_is_kept() -> None:
    assert lost(ledger("ab", "c", "a"), (0, 2, 3)) == (3, 2)


def test_what_comes_behind_the_compaction_saves_nothing() -> None:
    assert lost(ledger("ab", "c", "x", "a"), (0, 2, 3)) == (3, 3)


def test_a_summary_takes_the_newest_first() -> None:
    chars = len("a") + 3
    room = Room(2 * chars, ((("hash",), 1.0),))
    book = ledger("ab", "cd", "x")
    assert lost(book, (0, 2, 3), room=room) == (4, 2)
    # Of the next compaction's two, one is older than what was removed since.
    assert book.tally([Cut(0, 1, 2), Cut(1, 2, 3)], room).lost == 2


def test_room_for_all_loses_nothing() -> None:
    assert lost(ledger("abc", "def", "x"), (0, 2, 3), room=ALL_ROOM) == (6, 0)


def test_what_a_kept_sentence_names_is_kept_with_it() -> None:
    rule = anchor("never touch a", 0, "constraint")
    name = anchor("a", 0, "path", start=12)
    room = Room(len(rule.text) + 3, ((("constraint",), 1.0), (("path",), 0.0)))
    assert Ledger([0, 1], {0: [rule, name]}).tally([Cut(0, 1, 2)], room) == Tally(2, 0, 1, 0)


def test_constraints_are_counted_apart() -> None:
    assert ledger("ab", "x", kind="constraint").tally([Cut(0, 1, 2)], NO_ROOM) == Tally(2, 2, 2, 2)


def test_of_the_asks_the_last_three_of_each_compaction_count() -> None:
    asks = ledger("a", "b", "c", "d", "e", kind="ask")
    assert lost(asks, (0, 4, 5)) == (3, 3)
    assert lost(asks, (0, 2, 5), (2, 4, 5)) == (4, 4)
    assert lost(asks, (0, 4, 5), room=ALL_ROOM) == (3, 0)
    assert lost(ledger("a", "b", "a", kind="ask"), (0, 2, 3)) == (2, 1)


def test_without_a_compaction_nothing_is_lost() -> None:
    assert ledger("ab").tally([], NO_ROOM) == Tally()
    assert Ledger([], {}).tally([Cut(0, 0, 0)], ALL_ROOM) == Tally()


_ROWS = st.lists(st.text(alphabet="abcde", max_size=3), min_size=1, max_size=8)


@given(_ROWS, st.data())
def test_more_room_never_loses_more(rows: list[str], data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(rows)))
    kept = data.draw(st.integers(0, end))
    book = ledger(*rows)
    losses = [
        lost(book, (0, kept, end), room=Room(n, EXTRACTIVE.shares))[1] for n in (0, 8, 20, 400)
    ]
    assert losses == sorted(losses, reverse=True)
    removed = set("".join(rows[:kept]))
    assert losses[0] == len(removed - set("".join(rows[kept:end])))


def book_and_messages(data: bytes) -> tuple[Ledger, list[tuple[int, dict[str, object]]]]:
    entries = read_transcript([data]).entries
    index = SessionIndex().add(entries)
    rows = [
        (e.seq, dict(context_message(e.type, e.record)))
        for e in entries
        if e.type != "compaction" and not e.mark
    ]
    return Ledger([seq for seq, _ in rows], index.anchors), rows


@pytest.mark.parametrize("share", [(0, 0.3), (0, 0.5), (0.25, 0.75), (0, 0.95)])
def test_it_comes_near_to_a_summary_really_written(share: tuple[float, float]) -> None:
    book, rows = book_and_messages(SAMPLE.read_bytes())
    start, kept = (int(part * len(rows)) for part in share)
    removed = [row for row in rows[start:kept] if row[1]]
    summary = extractive_summary(ModelCall([message for _, message in removed], 16_384))
    done = retention(removed, summary, [row for row in rows[kept:] if row[1]])
    fates = done.fates
    tally = book.tally([Cut(start, kept, len(rows))], EXTRACTIVE)
    assert abs(tally.removed - len(fates)) <= 0.01 * len(fates)
    assert abs(tally.lost - sum(fate.is_lost for fate in fates)) <= 0.1 * len(fates)


def test_a_moved_knob_costs_milliseconds() -> None:
    book, rows = book_and_messages(SAMPLE.read_bytes())
    cuts = [Cut(40 * n, 40 * n + 40, 40 * n + 80) for n in range(20)]
    book.tally(cuts, EXTRACTIVE)
    start = process_time()
    book.tally(cuts, EXTRACTIVE)
    assert process_time() - start < 0.1
    assert len(rows) > 900


def test_the_forgetful_session_counts_its_constraints() -> None:
    book, rows = book_and_messages(text_of(forgetful().entries).encode())
    tally = book.tally([Cut(0, len(rows) - 2, len(rows))], NO_ROOM)
    assert (tally.constraints, tally.constraints_lost) == (3, 3)
    assert book.tally([Cut(0, len(rows) - 2, len(rows))], EXTRACTIVE).constraints_lost == 0
