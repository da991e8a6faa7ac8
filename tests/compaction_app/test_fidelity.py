"""The recording beside its audit: which compactions and flushes both have, at which call and size."""

from __future__ import annotations

import pytest
from django.test import Client

from compaction_app.fidelity import Fidelity, Happened, Pair, fidelity
from compaction_app.models import AuditedTurn
from compaction_app.runs import situation_of, timeline_for
from sessions_app.models import Session, Team
from tests.compaction_app.audited import audited
from tests.compaction_app.pages.test_turn import plain


def of(session: Session) -> Fidelity:
    situation = situation_of(session)
    found = fidelity(situation, timeline_for(situation))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "line", "apart"),
    [
        ("keep-small-32k", "3 of 3 compactions and 4 of 4 memory flushes at the same call", {0}),
        ("growth-96k-dense", "1 of 1 compactions and 1 of 1 memory flushes at the same call", {0}),
        ("growth-96k", "1 of 1 compactions at the same call", {0}),
        # The failed answer weighs a placeholder here that the running process did not count.
        ("overflow-recover", "2 of 2 compactions at the same call", {12}),
        ("flush-never-reserve", "nothing was recorded", set()),
    ],
)
def test_a_recorded_run_is_found_again_call_by_call_and_token_by_token(
    team: Team, name: str, line: str, apart: set[int]
) -> None:
    found = of(audited(team, name))

    assert found.line == line
    assert {pair.apart for pair in found.pairs if pair.kind == "compaction"} == apart
    assert found.is_whole == (apart <= {0})


def test_the_page_has_the_line_and_both_sides(team: Team, viewer: Client) -> None:
    session = audited(team, "keep-small-32k")

    text = plain(viewer.get(f"/sessions/{session.uuid}/").text)

    assert text.count("3 of 3 compactions and 4 of 4 memory flushes at the same call") == 2
    assert (
        "17 compaction before call 1 of the turn, 8,452 tokens before call 1 of the turn, 8,452 tokens 0 tokens"
        in text
    )


def test_it_says_where_both_part_and_by_how_much() -> None:
    here = Happened(3, "compaction", 2, 100)
    pairs = (
        Pair(3, "compaction", here, Happened(3, "compaction", 2, 90)),
        Pair(4, "compaction", here, Happened(4, "compaction", 1, 100)),
        Pair(5, "compaction", here, None),
        Pair(6, "compaction", None, here),
    )
    found = Fidelity(pairs)

    assert found.line == "1 of 3 compactions at the same call; 1 replayed that were not recorded"
    assert not found.is_whole
    assert [pair.apart for pair in pairs] == [-10, 0, None, None]


def test_the_page_says_where_they_part(team: Team, viewer: Client) -> None:
    """As it looks when the files do not tell under which settings the session ran."""
    session = audited(team, "keep-small-32k")
    AuditedTurn.objects.filter(number=25).update(first=None, last=None)

    text = plain(viewer.get(f"/sessions/{session.uuid}/").text)

    assert "2 of 3 compactions and 3 of 4 memory flushes at the same call" in text
    assert "25 compaction before call 1 of the turn, 8,233 tokens not replayed parts" in text


def test_without_an_audit_nothing_is_claimed(team: Team, viewer: Client) -> None:
    session = audited(team, "keep-small-32k")
    AuditedTurn.objects.all().delete()

    text = plain(viewer.get(f"/sessions/{session.uuid}/").text)

    assert "The audit of this session is not there yet" in text
    assert "at the same call" not in text
