"""The verdict on what compactions lost: raised, and not raised on a session that keeps what matters."""

from __future__ import annotations

from pathlib import Path

import pytest

from compaction_app.diagnosis import diagnose
from compaction_app.engine.diagnose import Finding
from tests.compaction_app.forgetful import RULES, forgetful, mindful
from tests.engine.builders import Script, text_of

CODES = {"CONSTRAINT_LOST", "IDENTIFIER_LOST", "FLUSH_DID_NOT_COVER"}


def found(script: Script, folder: Path) -> dict[str, Finding]:
    path = folder / "s.jsonl"
    path.write_text(text_of(script.entries), encoding="utf-8")
    return {finding.code: finding for finding in diagnose([path]) if finding.code in CODES}


def test_a_lost_constraint_is_named(tmp_path: Path) -> None:
    finding = found(forgetful(), tmp_path)["CONSTRAINT_LOST"]
    assert finding.severity == "grave" and RULES[0] in finding.consequence
    assert (finding.numbers["constraints"], finding.numbers["compactions"]) == (3, 1)
    assert finding.line == 20


def test_a_lost_identifier_is_named_when_it_was_needed_again(tmp_path: Path) -> None:
    finding = found(forgetful(), tmp_path)["IDENTIFIER_LOST"]
    assert finding.severity == "warn"
    assert finding.numbers["first"] == "9fceb02ab1c2" and finding.numbers["usedInEntry"] == 19


def test_a_flush_that_saved_too_little(tmp_path: Path) -> None:
    finding = found(forgetful(), tmp_path)["FLUSH_DID_NOT_COVER"]
    assert finding.severity == "warn" and finding.numbers["saved"] == 0


def test_a_flush_that_saved_the_constraints(tmp_path: Path) -> None:
    saved = "\n".join([*RULES, "I chose logical replication because a dump locks the tables."])
    assert "CONSTRAINT_LOST" not in found(forgetful(saved), tmp_path)
    assert "FLUSH_DID_NOT_COVER" not in found(forgetful(saved), tmp_path)


def test_nothing_is_said_of_a_session_whose_summaries_keep_what_matters(tmp_path: Path) -> None:
    assert found(mindful(), tmp_path) == {}


@pytest.mark.parametrize("said", ["Thanks, that is fine.", "谢谢，一切正常。"])
def test_nothing_is_said_where_nothing_was_to_be_kept(said: str, tmp_path: Path) -> None:
    script = Script()
    for _ in range(6):
        script.user(said).answer(prompt=500)
    script.compaction("e10", "## Goal\nNothing.")
    assert found(script.user(said).answer(prompt=300), tmp_path) == {}
