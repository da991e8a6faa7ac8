"""Which version uses which records of the compaction rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from compaction_app.engine.compaction import (
    agents_sections,
    chunks,
    cut,
    duplicate_asks,
    failures,
    history_share,
    identifiers,
    instructions,
    post_context,
    real_conversation,
    safeguard_settings,
    summarise,
    summary_cap,
)
from compaction_app.engine.pruning import pairing


@dataclass(frozen=True, slots=True)
class CompactionRules:
    """The records of all rules that make a compaction, for one version.

    ``refuses_empty``: a session whose kept tail is everything is not compacted (runs 4).
    """

    chunks: chunks.ChunkRules
    failures: failures.FailureRules
    instructions: instructions.InstructionRules
    pairing: pairing.PairingRules
    summariser: summarise.SummariserRules
    history_share: history_share.HistoryShareRules
    sections: agents_sections.SectionRules
    post_context: post_context.PostContextRules
    safeguard: safeguard_settings.SafeguardRules
    cut: cut.CutRules = cut.CUT_2026_5_28
    identifiers: identifiers.IdentifierRules = identifiers.IDENTIFIERS_2026_5_28
    cap: summary_cap.CapRules = summary_cap.CAP_2026_5_28
    duplicates: duplicate_asks.DuplicateRules = duplicate_asks.DUPLICATES_2026_5_28
    conversation: real_conversation.ConversationRules = real_conversation.CONVERSATION_2026_5_28
    refuses_empty: bool = False


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
COMPACTION_2026_9: Final = replace(
    COMPACTION_2026_5_28,
    post_context=post_context.POST_CONTEXT_2026_9,
    chunks=chunks.CHUNKS_2026_9,
    pairing=pairing.PAIRING_2026_9,
    history_share=history_share.HISTORY_SHARE_2026_9,
    cut=cut.CUT_2026_9,
    identifiers=identifiers.IDENTIFIERS_2026_9,
    cap=summary_cap.CAP_2026_9,
    duplicates=duplicate_asks.DUPLICATES_2026_9,
    conversation=real_conversation.CONVERSATION_2026_9,
    safeguard=safeguard_settings.SAFEGUARD_2026_9,
    refuses_empty=True,
)
