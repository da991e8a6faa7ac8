"""Which version uses which records of the compaction rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from compaction_app.engine.compaction import (
    agents_sections,
    chunks,
    failures,
    history_share,
    instructions,
    post_context,
    safeguard_settings,
    summarise,
)
from compaction_app.engine.pruning import pairing


@dataclass(frozen=True, slots=True)
class CompactionRules:
    """The records of all rules that make a compaction, for one version."""

    chunks: chunks.ChunkRules
    failures: failures.FailureRules
    instructions: instructions.InstructionRules
    pairing: pairing.PairingRules
    summariser: summarise.SummariserRules
    history_share: history_share.HistoryShareRules
    sections: agents_sections.SectionRules
    post_context: post_context.PostContextRules
    safeguard: safeguard_settings.SafeguardRules


COMPACTION_2026_3: Final = CompactionRules(
    chunks=chunks.CHUNKS_2026_3,
    failures=failures.FAILURES_2026_3,
    instructions=instructions.INSTRUCTIONS_2026_3,
    pairing=pairing.PAIRING_2026_3,
    summariser=summarise.SUMMARISER_2026_3,
    history_share=history_share.HISTORY_SHARE_2026_3,
    sections=agents_sections.SECTIONS_2026_3,
    post_context=post_context.POST_CONTEXT_2026_3,
    safeguard=safeguard_settings.SAFEGUARD_2026_3,
)
COMPACTION_2026_4_20: Final = CompactionRules(
    chunks=chunks.CHUNKS_2026_4_20,
    failures=failures.FAILURES_2026_4_20,
    instructions=instructions.INSTRUCTIONS_2026_4_20,
    pairing=pairing.PAIRING_2026_4_20,
    summariser=summarise.SUMMARISER_2026_4_20,
    history_share=history_share.HISTORY_SHARE_2026_3,
    sections=agents_sections.SECTIONS_2026_4_20,
    post_context=post_context.POST_CONTEXT_2026_4_20,
    safeguard=safeguard_settings.SAFEGUARD_2026_4_20,
)
COMPACTION_2026_5_28: Final = CompactionRules(
    chunks=chunks.CHUNKS_2026_5_28,
    failures=failures.FAILURES_2026_4_20,
    instructions=instructions.INSTRUCTIONS_2026_4_20,
    pairing=pairing.PAIRING_2026_5_28,
    summariser=summarise.SUMMARISER_2026_5_28,
    history_share=history_share.HISTORY_SHARE_2026_5_28,
    sections=agents_sections.SECTIONS_2026_4_20,
    post_context=post_context.POST_CONTEXT_2026_5_28,
    safeguard=safeguard_settings.SAFEGUARD_2026_5_28,
)
