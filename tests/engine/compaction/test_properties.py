"""What holds of every compaction, whatever was said and whatever the summariser answers."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from compaction_app.engine.budget import CompactionSettings
from compaction_app.engine.compaction.chunks import split_by_token_share
from compaction_app.engine.compaction.cut import cut_for_compaction
from compaction_app.engine.compaction.drive import Means, drive
from compaction_app.engine.compaction.failures import Failure
from compaction_app.engine.compaction.record import record_of
from compaction_app.engine.compaction.requests import ModelAnswer, ModelCall
from compaction_app.engine.compaction.run import run_compaction
from compaction_app.engine.compaction.safeguard_settings import SafeguardSettings
from compaction_app.engine.compaction.summarise import SummaryTask, summarise_in_stages
from compaction_app.engine.rule_sets import (
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    RULE_SETS,
    RuleSet,
)
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import message_tokens
from tests.engine.compaction.driving import ABORT, ERROR, TIMEOUT, assistant, branch, result, user
from tests.summarisers.conversations import order

SIZES = st.integers(1, 9000)


@st.composite
def turns(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Whole turns: an ask, perhaps a call with its results at once behind it, an answer."""
    messages: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 6))):
        messages.append(user(f"ask {number} " + "u" * draw(SIZES)))
        calls = [f"c{number}{i}" for i in range(draw(st.integers(0, 3)))]
        if calls:
            messages.append(assistant("a" * draw(SIZES), *calls, stop="toolUse"))
            messages += [result(call, "r" * draw(SIZES)) for call in calls]
        if draw(st.booleans()):
            messages.append(assistant("a" * draw(SIZES)))
    return messages


ANSWERS = st.lists(
    st.sampled_from(["S", "", None, ERROR, TIMEOUT, ABORT]) | st.text(max_size=9), min_size=1, max_size=6
)  # fmt: skip


class Scripted:
    """Answers call n with entry n, from the last one on for ever."""

    def __init__(self, answers: list[ModelAnswer]) -> None:
        self.answers, self.calls = answers, 0

    def __call__(self, call: ModelCall) -> ModelAnswer:
        self.calls += 1
        return self.answers[min(self.calls, len(self.answers)) - 1]


@given(turns(), st.integers(1, 12_000), st.sampled_from(sorted(RULE_SETS)))
@settings(max_examples=150, deadline=None)
def test_the_cut_parts_no_result_from_its_call_and_loses_no_entry(
    messages: list[dict[str, Any]], keep: int, version: str
) -> None:
    path = branch(messages)
    rules = RULE_SETS[version].message_tokens
    tokens = [message_tokens(message, rules) for message in messages]
    cut = cut_for_compaction(path, keep, tokens.__getitem__, version)
    assert [*cut.history, *cut.turn_prefix, *cut.kept] == list(range(len(path)))
    kept = [messages[index] for index in cut.kept]
    called = {b["id"] for m in kept if m["role"] == "assistant" for b in m["content"] if "id" in b}
    assert {m["toolCallId"] for m in kept if m["role"] == "toolResult"} <= called


@given(turns(), st.integers(2, 5), st.sampled_from([OPENCLAW_2026_4_20, OPENCLAW_2026_5_28]))
@settings(max_examples=150, deadline=None)
def test_a_split_by_share_parts_no_result_from_its_call_and_loses_no_message(
    messages: list[dict[str, Any]], parts: int, rules: RuleSet
) -> None:
    chunks = split_by_token_share(messages, parts, rules.compaction.chunks)
    assert [i for chunk in chunks for i in range(chunk.start, chunk.end)] == list(
        range(len(messages))
    )
    for chunk in chunks:
        assert messages[chunk.start]["role"] != "toolResult"


@given(turns(), ANSWERS, st.integers(1, 4000), st.sampled_from(sorted(RULE_SETS)))
@settings(max_examples=100, deadline=None)
def test_the_fallback_always_ends_with_a_text_and_never_raises(
    messages: list[dict[str, Any]], answers: list[ModelAnswer], chunk: int, version: str
) -> None:
    task = SummaryTask(messages, chunk, 8000, 4096)
    steps = summarise_in_stages(task, RULE_SETS[version].compaction)
    found = drive(steps, Means(Scripted(answers)))
    assert isinstance(found.summary, str)
    if all(isinstance(answer, Failure) for answer in answers):
        assert found.summary.endswith("Summary unavailable due to size limits.")


@given(turns(), ANSWERS, st.integers(0, 4), st.integers(1, 6000), st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_safeguard_compaction_keeps_its_cap_and_the_same_answers_give_the_same_record(
    messages: list[dict[str, Any]], answers: list[ModelAnswer], kept: int, keep: int, long: bool
) -> None:
    path = branch(messages)
    asked = order(
        settings=CompactionSettings(reserve_tokens=20_000, keep_recent_tokens=keep),
        safeguard=SafeguardSettings(recent_turns_preserve=kept),
    )
    if long:
        answers = [a * 9000 if isinstance(a, str) else a for a in answers]
    means = (Means(Scripted(answers), {"AGENTS.md": "## Rules\nx"}) for _ in range(2))
    runs = [drive(run_compaction(path, asked, OPENCLAW_2026_5_28), each) for each in means]
    assert runs[0].outcome == "compacted" and runs[0].entry is not None
    assert js.utf16_len(runs[0].entry["summary"]) <= 16_000
    records = [record_of(path, asked, run) for run in runs]
    assert records[0] == records[1]
    assert records[0].as_json() == records[1].as_json()
