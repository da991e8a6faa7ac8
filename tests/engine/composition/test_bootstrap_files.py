"""Workspace files in the prompt, their budgets, and the report of them (spec compaction 5.2, 5.3)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.composition.bootstrap_files import (
    InjectedFile,
    Injection,
    WorkspaceFile,
    inject_files,
)
from compaction_app.engine.composition.bootstrap_limits import (
    LIMITS_2026_3,
    LIMITS_2026_4_20,
    LIMITS_2026_5_28,
    BootstrapLimits,
    bootstrap_limits,
)
from compaction_app.engine.composition.bootstrap_report import (
    analyse,
    bootstrap_warning,
    file_stats,
    signatures_seen,
    with_warning,
)
from compaction_app.engine.composition.bootstrap_trim import TRIM_2026_5_28


def file(name: str, size: int) -> WorkspaceFile:
    return WorkspaceFile(name, f"/w/{name}", "x" * size)


def inject(files: list[WorkspaceFile], per_file: int, total: int) -> Injection:
    return inject_files(files, per_file, total, LIMITS_2026_5_28, TRIM_2026_5_28)


def test_the_total_is_spent_file_by_file_and_the_record_says_on_what() -> None:
    missing = WorkspaceFile("B.md", "/w/B.md", missing=True)
    nowhere = WorkspaceFile("C.md", " ", "x")
    found = inject(
        [file("A.md", 100), missing, nowhere, file("D.md", 900), file("E.md", 9)], 500, 700
    )
    assert [(r.name, r.outcome) for r in found.records] == [
        ("A.md", "whole"), ("B.md", "missing"), ("C.md", "no_path"), ("D.md", "truncated"),
        ("E.md", "whole"),
    ]  # fmt: skip
    assert found.files[1].content == "[MISSING] Expected at: /w/B.md"


def test_less_than_64_characters_left_end_the_injection() -> None:
    found = inject([file("A.md", 100), file("B.md", 100)], 100, 163)
    assert [r.outcome for r in found.records] == ["whole", "no_budget"]
    assert "remaining bootstrap budget is 63 chars" in found.warnings[0]


@given(st.lists(st.integers(0, 500), max_size=8), st.integers(1, 400), st.integers(1, 900))
def test_what_is_injected_never_exceeds_the_limits(
    sizes: list[int], per_file: int, total: int
) -> None:
    files = [file(f"F{i}.md", size) for i, size in enumerate(sizes)]
    found = inject(files, per_file, total)
    assert sum(len(f.content) for f in found.files) <= total
    assert all(len(f.content) <= per_file for f in found.files)


def test_an_agent_s_own_limits_count_since_the_newest_version() -> None:
    defaults = {"bootstrapMaxChars": 5000.9, "bootstrapPromptTruncationWarning": "bad"}
    own = [{"id": "A", "bootstrapMaxChars": 77}]
    config = {"agents": {"defaults": defaults, "list": own}}
    assert bootstrap_limits(config, "a", LIMITS_2026_5_28) == BootstrapLimits(77, 60_000, "always")
    assert bootstrap_limits(config, "a", LIMITS_2026_4_20) == BootstrapLimits(5000, 60_000, "once")
    assert bootstrap_limits({}, None, LIMITS_2026_3) == BootstrapLimits(20_000, 150_000, "once")


def test_a_warning_names_three_files_and_counts_the_others() -> None:
    files = [file(f"F{i}.md", 1000) for i in range(5)]
    stats = file_stats(files, [InjectedFile(f.path, "x" * 100) for f in files])
    found = analyse(stats, 500, 60_000)
    warning = bootstrap_warning(found, "always")
    assert warning.lines[0] == "F0.md: 1000 raw -> 100 injected (~90% removed; max/file)."
    assert warning.lines[3] == "+2 more truncated file(s)."
    assert with_warning("P", warning.lines).startswith("P\n\n[Bootstrap truncation warning]\n")


def test_a_warning_once_is_not_repeated_while_the_same_is_cut() -> None:
    files = [file("A.md", 1000)]
    found = analyse(file_stats(files, [InjectedFile("/w/A.md", "x")]), 500, 60_000)
    first = bootstrap_warning(found, "once")
    again = bootstrap_warning(found, "once", first.seen)
    assert (first.shown, again.shown, again.seen) == (True, False, first.seen)
    off = bootstrap_warning(found, "off")
    assert (off.shown, off.seen) == (False, ())
    assert signatures_seen({"bootstrapTruncation": {"promptWarningSignature": "s"}}) == ("s",)


def test_nothing_cut_gives_neither_signature_nor_warning() -> None:
    found = analyse(file_stats([file("A.md", 9)], [InjectedFile("/w/A.md", "x" * 9)]), 10, 100)
    warning = bootstrap_warning(found, "always")
    assert (warning.signature, warning.shown, found.near) == (None, False, ("A.md",))
