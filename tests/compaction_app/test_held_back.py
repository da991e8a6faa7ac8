"""Text on its way out is held back while it may turn out to be silence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.silent_reply import OPENCLAW_2026_5_28
from compaction_app.flush_dialogue import HeldBack, spoken
from sessions_app.tokens import javascript as js


@pytest.mark.parametrize(
    ("pieces", "out"),
    [
        (("NO", "_REP", "LY"), ""),
        (("NO_REPLY", " and more"), ""),
        ((" no_", "reply"), ""),
        (("No", ", I do not think so"), "No, I do not think so"),
        (("Yes", ", ", "of course"), "Yes, of course"),
        (("", "N", "ow"), "Now"),
    ],
)
def test_streamed_text_is_held_back_while_it_may_be_silence(
    pieces: tuple[str, ...], out: str
) -> None:
    heard: list[str] = []
    held = HeldBack(heard.append)
    for piece in pieces:
        held.add(piece)
    assert "".join(heard) == out


@given(st.lists(st.text(max_size=5)))
def test_what_is_let_out_is_all_or_nothing_of_the_text(pieces: list[str]) -> None:
    heard: list[str] = []
    held = HeldBack(heard.append)
    for piece in pieces:
        held.add(piece)
    whole = "".join(pieces)
    assert "".join(heard) in ("", whole)
    lead = js.trim_start(whole).upper()
    assert bool("".join(heard)) is not ("NO_REPLY".startswith(lead) or lead.startswith("NO_REPLY"))


def test_silence_is_not_spoken() -> None:
    assert spoken("NO_REPLY", OPENCLAW_2026_5_28) == ""
    assert spoken("Hello NO_REPLY", OPENCLAW_2026_5_28) == "Hello"
