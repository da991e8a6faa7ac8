"""What stands behind a summary, and how it is kept short (spec compaction 3.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.compaction.file_operations import (
    FileLists,
    FileOperations,
    bounded_file_section,
    collect_file_operations,
    file_lists,
    unbounded_file_section,
)
from compaction_app.engine.compaction.summary_cap import (
    TRUNCATED,
    append_section,
    assemble_suffix,
    cap_keeping_suffix,
    cap_summary,
)
from compaction_app.engine.compaction.tool_failures import tool_failures, tool_failures_section
from tests.engine.compaction.driving import assistant, result, user


def test_a_summary_is_cut_to_make_room_for_the_marker() -> None:
    assert cap_summary("x" * 100, 60) == "x" * 14 + TRUNCATED
    assert cap_summary("x" * 60, 60) == "x" * 60
    assert cap_summary("x" * 100, 10) == "x" * 10
    assert cap_summary("x" * 100, 0) == "x" * 100


def test_the_suffix_stays_whole_as_long_as_it_fits() -> None:
    assert cap_keeping_suffix("x" * 100, "y" * 30, 100) == "x" * 24 + TRUNCATED + "y" * 30
    assert cap_keeping_suffix("x" * 100, "y" * 70, 100) == "x" * 30 + "y" * 70
    assert cap_keeping_suffix("x", "ab" * 50, 10) == "ababababab"


@given(st.text(max_size=300), st.text(max_size=300), st.integers(1, 400))
def test_a_cap_holds_whatever_the_summary_and_the_suffix(body: str, suffix: str, cap: int) -> None:
    capped = cap_keeping_suffix(body, suffix, cap)
    assert len(capped.encode("utf-16-le", "surrogatepass")) // 2 <= cap


def test_sections_are_set_off_by_a_blank_line() -> None:
    assert append_section("  ", "\n\n## X") == "## X"
    assert assemble_suffix(("", "**T**", "\n\n## X")) == "\n\n**T**\n\n## X"
    assert assemble_suffix(("", "")) == ""


def test_a_failed_tool_is_named_once_with_status_and_exit_code() -> None:
    failed = result("a", "  no\n space ", isError=True, details={"status": "bad", "exitCode": 0})
    again = result("a", "again", isError=True)
    silent = result("b", "", isError=True, toolName=" ")
    section = tool_failures_section(tool_failures([failed, again, silent, result("c"), user()]))
    assert section == (
        "\n\n## Tool Failures\n- exec (status=bad exitCode=0): no space\n- tool: failed (no output)"
    )


def test_long_failures_are_cut_and_those_beyond_eight_counted() -> None:
    failures = tool_failures([result(str(i), "e" * 300, isError=True) for i in range(10)])
    section = tool_failures_section(failures)
    assert failures[0].summary == "e" * 237 + "..."
    assert section.endswith("- ...and 2 more")


def test_file_operations_are_those_of_three_tools_with_a_path() -> None:
    call = {"type": "toolCall", "id": "x"}
    message = {
        **assistant(),
        "content": [
            {**call, "name": "read", "arguments": {"path": "/a"}},
            {**call, "name": "edit", "arguments": {"path": "/b"}},
            {**call, "name": "write", "arguments": {"file": "/c"}},
            {**call, "name": "apply_patch", "arguments": {"path": "/d"}},
        ],
    }
    found = collect_file_operations([message], None)
    assert found == FileOperations(read=("/a",), edited=("/b",))


def test_file_lists_of_the_last_compaction_are_inherited_unless_a_hook_wrote_them() -> None:
    previous = {"details": {"readFiles": ["/r"], "modifiedFiles": ["/m"]}}
    assert collect_file_operations([], previous) == FileOperations(("/r",), (), ("/m",))
    assert collect_file_operations([], {**previous, "fromHook": True}) == FileOperations()


def test_a_changed_file_is_not_listed_as_read() -> None:
    lists = file_lists(FileOperations(read=("/b", "/a"), written=("/b",), edited=("/c",)))
    assert lists == FileLists(("/a",), ("/b", "/c"))
    assert unbounded_file_section(lists) == (
        "\n\n<read-files>\n/a\n</read-files>\n\n<modified-files>\n/b\n/c\n</modified-files>"
    )


@pytest.mark.parametrize("count", [1, 22, 60])
def test_a_file_list_never_exceeds_900_characters(count: int) -> None:
    lists = FileLists(tuple(f"/some/long/path/of/a/file/number/{i}" for i in range(count)), ())
    section = bounded_file_section(lists)
    assert len(section) - 2 <= 900
    assert ("more" in section) is (count == 60)
