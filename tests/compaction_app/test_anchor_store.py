"""Anchors that were read once are kept with the window, and are those that its texts give."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app import anchor_store, lost
from compaction_app.engine.retention.session_index import SessionIndex
from compaction_app.engine.retention.stored_form import add_block, block_of
from compaction_app.models import AnchorBlock
from sessions_app.entries import window_of
from sessions_app.importers import read_transcript
from sessions_app.models import Session, Window
from tests.bench.sessions import long_session
from tests.compaction_app.conftest import Bring
from tests.compaction_app.forgetful import forgetful
from tests.engine.builders import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anchor_store, "BLOCK", 8)


def known(index: SessionIndex) -> tuple[Any, ...]:
    reader = index.extractor
    return (
        index.seen, index.anchors, index.summaries, index.writes, index.reads, index.open_writes,
        reader.resolved, reader.calls, reader.failed,
    )  # fmt: skip


def read(window: Window) -> SessionIndex:
    index = SessionIndex()
    anchor_store.read_on(index, window)
    return index


@pytest.fixture
def window(bring: Bring) -> Window:
    window = window_of(bring(forgetful("- Never touch the table.\n")))
    AnchorBlock.objects.all().delete()
    return window


@pytest.fixture
def texts_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the entries whose texts were read."""
    seen: list[int] = []
    loads = anchor_store.entries_at

    def noted(window: Window, seqs: Any) -> Any:
        seen.extend(seqs)
        return loads(window, seqs)

    monkeypatch.setattr(anchor_store, "entries_at", noted)
    return seen


def test_a_block_gives_what_reading_gives_wherever_it_ends() -> None:
    for data in (b"".join(long_session(120)), text_of(forgetful("- a\n").entries).encode()):
        entries = read_transcript([data]).entries
        whole = known(SessionIndex().add(entries))
        for cut in range(0, len(entries), 7):
            first, again = SessionIndex().add(entries[:cut]), SessionIndex()
            add_block(again, block_of(first, 0))
            assert known(again) == known(first)
            assert known(again.add(entries[cut:])) == whole


def test_texts_in_any_form_come_back() -> None:
    text = "Never touch 表/\\ud800 or src/\\u0000x.py. 不要动 a.sql"
    line = '{"type":"session","id":"s","version":3}\n' + (
        '{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00Z","message":'
        f'{{"role":"user","content":"{text}"}}}}\n'
    )
    first, again = SessionIndex().add(read_transcript([line.encode()]).entries), SessionIndex()
    assert any("\ud800" in a.text for some in first.anchors.values() for a in some)
    add_block(again, block_of(first, 0))
    assert known(again) == known(first)


def test_another_process_reads_only_what_is_behind_the_last_block(
    window: Window, texts_read: list[int]
) -> None:
    first = read(window)
    assert len(texts_read) == window.entry_count
    assert AnchorBlock.objects.filter(window=window).count() == window.entry_count // 8
    texts_read.clear()
    assert known(read(window)) == known(first)
    assert texts_read == list(
        range(window.entry_count - window.entry_count % 8, window.entry_count)
    )


def test_a_short_window_stores_nothing(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anchor_store, "BLOCK", 512)
    read(window)
    assert not AnchorBlock.objects.exists()


@pytest.mark.parametrize(
    "wrong", [{"digest": b"\0" * 16}, {"payload": b"rubbish"}, {"payload": b""}]
)
def test_a_block_of_other_entries_or_rubbish_is_read_again(
    window: Window, texts_read: list[int], wrong: dict[str, bytes]
) -> None:
    first = read(window)
    AnchorBlock.objects.filter(window=window, number=1).update(**wrong)
    texts_read.clear()
    assert known(read(window)) == known(first)
    assert texts_read[0] == 8
    texts_read.clear()
    read(window)
    assert len(texts_read) < 8  # it was written anew


def test_other_rules_read_everything_again(
    window: Window, texts_read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    read(window)
    texts_read.clear()
    monkeypatch.setattr(anchor_store, "RULES_VERSION", 10_000)
    read(window)
    assert len(texts_read) == window.entry_count


def test_they_go_with_their_session(window: Window) -> None:
    read(window)
    Session.objects.all().delete()
    assert not AnchorBlock.objects.exists()


def test_what_was_lost_is_found_from_blocks_as_from_texts(window: Window) -> None:
    def told() -> list[dict[str, Any]]:
        for cache in (lost._indexes, lost._cycles, lost._ledgers, lost._tallies):
            cache.clear()
        return [cycle.to_json() for cycle in lost.cycles_for(window)]

    first = told()
    assert first and told() == first
