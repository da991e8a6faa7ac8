"""Which version uses which records of the compaction rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from compaction_app.engine.compaction import chunks, failures, instructions, summarise
from compaction_app.engine.pruning import pairing


@dataclass(frozen=True, slots=True)
class CompactionRules:
    """The records of all rules that make a compaction, for one version."""

    chunks: chunks.ChunkRules
    failures: failures.FailureRules
    instructions: instructions.InstructionRules
    pairing: pairing.PairingRules
    summariser: summarise.SummariserRules


COMPACTION_2026_3: Final = CompactionRules(
    chunks=chunks.CHUNKS_2026_3,
    failures=failures.FAILURES_2026_3,
    instructions=instructions.INSTRUCTIONS_2026_3,
    pairing=pairing.PAIRING_2026_3,
    summariser=summarise.SUMMARISER_2026_3,
)
COMPACTION_2026_4_20: Final = CompactionRules(
    chunks=chunks.CHUNKS_2026_4_20,
    failures=failures.FAILURES_2026_4_20,
    instructions=instructions.INSTRUCTIONS_2026_4_20,
    pairing=pairing.PAIRING_2026_4_20,
    summariser=summarise.SUMMARISER_2026_4_20,
)
COMPACTION_2026_5_28: Final = CompactionRules(
    chunks=chunks.CHUNKS_2026_5_28,
    failures=failures.FAILURES_2026_4_20,
    instructions=instructions.INSTRUCTIONS_2026_4_20,
    pairing=pairing.PAIRING_2026_5_28,
    summariser=summarise.SUMMARISER_2026_5_28,
)
