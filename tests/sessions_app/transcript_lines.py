"""Building blocks of transcripts for tests, and a strategy for broken ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

TIME = "2026-01-01T00:00:04.000Z"
HEADER: dict[str, Any] = {
    "type": "session",
    "version": 3,
    "id": "s",
    "timestamp": TIME,
    "cwd": "/w",
}


def entry(
    entry_id: str, parent: str | None, kind: str = "message", **fields: Any
) -> dict[str, Any]:
    return {"type": kind, "id": entry_id, "parentId": parent, "timestamp": TIME, **fields}


def user(entry_id: str, parent: str | None, text: str = "hi") -> dict[str, Any]:
    return entry(entry_id, parent, message={"role": "user", "content": text})


def assistant(entry_id: str, parent: str | None, text: str = "yes") -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "provider": "p", "model": "m"}
    return entry(entry_id, parent, message=message)


def compaction(entry_id: str, parent: str | None, kept: str) -> dict[str, Any]:
    fields = {"summary": "S", "firstKeptEntryId": kept, "tokensBefore": 9}
    return entry(entry_id, parent, "compaction", **fields)


IDS = st.sampled_from(["a", "b", "c", "d", "", " ", "\ud800", "root"])
TYPES = st.sampled_from(
    [
        "message",
        "compaction",
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "leaf",
        "model_change",
        "session",
        "session_info",
        "thinking_level_change",
        "odd",
    ]
)
ROLES = st.sampled_from(
    [
        "user",
        "assistant",
        "toolResult",
        "custom",
        "bashExecution",
        "hookMessage",
        "compactionSummary",
        "branchSummary",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | IDS
ANY_JSON = (
    SCALARS
    | st.lists(SCALARS, max_size=2)
    | st.dictionaries(st.sampled_from(["type", "text", "id", "role"]), SCALARS, max_size=2)
)
BLOCKS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "thinking", "image", "toolCall", "odd", "", 5])},
        optional=dict.fromkeys(
            ("text", "thinking", "data", "mimeType", "id", "name", "arguments"), ANY_JSON
        ),
    )
    | ANY_JSON,
    max_size=3,
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "role": ROLES | ANY_JSON,
        "content": st.text(max_size=4) | BLOCKS | ANY_JSON,
        **dict.fromkeys(("toolCallId", "toolName", "isError", "customType", "summary", "command", "output", "exitCode", "cancelled", "truncated", "fullOutputPath", "excludeFromContext", "timestamp", "provider", "model"), ANY_JSON),
    },
)  # fmt: skip
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "type": TYPES | ANY_JSON,
        "id": IDS | ANY_JSON,
        "parentId": IDS | ANY_JSON,
        "timestamp": st.just(TIME) | ANY_JSON,
        "version": st.sampled_from([1, 2, 3, 4, "2", None, 2.5]),
        "message": MESSAGES | ANY_JSON,
        "firstKeptEntryId": IDS | ANY_JSON,
        "firstKeptEntryIndex": st.integers(-2, 6) | ANY_JSON,
        "summary": ANY_JSON,
        "tokensBefore": ANY_JSON,
        "fromId": IDS | ANY_JSON,
        "targetId": IDS | ANY_JSON,
        "customType": ANY_JSON,
        "content": ANY_JSON,
        "display": ANY_JSON,
        "thinkingLevel": ANY_JSON,
    },
)
FILES = st.lists(ENTRIES | ANY_JSON, max_size=7).flatmap(
    lambda lines: st.sampled_from([lines, [HEADER, *lines], [{**HEADER, "version": 1}, *lines]])
)
