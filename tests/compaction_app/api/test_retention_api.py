"""The API about what compactions lost."""

from __future__ import annotations

import pytest

from sessions_app import masking
from tests.api_client import api_of
from tests.compaction_app.forgetful import RULES, forgetful
from tests.conftest import Person
from tests.engine.builders import text_of

pytestmark = pytest.mark.django_db


def test_every_compaction_with_what_it_lost(alice: Person) -> None:
    session = alice.imports(text_of(forgetful().entries).encode())
    got = api_of(alice.team).get(f"/sessions/{session.uuid}/retention?limit=2")
    first, second = got["compactions"]
    assert (first["number"], second["number"]) == (1, 2)
    assert first["byKind"]["constraint"]["lost"] == 3
    assert [lost["text"] in RULES for lost in first["lost"]] == [True, True]
    assert first["codes"] == ["CONSTRAINT_LOST", "IDENTIFIER_LOST", "FLUSH_DID_NOT_COVER"]
    assert first["lostNotListed"] > 0 and "upper bound" in first["note"]
    assert first["memoryFiles"] == ["memory/2026-12-01.md"] and first["readBackInEntry"] == 20


def test_texts_are_masked(alice: Person) -> None:
    session = alice.imports(text_of(forgetful().entries).encode())
    rule = masking.register(lambda shown: shown.replace("legacy_invoices", "•••"))
    try:
        got = api_of(alice.team).get(f"/sessions/{session.uuid}/retention")
        assert "legacy_invoices" not in str(got) and "•••" in str(got)
    finally:
        masking.unregister(rule)


def test_another_teams_session_is_not_there(alice: Person, bob: Person) -> None:
    session = alice.imports(text_of(forgetful().entries).encode())
    status, _ = api_of(bob.team).call("GET", f"/sessions/{session.uuid}/retention")
    assert status == 404
