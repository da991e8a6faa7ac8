"""Facts planted in transcripts stand where they are said to stand, and are found there."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from compaction_app.engine.retention.anchors import KINDS, RULES_VERSION
from compaction_app.planting.plant import PARTS, Plant
from compaction_app.planting.planting import plant_in, plants
from compaction_app.planting.published import as_markdown, published
from compaction_app.planting.score import GOAL, calibrate
from compaction_app.planting.wordings import wordings_of
from sessions_app.tokens import javascript as js

SAMPLE = Path(settings.BASE_DIR) / "sessions_app/samples/openclaw-1-large-tool-results.jsonl"


def messages() -> list[dict[str, Any]]:
    records = map(json.loads, SAMPLE.read_text(encoding="utf-8").splitlines())
    return [record["message"] for record in records if record["type"] == "message"]


def block_text(plant: Plant) -> str:
    block = plant.messages[plant.at]["content"][plant.block]
    return str(block["text"]) if block["type"] == "text" else js.json_text(block["arguments"])


@pytest.mark.parametrize("part", PARTS)
def test_a_planted_fact_stands_at_its_characters(part: Any) -> None:
    made = [plant for plant in plants(part, 3, 1) if plant.text is not None]
    assert {plant.kind for plant in made} == set(KINDS)
    for plant in made:
        assert block_text(plant)[plant.start : plant.end] == plant.text


def test_planting_changes_no_message_of_the_transcript() -> None:
    own = messages()
    planted = plant_in(own, plants("build", 1, 1)[:50], Random(1))
    assert [planted.messages[number] for number in sorted(planted.own)] == own
    assert len(planted.places) == 50
    for plant, place in planted.places:
        assert planted.messages[place : place + len(plant.messages)] == plant.messages


def test_the_parts_share_no_wording() -> None:
    build, held_out = wordings_of("build"), wordings_of("held out")
    for kind, pair in held_out.statements.items():
        for mine, theirs in zip(pair, build.statements[kind], strict=True):
            for language, said in mine.items():
                assert len(set(said)) == len(said)
                assert not set(said) & set(theirs[language])


def test_the_held_out_part_meets_the_goal() -> None:
    done = calibrate([messages()], "held out", 7, 1)
    for kind in KINDS:
        for score in (done.extraction[kind], done.matching[kind]):
            assert min(score.precision, score.recall) >= GOAL, (kind, score.examples[:5])


def test_the_published_figures_are_those_of_these_rules_and_meet_the_goal() -> None:
    told = published()
    assert told["rulesVersion"] == RULES_VERSION and told["part"] == "held out"
    assert set(told["kinds"]) == set(KINDS)
    for figures in told["kinds"].values():
        for step in ("extraction", "matching"):
            assert min(figures[step]["precision"], figures[step]["recall"]) >= GOAL


def test_the_documentation_shows_the_published_figures() -> None:
    page = Path(settings.BASE_DIR) / "docs" / "retention.md"
    assert as_markdown() in page.read_text(encoding="utf-8")
    assert doctest.testfile(str(page), module_relative=False).failed == 0


def test_anybody_can_run_it(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("calibrate_retention", str(SAMPLE), "--rounds=1", "--json", "--part=build")
    told = json.loads(capsys.readouterr().out)
    assert told["transcripts"] == [SAMPLE.name]
    assert told["kinds"]["uuid"]["extraction"]["right"] > 10


def test_it_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("calibrate_retention", str(SAMPLE), "--rounds=1", "--part=build")
    assert "precision" in capsys.readouterr().out


def test_a_file_that_is_no_transcript_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("calibrate_retention", str(tmp_path / "none.jsonl"))
    (tmp_path / "other.txt").write_text("hello")
    with pytest.raises(CommandError, match=r"other\.txt"):
        call_command("calibrate_retention", str(tmp_path / "other.txt"))
