"""Files as large and as damaged as people's: read as a stream, everything good kept, all damage said."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from sessions_app.importers import entries_of, read_transcript
from sessions_app.transcripts.measures import measure
from sessions_app.transcripts.transcript import Entry, Problem
from tests import giants


def counted(chunks: Iterator[bytes]) -> Counter[str]:
    return Counter(
        item.kind if isinstance(item, Problem) else type(item).__name__
        for _, item in entries_of(chunks)
    )


@pytest.mark.parametrize(
    ("file", "entries", "told"),
    [
        (giants.eighty_megabytes, 9_521, {}),
        (giants.twenty_six_thousand_lines, 25_926, {}),
        (giants.one_giant_line, 8, {"FILE_GIANT_LINE": 1}),
        (giants.repeated_bootstraps, 1_635, {"FILE_DUPLICATE_BOOTSTRAP": 1_634}),
    ],
)
def test_a_giant_file_is_read_in_full(
    file: Callable[[], Iterator[bytes]], entries: int, told: dict[str, int]
) -> None:
    assert counted(file()) == {"Header": 1, "Entry": entries, **told}


def test_memory_stays_flat_while_a_large_file_is_read() -> None:
    tracemalloc.start()
    try:
        for _, item in entries_of(giants.session(4_000, 30 << 20)):
            if isinstance(item, Entry):
                measure(item)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 12 << 20


def test_all_damage_is_said_with_its_line_and_everything_good_is_kept() -> None:
    data, told = giants.damaged()
    for chunks in ([data], [data[at : at + 999] for at in range(0, len(data), 999)]):
        found = read_transcript(chunks)
        assert [(problem.line, problem.kind) for problem in found.problems] == sorted(told.items())
        # Of forty messages two were overwritten; the torn one is a second copy of the last.
        assert len(found.entries) == 38
        assert found.header is not None


def test_odd_values_are_kept_as_they_are() -> None:
    data, _ = giants.damaged()
    entries = {entry.line: entry for entry in read_transcript([data]).entries}
    assert entries[26].timestamp_ms is not None
    assert entries[26].timestamp_ms > 32_000_000_000_000
    assert isinstance(entries[30].message["timestamp"], str)
    assert "\ufffd" in measure(entries[10]).excerpt
