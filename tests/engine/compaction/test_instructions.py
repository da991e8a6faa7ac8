"""What a summariser is told (spec compaction 1.4, 3.5, 3.7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.compaction.instructions import (
    DEFAULT_CUSTOM,
    INSTRUCTIONS_2026_3,
    INSTRUCTIONS_2026_4_20,
    MERGE,
    IdentifierPolicy,
    data_block,
    effective_instructions,
    feedback_instructions,
    merge_instructions,
    resolve_custom_instructions,
    structure_instructions,
)
from compaction_app.engine.compaction.quality import REQUIRED_SECTIONS

RULES = INSTRUCTIONS_2026_4_20
OFF = IdentifierPolicy("off")
OWN = IdentifierPolicy("custom", " keep ticket ids ")


@pytest.mark.parametrize(
    ("policy", "custom", "expected"),
    [
        (OFF, " ", None),
        (OFF, " API ", "Additional focus:\nAPI"),
        (OWN, None, "keep ticket ids"),
        (OWN, "API", "keep ticket ids\n\nAdditional focus:\nAPI"),
        (IdentifierPolicy("custom", " "), None, RULES.identifier_sentence),
        (IdentifierPolicy(), None, RULES.identifier_sentence),
    ],
)
def test_identifier_text_comes_before_the_focus(
    policy: IdentifierPolicy, custom: str | None, expected: str | None
) -> None:
    assert effective_instructions(custom, policy, RULES) == expected


def test_the_first_version_counts_secrets_among_identifiers() -> None:
    assert "API keys" in INSTRUCTIONS_2026_3.identifier_sentence
    assert "API keys" not in RULES.identifier_sentence


def test_the_caller_s_focus_stands_behind_the_request_to_merge() -> None:
    assert merge_instructions(" ") == MERGE
    assert merge_instructions("names") == f"{MERGE}\n\nnames"


def test_the_structure_names_every_heading_on_a_line_of_its_own() -> None:
    text = structure_instructions("focus", IdentifierPolicy())
    assert [line for line in text.split("\n") if line.startswith("## ")] == list(REQUIRED_SECTIONS)
    assert text.endswith("<untrusted-text>\nfocus\n</untrusted-text>")
    assert "keep ticket ids" in structure_instructions(None, OWN)


def test_feedback_names_the_reasons_as_data() -> None:
    text = feedback_instructions("structure", ["a", "b"], OFF)
    assert text.startswith("structure\n\n")
    assert "Previous summary failed quality checks (a, b)." in text


@given(st.text())
def test_a_text_of_somebody_else_cannot_leave_its_block(text: str) -> None:
    block = data_block("L", text)
    if block:
        body = block.removesuffix("\n</untrusted-text>").partition("<untrusted-text>\n")[2]
        assert "<" not in body and ">" not in body
        assert not any(ord(c) < 32 and c != "\n" for c in body)


def test_a_block_is_cut_before_it_is_escaped() -> None:
    assert data_block("L", "<" * 5000).count("&lt;") == 4000
    assert data_block("L", "\u200b\t") == ""


def test_the_command_s_instructions_come_before_the_configured_ones() -> None:
    assert resolve_custom_instructions(" now ", "later") == "now"
    assert resolve_custom_instructions(" ", "later") == "later"
    assert resolve_custom_instructions(None, None) == DEFAULT_CUSTOM
    assert resolve_custom_instructions("😀" * 900, None) == "😀" * 800
