"""The two samples of the walk-through: a window of 96,000 tokens with the runtime's defaults.

In the first the provider bills a token for three characters, so that the bills reach the flush line before
the pre-prompt check's estimate reaches its own. In the second it bills one for four, as the estimate
counts: there the check comes first, and the flush never runs.
"""

from __future__ import annotations

from pathlib import Path

from tests.samples.scripted import Script, Sizes, Turn, prose

SUMMARY = "## Decisions\n" + prose(77, 14_900)

DENSE = Script(
    name="96K walkthrough",
    sizes=Sizes(system=18_000, tools=30_000, flush_tools=3_000, divisor=3),
    turns=(
        Turn(total=20_000),
        Turn(total=25_000, result=6_000),
        Turn(total=30_000),
        Turn(total=37_000, result=9_000),
        Turn(total=47_900),
        Turn(total=51_000),
        Turn(total=57_000, result=4_000),
        Turn(total=63_000),
        Turn(total=66_500),
        Turn(total=70_000, answer=4_500),
        Turn(prompt=10_000, answer=2_400),
        Turn(prompt=600, answer=3_000),
        Turn(total=52_000, result=2_000),
        Turn(total=56_000),
    ),
    summary=SUMMARY,
)
SPARSE = Script(
    name="96K walkthrough, characters by 4",
    sizes=Sizes(system=18_000, tools=50_000, flush_tools=3_000, divisor=4),
    turns=(
        Turn(total=20_000),
        Turn(total=25_000),
        Turn(total=30_000),
        Turn(total=37_000),
        Turn(total=47_900),
        Turn(total=51_000),
        Turn(total=57_000, result=8_000),
        Turn(total=63_000, result=8_500),
        Turn(total=66_500, result=4_000),
        Turn(total=70_000),
        Turn(prompt=1_200),
        Turn(prompt=1_200),
        Turn(prompt=1_200),
        Turn(prompt=1_200),
        Turn(prompt=1_200),
    ),
    summary=SUMMARY,
)

SAMPLES = {"96k-walkthrough": DENSE, "96k-walkthrough-by-4": SPARSE}
"""By their folder below the samples."""
FOLDER = Path(__file__).resolve().parents[2] / "sessions_app" / "samples"
