"""What texts tell is read once, entry by entry, and survives being stored."""

from __future__ import annotations

import json

import pytest

from sessions_app.importers import read_transcript
from sessions_app.transcripts.signs import Signs, signs_from_json, signs_of, signs_to_json
from tests.builders import Chain, usage

FLUSH = "Continue the OpenClaw runtime event."


def signs(chain: Chain) -> Signs:
    return signs_of(read_transcript([chain.data()]).entries)


def rich_session() -> Chain:
    chain = Chain()
    chain.user("Frage 汉字汉字")
    chain.assistant("Looking", usage(1_000, 10), calls=("a",))
    chain.result("a", "x" * 3_000 + "[... 1,500 more characters truncated; rerun]")
    chain.user(FLUSH)
    chain.assistant("", usage(2_000, 10), calls=("w",))
    chain.records[-1]["message"]["content"][-1]["name"] = "write"
    chain.result("w", "Appended")
    chain.assistant("NO_REPLY", usage(2_100, 5))
    chain.compaction("e2", "## Decisions\nNone.\n## Open TODOs\nNone.")
    chain.assistant("Context overflow: sorry", provider="openclaw")
    chain.assistant("", stopReason="error", errorMessage="400 too long")
    chain.add("custom", customType="openclaw.cache-ttl", data={"timestamp": 5_000})
    return chain


def test_each_sort_of_sign_is_found_with_its_line() -> None:
    found = signs(rich_session())
    assert [(r.line, r.tool, r.chars) for r in found.results] == [(4, "read", 4_500)]
    (flush,) = found.flushes
    assert (flush.line, flush.answered, flush.answer, flush.wrote) == (5, True, "NO_REPLY", True)
    (summary,) = found.summaries
    assert (summary.line, summary.headings) == (9, ("## Decisions", "## Open TODOs"))
    assert [(r.line, r.text) for r in found.replies] == [(10, "Context overflow: sorry")]
    assert [(f.line, f.text) for f in found.failures] == [(11, "400 too long")]
    assert [touch.at_ms for touch in found.touches] == [5_000]
    assert found.cjk == 4


def test_signs_of_a_grown_file_are_those_of_the_whole() -> None:
    entries = read_transcript([rich_session().data()]).entries
    whole = signs_of(entries)
    for place in range(len(entries) + 1):
        first = signs_of(entries[:place])
        stored = signs_from_json(json.loads(json.dumps(signs_to_json(first))))
        assert stored == first
        assert signs_of(entries[place:], stored) == whole


@pytest.mark.parametrize("value", [None, {}, [], {"seen": 1}, {"seen": 0, "results": 3}])
def test_what_is_no_signs_is_none(value: object) -> None:
    assert signs_from_json(value) is None


def test_lines_are_known_also_behind_blank_ones() -> None:
    chain = Chain()
    for number in range(4):
        chain.user(f"Question {number}")
    first, rest = chain.data().split(b"\n", 1)
    found = signs_of(read_transcript([first + b"\n\n\n" + rest]).entries)
    assert [found.line_of(seq) for seq in range(5)] == [4, 5, 6, 7, None]
    assert Signs().line_of(0) is None


def test_a_message_that_waited_is_told_from_one_that_did_not() -> None:
    chain = Chain()
    chain.user("at once")
    chain.user("late")
    chain.records[-1]["timestamp"] = "2026-01-01T00:01:10.000Z"
    (wait,) = signs(chain).waits
    assert (wait.line, wait.wait_ms) == (3, 68_000)


def test_the_flush_prompt_of_other_versions_begins_a_flush_turn() -> None:
    chain = Chain()
    chain.user("Pre-compaction memory flush. Store durable memories only in memory/2026-01-01.md")
    chain.assistant("NO_REPLY", usage(2_100, 5))
    assert [flush.answer for flush in signs(chain).flushes] == ["NO_REPLY"]
