"""The rule sets: which version's constants and variants apply.

A rule set bundles one record per rule family. The record's class and its versions stand in the module
of the rule (constants live once, with their spec section); this module only says which version uses
which. Nothing else in the code asks for a version.
"""

from __future__ import annotations

from dataclasses import dataclass

from compaction_app.engine.compaction import versions as compaction
from compaction_app.engine.composition import versions as composition
from compaction_app.engine.pruning.versions import (
    PRUNING_2026_3,
    PRUNING_2026_4_20,
    PRUNING_2026_5_28,
    PruningRules,
)
from sessions_app.session_index import INDEX_2026_4_20, INDEX_2026_5_28, IndexRules
from sessions_app.tokens import loop_chars, message_tokens
from sessions_app.usage import USAGE_2026_4_20, USAGE_2026_5_28, UsageRules


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Constants and rule variants of one runtime version."""

    id: str
    runtime_version: str
    pruning: PruningRules
    usage: UsageRules
    session_index: IndexRules
    message_tokens: message_tokens.MessageTokenRules
    loop_chars: loop_chars.LoopCharRules
    compaction: compaction.CompactionRules
    composition: composition.CompositionRules


OPENCLAW_2026_3 = RuleSet(
    id="openclaw-2026.3",
    runtime_version="2026.3.13",
    pruning=PRUNING_2026_3,
    usage=USAGE_2026_4_20,
    session_index=INDEX_2026_4_20,
    message_tokens=message_tokens.OPENCLAW_2026_3,
    loop_chars=loop_chars.OPENCLAW_2026_3,
    compaction=compaction.COMPACTION_2026_3,
    composition=composition.COMPOSITION_2026_3,
)
OPENCLAW_2026_4_20 = RuleSet(
    id="openclaw-2026.4.20",
    runtime_version="2026.4.20",
    pruning=PRUNING_2026_4_20,
    usage=USAGE_2026_4_20,
    session_index=INDEX_2026_4_20,
    message_tokens=message_tokens.OPENCLAW_2026_4_20,
    loop_chars=loop_chars.OPENCLAW_2026_4_20,
    compaction=compaction.COMPACTION_2026_4_20,
    composition=composition.COMPOSITION_2026_4_20,
)
OPENCLAW_2026_5_28 = RuleSet(
    id="openclaw-2026.5.28",
    runtime_version="2026.5.28",
    pruning=PRUNING_2026_5_28,
    usage=USAGE_2026_5_28,
    session_index=INDEX_2026_5_28,
    message_tokens=message_tokens.OPENCLAW_2026_5_28,
    loop_chars=loop_chars.OPENCLAW_2026_5_28,
    compaction=compaction.COMPACTION_2026_5_28,
    composition=composition.COMPOSITION_2026_5_28,
)

RULE_SETS = {rules.id: rules for rules in (OPENCLAW_2026_3, OPENCLAW_2026_4_20, OPENCLAW_2026_5_28)}
DEFAULT_RULE_SET = OPENCLAW_2026_5_28
