"""A fix is a change of settings that the panel takes, and that takes its finding away."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.diagnose import SEVERITIES, Finding, Subject, findings
from compaction_app.engine.lines import lines_of
from compaction_app.engine.policy import Policy, with_changes

AROUND = Circumstances(provider="mock", model="m")
CURED = {
    "COMPACTS_FROM_FIRST_TOKEN", "RESERVE_SHRINKS_PROMPT", "KEEP_GE_THRESHOLD", "SOFT_IS_DISTANCE",
    "FLUSH_UNREACHABLE", "WINDOW_MISMATCH", "RESERVE_IGNORED", "TRIGGER_INACTIVE",
}  # fmt: skip
tokens = st.integers(0, 300_000)
policies = st.fixed_dictionaries(
    {
        "contextWindow": st.integers(9_000, 1_100_000),
        "compaction.reserveTokens": tokens,
        "compaction.reserveTokensFloor": tokens,
        "compaction.memoryFlush.softThresholdTokens": tokens,
        "compaction.keepRecentTokens": st.integers(1, 300_000),
        "compaction.mode": st.sampled_from(["default", "safeguard"]),
    },
    optional={"contextTokens": st.integers(9_000, 1_100_000)},
)


def judged(policy: Policy) -> dict[str, Finding]:
    subject = Subject(policy, AROUND, lines_of(policy, AROUND))
    return {finding.code: finding for finding in findings(subject)}


@settings(max_examples=60)
@given(policies)
def test_every_fix_is_accepted_and_cures(changes: dict[str, Any]) -> None:
    policy = with_changes(Policy(), changes)
    for code, finding in judged(policy).items():
        fixed = with_changes(policy, finding.fix)
        if code in CURED and finding.fix:
            assert code not in judged(fixed), finding


@settings(max_examples=30)
@given(policies)
def test_the_verdict_names_known_codes_in_order_and_says_the_same_twice(
    changes: dict[str, Any],
) -> None:
    policy = with_changes(Policy(), changes)
    first = judged(policy)
    assert first == judged(policy)
    ranks = [list(SEVERITIES).index(code) for code in first]
    assert ranks == sorted(ranks)
    assert all(
        finding.consequence.endswith("No session was looked at.") for finding in first.values()
    )
