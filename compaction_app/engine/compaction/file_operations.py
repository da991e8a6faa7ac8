"""Which files the summarised messages read and changed (spec compaction 2, 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction_app.engine.compaction.message_text import Message
from compaction_app.engine.compaction.summary_cap import cap_summary
from sessions_app.tokens import javascript as js

MAX_SECTION_CHARS = 2000
MAX_LIST_CHARS = 900


@dataclass(frozen=True, slots=True)
class FileOperations:
    """Paths by what was done to them, each once, in the order they were met."""

    read: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileLists:
    """Files that were only read, and files that were changed; both sorted."""

    read_files: tuple[str, ...]
    modified_files: tuple[str, ...]

    @property
    def details(self) -> dict[str, list[str]]:
        """As a compaction entry keeps them in ``details``."""
        return {"readFiles": list(self.read_files), "modifiedFiles": list(self.modified_files)}


def collect_file_operations(
    messages: Iterable[Message], previous: Mapping[str, Any] | None
) -> FileOperations:
    """The calls of ``read``, ``write`` and ``edit`` with a path, after those of the last compaction.

    ``previous`` is the last compaction entry. Its lists are inherited unless a hook wrote them: the
    lists of a safeguard compaction never are.
    """
    found: dict[str, dict[str, None]] = {"read": {}, "write": {}, "edit": {}}
    if previous is not None and not previous.get("fromHook"):
        details = previous.get("details")
        if isinstance(details, Mapping):
            found["read"].update(dict.fromkeys(_paths(details.get("readFiles"))))
            found["edit"].update(dict.fromkeys(_paths(details.get("modifiedFiles"))))
    for name, path in _file_calls(messages):
        found[name][path] = None
    return FileOperations(tuple(found["read"]), tuple(found["write"]), tuple(found["edit"]))


def file_lists(operations: FileOperations) -> FileLists:
    modified = {*operations.edited, *operations.written}
    read_only = set(operations.read) - modified
    return FileLists(
        tuple(sorted(read_only, key=js.utf16_sort_key)),
        tuple(sorted(modified, key=js.utf16_sort_key)),
    )


def unbounded_file_section(lists: FileLists) -> str:
    """Both lists whole, as a compaction without the safeguard appends them."""
    return _section(lists, lambda tag, files: "\n".join((f"<{tag}>", *files, f"</{tag}>")))


def bounded_file_section(lists: FileLists, *, blank_line: bool = True) -> str:
    """Both lists, each cut to 900 characters with the number of files left out.

    ``blank_line``: whether one stands before the end of a list, as it did before 2026.9.
    """

    def written(tag: str, files: Sequence[str]) -> str:
        return _bounded_list(tag, files, f"\n</{tag}>" if blank_line else f"</{tag}>")

    return cap_summary(_section(lists, written), MAX_SECTION_CHARS)


def _section(lists: FileLists, written: Callable[[str, Sequence[str]], str]) -> str:
    tagged = (("read-files", lists.read_files), ("modified-files", lists.modified_files))
    return "".join(f"\n\n{written(tag, files)}" for tag, files in tagged if files)


def _bounded_list(tag: str, files: Sequence[str], closing: str) -> str:
    opening = f"<{tag}>\n"
    used = len(opening) + len(closing)
    lines: list[str] = []
    for index, path in enumerate(files):
        line = f"{path}\n"
        after = len(files) - index - 1
        needed = js.utf16_len(line) + (len(_more(after)) if after else 0)
        if used + needed > MAX_LIST_CHARS:
            if used + len(_more(after + 1)) <= MAX_LIST_CHARS:
                lines.append(_more(after + 1))
            break
        lines.append(line)
        used += js.utf16_len(line)
    return opening + "".join(lines) + closing


def _more(count: int) -> str:
    return f"...and {count} more\n"


def _paths(value: Any) -> Iterator[str]:
    return (
        (path for path in value if isinstance(path, str)) if isinstance(value, list) else iter(())
    )


def _file_calls(messages: Iterable[Message]) -> Iterator[tuple[str, str]]:
    for message in messages:
        content = message.get("content")
        if message.get("role") != "assistant" or not isinstance(content, list):
            continue
        for block in content:
            if not isinstance(block, Mapping) or block.get("type") != "toolCall":
                continue
            name, arguments = block.get("name"), block.get("arguments")
            path = arguments.get("path") if isinstance(arguments, Mapping) else None
            if name in ("read", "write", "edit") and isinstance(path, str) and path:
                yield name, path
