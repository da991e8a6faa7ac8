"""The contexts of the replay are those that were sent: the scripted server's rule bills them as recorded.

The server counted characters of everything it received, so that one wrong message, a missing prompt
envelope or a result cut otherwise would show in its figure.
"""

from __future__ import annotations

import pytest

from compaction_app.engine.simulation.recording import RecordedCall
from compaction_app.engine.simulation.usage import CallSituation, Scripted
from sessions_app.transcripts.usage import normalize_usage, prompt_tokens
from tests.golden.runs import OF_2026_5_28, replayed

DENSE = ("growth-96k-dense", "inner-threshold")
ANTHROPIC = ("prune-cache-ttl", "prune-hard-clear")
WITHOUT_USAGE = ("zero-usage-32k",)
OTHER_TOOLS = ("subagent",)
"""Its sessions have other tools, whose schemas were not kept."""


DIFFERENCES = {
    # The next message was sent while the /compact was still at work: what the runtime tells the model
    # of it (236 characters) came a turn later.
    "safeguard-audit": {(14, 1): -59, (15, 1): 59},
    # Within its turn the model saw a result of 150,000 characters cut otherwise than it was stored.
    "tool-over-cap-200k": {(3, 2): 22},
}
"""What was billed beyond the rule, by turn and call."""


def rule_of(name: str) -> Scripted:
    """The rule of the run's server; how the tools are written depends on the API."""
    if name in ANTHROPIC:
        return Scripted(4, unsent_system_chars=36, tool_chars=2736)
    return Scripted(
        divisor=3 if name in DENSE else 4,
        unsent_system_chars=33,
        tool_chars=2823,
        flush_tool_chars=1184,
    )


@pytest.mark.parametrize(
    "name", [name for name in OF_2026_5_28 if name not in (*WITHOUT_USAGE, *OTHER_TOOLS)]
)
def test_the_rule_bills_every_context_as_it_was_billed(name: str) -> None:
    rule = rule_of(name)
    beyond: dict[tuple[int, int], float] = {}
    for run in replayed(name):
        rules = run.inputs.setup.rules.usage
        for turn in run.turns:
            for call in turn.result.calls:
                answer = call.answer or {}
                recorded = prompt_tokens(normalize_usage(answer.get("usage"), rules))
                stand_in = RecordedCall({"message": answer})
                by_rule = rule(CallSituation(call.run, call.context, stand_in, rules))
                if recorded is not None and recorded != by_rule:
                    beyond[turn.recorded.number, call.number] = recorded - (by_rule or 0)
    assert beyond == DIFFERENCES.get(name, {})
