"""Which workspace files a run sees (spec compaction 5.1)."""

from __future__ import annotations

import pytest

from compaction_app.engine.composition.bootstrap_files import WorkspaceFile
from compaction_app.engine.composition.file_selection import (
    LOAD_ORDER,
    LeftOut,
    files_for_mode,
    files_for_session,
    select_files,
)

ALL = [WorkspaceFile(name, f"/w/{name}") for name in LOAD_ORDER]


@pytest.mark.parametrize(
    ("key", "names"),
    [
        (None, set(LOAD_ORDER)),
        ("agent:main:main", set(LOAD_ORDER)),
        ("agent:main:subagent:x", {"AGENTS.md", "TOOLS.md"}),
        ("subagent:x", {"AGENTS.md", "TOOLS.md"}),
        ("agent:main:cron:job", {"AGENTS.md", "TOOLS.md", "SOUL.md", "IDENTITY.md", "USER.md"}),
    ],
)
def test_the_kind_of_session_decides_which_files_it_sees(key: str | None, names: set[str]) -> None:
    assert {f.name for f in files_for_session(ALL, key)} == names


def test_a_lightweight_run_sees_no_files_but_a_heartbeat_its_own() -> None:
    assert files_for_mode(ALL, "lightweight", "default") == ()
    assert [f.name for f in files_for_mode(ALL, "lightweight", "heartbeat")] == ["HEARTBEAT.md"]
    assert files_for_mode(ALL, "full", "cron") == tuple(ALL)


def test_every_file_left_out_has_a_reason() -> None:
    odd = [
        WorkspaceFile("A.md", " "),
        WorkspaceFile("B.md", "/w/USER.md"),
        WorkspaceFile("MEMORY.md", "/m", missing=True),
    ]
    found = select_files([*ALL, *odd], setup_completed=True, heartbeat_guidance=False)
    assert found.left_out == (
        LeftOut("HEARTBEAT.md", "heartbeat_guidance_off"),
        LeftOut("BOOTSTRAP.md", "setup_completed"),
        LeftOut("A.md", "no_path"),
        LeftOut("B.md", "duplicate_path"),
        LeftOut("MEMORY.md", "not_there"),
    )
    assert len(found.files) == len(ALL) - 2


def test_a_heartbeat_sees_its_file_without_guidance_and_a_missing_file_stays() -> None:
    missing = [WorkspaceFile("SOUL.md", "/w/SOUL.md", missing=True), *ALL[5:6]]
    found = select_files(missing, run_kind="heartbeat", heartbeat_guidance=False)
    assert found.files == tuple(missing)
    light = select_files(ALL, session_key="agent:a:subagent:b", context_mode="lightweight")
    assert {left.reason for left in light.left_out} == {"session_kind", "context_mode"}
