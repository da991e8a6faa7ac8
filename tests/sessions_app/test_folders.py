"""What lies in a folder, and what belongs together."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.folders import Bundle, beside, bundles, is_known_name, walk

STATE = (
    "openclaw.json",
    "agents/main/sessions/sessions.json",
    "agents/main/sessions/one.jsonl",
    "agents/main/sessions/one.trajectory.jsonl",
    "agents/main/sessions/two.jsonl",
    "agents/helper/sessions/sessions.json",
    "agents/helper/sessions/three.jsonl",
    "agents/main/agent/models.json",
    "memory/notes.md",
)


@pytest.fixture
def state_folder(tmp_path: Path) -> Path:
    for name in STATE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def test_only_known_names_are_looked_at_in_a_stable_order(state_folder: Path) -> None:
    assert [p.relative_to(state_folder).as_posix() for p in walk(state_folder)] == [
        "agents/helper/sessions/sessions.json",
        "agents/helper/sessions/three.jsonl",
        "agents/main/sessions/one.jsonl",
        "agents/main/sessions/sessions.json",
        "agents/main/sessions/two.jsonl",
        "openclaw.json",
    ]


def test_a_file_is_itself_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.touch()
    assert list(walk(path)) == [path]


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("a/b.jsonl", True),
        ("openclaw.json", True),
        ("x/sessions.json", True),
        ("b.trajectory.jsonl", False),
        ("b.json", False),
        ("b.jsonl.bak", False),
    ],
)
def test_known_names(name: str, known: bool) -> None:
    assert is_known_name(name) is known


def test_each_agent_of_a_state_folder_is_a_bundle_with_the_configuration_above() -> None:
    names = [name for name in STATE if is_known_name(name)]
    assert bundles(names) == [
        Bundle(
            "helper",
            "openclaw.json",
            "agents/helper/sessions/sessions.json",
            ("agents/helper/sessions/three.jsonl",),
        ),
        Bundle(
            "main",
            "openclaw.json",
            "agents/main/sessions/sessions.json",
            ("agents/main/sessions/one.jsonl", "agents/main/sessions/two.jsonl"),
        ),
    ]


def test_a_folder_of_files_is_named_after_itself() -> None:
    names = ["runs/a/openclaw.json", "runs/a/sessions.json", "runs/a/x.jsonl"]
    assert bundles(names) == [
        Bundle("a", "runs/a/openclaw.json", "runs/a/sessions.json", ("runs/a/x.jsonl",))
    ]


def test_a_configuration_of_another_folder_is_not_taken() -> None:
    found = bundles(["a/openclaw.json", "b/x.jsonl"])
    assert Bundle("", "", "", ("b/x.jsonl",)) in found
    assert Bundle("a", "a/openclaw.json", "", ()) in found


def test_files_without_anything_beside_them_have_no_agent() -> None:
    assert bundles(["x.jsonl", "y.jsonl"]) == [Bundle("", "", "", ("x.jsonl", "y.jsonl"))]


def test_uploads_without_folders_belong_together() -> None:
    names = ["x.jsonl", "sessions.json", "openclaw.json"]
    assert bundles(names) == [Bundle("main", "openclaw.json", "sessions.json", ("x.jsonl",))]


PARTS = st.sampled_from(["agents", "main", "sessions", "x.jsonl", "openclaw.json", "sessions.json"])


@given(st.lists(st.lists(PARTS, min_size=1, max_size=5).map("/".join), unique=True))
def test_every_file_is_in_exactly_one_place(names: list[str]) -> None:
    found = bundles(names)
    transcripts = [name for bundle in found for name in bundle.transcripts]
    beside_them = {part for bundle in found for part in (bundle.config, bundle.index) if part}
    assert len(transcripts) == len(set(transcripts))
    assert set(transcripts) | beside_them == set(names)


def test_a_single_transcript_brings_what_lies_near_it(state_folder: Path) -> None:
    found = beside(state_folder / "agents/main/sessions/one.jsonl")
    assert [p.relative_to(state_folder).as_posix() for p in found] == [
        "agents/main/sessions/sessions.json",
        "openclaw.json",
    ]
    assert list(beside(state_folder / "memory/x.jsonl")) == []
