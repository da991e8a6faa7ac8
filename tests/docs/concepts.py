"""The page about the concepts: every figure in it comes from the engine or from a sample session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from compaction_app.diagnosis import Judged, groups_of, judge, settled
from compaction_app.doctor_page import ladder_of
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.diagnose import Subject
from compaction_app.engine.diagnose.overhead import overhead_tokens
from compaction_app.engine.lines import Lines, lines_of
from compaction_app.engine.policy import Policy, with_changes
from compaction_app.engine.replay import Replay, replay
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, RULE_SETS
from compaction_app.engine.session_policy import system_tokens
from compaction_app.pictures import ladder_picture, stages_picture
from sessions_app.transcripts.timeline import PARTS
from tests.docs.settings_reference import MODEL_PLACE, reference
from tests.docs.tables import table

ROOT: Final = Path(__file__).parents[2]
SAMPLES: Final = ROOT / "sessions_app" / "samples"
AROUND: Final = Circumstances(provider="acme", model="m")
SMALL: Final = 32_000
LARGE: Final = 200_000
FITTED: Final = {
    "compaction.reserveTokens": 4_000,
    "compaction.reserveTokensFloor": 4_000,
    "compaction.memoryFlush.softThresholdTokens": 2_000,
    "compaction.keepRecentTokens": 8_000,
}
"""Settings that fit a window of 32,000 tokens."""

STAGES: Final = {
    "preflight": "is the stored total at the preflight line? Then compact first",
    "flush": "does the projected prompt reach the flush line? Then let the agent write its notes first",
    "pre_prompt_check": "does the estimate × 1.2 fit? Else cut tool results, or compact",
    "inner_trigger_before_prompt": "is the last billed total above the inner threshold? Then compact",
    "cache_ttl_pruning": "has the provider's cache expired? Then leave old tool results out of this call",
    "soft_guard": "do the messages fit the limits of the tool loop? Else shorten results for this call",
    "history_images": "keep only the latest images",
    "prompt_truncation": "cut what is still too long",
    "stored_history_images": "take old images out of what is stored",
    "inner_trigger": "is the billed total above the inner threshold now? Then compact",
    "cache_touch": "note when the provider's cache was last used",
    "usage": "store the total of the last call: the next turn is judged by it",
    "compaction_count": "count the compactions of this turn, which opens the next flush cycle",
}
MOMENTS: Final = {
    "turn": "before the turn",
    "attempt": "before each attempt",
    "call": "before every model call",
    "answered": "after the last answer",
    "ended": "when an attempt ends",
    "closing": "when the turn ended well",
}


def lines(window: int, changes: dict[str, Any] | None = None, **more: Any) -> Lines:
    policy = with_changes(Policy(context_window=window), changes or {})
    return lines_of(policy, replace(AROUND, **more))


def subject(window: int, changes: dict[str, Any] | None = None) -> Subject:
    policy = with_changes(Policy(context_window=window), changes or {})
    return Subject(policy, AROUND, lines_of(policy, AROUND))


def sample(name: str) -> Subject:
    """A sample session with its configuration."""
    for group, settings, _ in settled(groups_of([SAMPLES / name]), None, None):
        for each in judge(group, settings):
            if isinstance(each, Judged) and each.subject.grown is not None:
                return each.subject
    raise LookupError(name)


def pictures() -> dict[str, str]:
    """The drawings of the page, by file name below ``docs/img``."""
    return {
        "concepts-32k.svg": ladder_picture(
            ladder_of(subject(SMALL)), "A window of 32,000 tokens, nothing set"
        ),
        "concepts-32k-fitted.svg": ladder_picture(
            ladder_of(subject(SMALL, FITTED)), "The same window, fitted"
        ),
        "concepts-200k.svg": ladder_picture(
            ladder_of(subject(LARGE)), "A window of 200,000 tokens, nothing set"
        ),
        "concepts-turn.svg": stages_picture(_moments(), "The life of a message through a turn"),
    }


def page() -> str:
    return "\n".join(
        [
            _introduction(),
            _made_of(),
            _feels_small(),
            _measures(),
            _pruning(),
            _reserve(),
            _turn(),
            _settings(),
        ]
    )


def _introduction() -> str:
    return f"""# Concepts

What a context window holds, what happens when it fills up, and which setting moves what. Every figure and
picture on this page is computed ({DEFAULT_RULE_SET.id} unless said otherwise): `python -m tests.docs` writes it,
and a test fails when it and the engine disagree. The exact rules: [rules](rules/README.md).
"""


def _made_of() -> str:
    found = sample("growth-96k-dense")
    grown = found.grown
    assert grown is not None
    last = found.billed[-1]
    overhead = overhead_tokens(found)
    parts = {
        name: int(count) for name, count in zip(PARTS, grown.parts[:, last].tolist(), strict=True)
    }
    total = overhead + sum(parts.values())
    rows = [
        (
            "system prompt, workspace files, skills, tool schemas",
            f"{overhead:,}",
            f"{overhead / total:.0%}",
        ),
        *((name, f"{count:,}", f"{count / total:.0%}") for name, count in parts.items() if count),
    ]
    return f"""## What the context is made of

Every model call sends everything again: the system prompt with the workspace files, the list of skills and the
schemas of the tools, then the summary of what was compacted, then the messages that were kept and all that came
since. The last call of the sample session *growth-96k-dense* (window {found.lines.window:,} tokens, estimated by
characters / 4; the provider billed {int(grown.billed_prompt[last]):,}):

{table(("part", "tokens", "share"), rows)}
The first row is there before anybody has said a word, in every call. The rest grows until something takes it away.
"""


def _feels_small() -> str:
    now, fitted = lines(SMALL), lines(SMALL, FITTED)
    flush, better = now.named("flush"), fitted.named("flush")
    return f"""## Why 32K feels like 8K

With nothing but the window set, the memory flush and preflight compaction act from
`window - reserveTokensFloor - softThresholdTokens` on: {SMALL:,} - {now.floor:,} - {now.soft:,} =
**{flush.tokens:,} tokens**, a quarter of the window. The pre-prompt check and the inner threshold follow at
{now.named("inner_threshold").tokens:,}. All defaults are made for windows of 200,000 tokens, and they are
absolute: the floor does not shrink with the window (only in very small ones, so that half of it, at most 8,000
tokens, stays for the prompt).

![The lines of a window of 32,000 tokens](img/concepts-32k.svg)

Smaller reserves give the window back. With `reserveTokens` and `reserveTokensFloor` {FITTED["compaction.reserveTokens"]:,},
`softThresholdTokens` {FITTED["compaction.memoryFlush.softThresholdTokens"]:,} and `keepRecentTokens`
{FITTED["compaction.keepRecentTokens"]:,} the flush comes at {better.tokens:,}, and the first compaction at
{fitted.named("inner_threshold").tokens:,}:

![The same window with settings that fit it](img/concepts-32k-fitted.svg)

The kept tail has to fit, too: `keepRecentTokens` is 20,000 by default, more than the {now.named("inner_threshold").tokens:,}
at which this window compacts, so that a compaction could drop nothing.
"""


def _measures() -> str:
    large = lines(LARGE)
    rows = [
        (
            "pruning",
            "old tool results are shortened or left out",
            "of one call; the transcript keeps them",
            "off; with `cache-ttl` when the provider's cache is cold",
        ),
        (
            "memory flush",
            "nothing; the agent is asked to write its notes to a file",
            "-",
            f"{large.named('flush').tokens:,} billed prompt tokens",
        ),
        (
            "compaction",
            "everything but the recent messages becomes a summary",
            "for good",
            f"{large.named('preflight').tokens:,} billed prompt tokens before a turn, "
            f"{large.named('inner_threshold').tokens:,} billed total tokens after one, "
            f"{large.named('pre_prompt').tokens:,} estimated tokens (× 1.2) before a prompt",
        ),
    ]
    return f"""## The three emergency measures

When the window fills up, three things can happen, from the mildest to the hardest. The figures are those of a
window of {LARGE:,} tokens with nothing set.

{table(("measure", "what goes", "for how long", "when"), rows, figures=False)}
![The lines of a window of 200,000 tokens](img/concepts-200k.svg)

Their order is what matters: what the flush has written survives a compaction; what it had no chance to write is
left to the summary. The doctor answers for a configuration and its sessions whether the flush comes first
([findings](findings.md)). Where nothing helps any more, the turn ends in the overflow reply
([overflow](rules/overflow.md)).
"""


def _pruning() -> str:
    pruned = _played("growth-96k-dense", {"contextPruning.mode": "off"})
    compacted = next(e for e in pruned.events if e.kind != "flush") if pruned.events else None
    rows = [
        ("what it touches", "tool results only", "all messages but the kept tail"),
        ("what is left", "head and tail of a result, or a placeholder", "a summary"),
        ("how long", "one call; nothing is stored", "for good, in the transcript"),
        ("what it costs", "nothing", "a model call, and the provider's cache"),
        ("when", "the ttl has passed since the cache was used", "a line is reached"),
        ("setting", "`contextPruning`", "`compaction`"),
    ]
    example = (
        f"In the sample session *growth-96k-dense*, replayed under its own settings, the first compaction comes "
        f"before call {compacted.call} at {compacted.tokens_before:,} {compacted.unit} and leaves "
        f"{compacted.tokens_after:,}; the whole session has {pruned.totals.compactions} of them and "
        f"{pruned.totals.flushes} memory flushes."
        if compacted is not None and compacted.tokens_after is not None
        else ""
    )
    return f"""## Pruning against compaction

{table(("", "pruning", "compaction"), rows, figures=False)}
Pruning makes one call smaller and leaves the transcript alone; compaction rewrites what the session remembers.
{example}
"""


def _played(name: str, changes: dict[str, Any]) -> Replay:
    found = sample(name)
    assert found.grown is not None
    policy = with_changes(found.policy, changes)
    return replay(found.grown, policy, found.around, system_tokens(found.entry or {}))


def _reserve() -> str:
    rows = []
    for window in (16_000, SMALL, 96_000, 128_000, LARGE, 1_000_000):
        for_all = [lines(window, rules=rules) for rules in RULE_SETS.values()]
        rows.append(
            (
                f"{window:,}",
                *(f"{each.settings.reserve_tokens:,}" for each in for_all),
                f"{max(for_all[-1].named('inner_threshold').tokens, 0):,}",
            )
        )
    head = (
        "window",
        *(f"reserve, {name.removeprefix('openclaw-')}" for name in RULE_SETS),
        "left for the prompt",
    )
    return f"""## Reserve and floor

`reserveTokens` is what a run keeps free for the answer, {Policy().reserve_tokens:,} tokens by default;
`reserveTokensFloor` ({Policy().reserve_tokens_floor:,}) is the least of it, so that the default floor decides, and not
the default reserve. The flush and preflight lines are measured from the **floor**, the inner threshold from the
**effective reserve**, `max(reserveTokens, floor)`. Raising `reserveTokens` alone therefore moves the compaction below
the flush; raise both. In safeguard mode the pre-prompt check reads neither ([reserve](rules/reserve.md)).

{table(head, rows)}"""


def _turn() -> str:
    listed = "\n".join(
        f"- **{moment}**: " + "; ".join(stages) + "." for moment, stages in _moments() if stages
    )
    return f"""## The life of a message through a turn

What happens between a message of the user and the answer, on the path `chat` of {DEFAULT_RULE_SET.id}. Runs by
`openclaw agent` skip what is done before the turn: they neither flush nor ask preflight.

![The stages of a turn](img/concepts-turn.svg)

{listed}
"""


def _moments() -> list[tuple[str, list[str]]]:
    order = DEFAULT_RULE_SET.turn.orders["chat"]
    return [
        (
            words,
            [
                f"{stage.removesuffix('_before_prompt').replace('_', ' ')}: {STAGES[stage]}"
                for stage in getattr(order, name)
            ],
        )
        for name, words in MOMENTS.items()
    ]


def _settings() -> str:
    return f"""## Every setting

Below `agents.defaults` in `openclaw.json`, but for {MODEL_PLACE}, which stand in the model's entry below
`models.providers.<id>.models`. The doctor shows which value holds for an agent, and where it comes from.

{reference()}"""
