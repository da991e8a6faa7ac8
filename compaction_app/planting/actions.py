"""File actions, errors and asks as transcripts of agents hold them, and what only looks like them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final

from compaction_app.planting.identifiers import MAKERS
from compaction_app.planting.plant import Part, Plant, answered, called, of_part, spoken
from sessions_app.tokens import javascript as js

ACTIONS: Final = (
    "read path", "write path", "edit path", "read file_path", "write file_path", "str_replace path", "create_file path",
    "delete_file path", "exec rm {x}", "bash cat {x}", "exec rm -rf {x}", "bash sed -i 's/a/b/' {x}", "exec touch {x}",
    "bash echo hello > {x}", "exec ls && rm {x}", "view path", "multi_edit file_path", "bash head -n 20 {x}", "apply_edit path",
    "exec cd /srv && cat {x} | wc -l", "bash git rm {x}", "exec echo more >> {x}", "exec cp one.txt {x}", "bash tail -f {x}",
)  # fmt: skip
"""A tool with the argument that names the file, or with a command."""

NO_ACTIONS: Final = (
    "ls path", "grep path", "find path", "exec ls {x}", "bash echo rm {x}", "exec test -f {x}", "bash grep -r key {x}",
    "exec stat {x}", "bash du -h {x}", "exec make 2>&1", "bash echo 'cat {x}'", "glob path", "exec which {x}", "bash diff {x} {x}",
)  # fmt: skip
ERRORS: Final = (
    'Traceback (most recent call last):\n  File "run", line 3\nValueError: {name} is not a number',
    "error: cannot open {name} for writing",
    "fatal: not a repository: {name}",
    "/bin/sh: {name}: command not found",
    "npm ERR! missing script: {name}",
    "cat: {name}: No such file or directory",
    "Permission denied ({name})",
    "{name}: connection refused",
    "Error: listen EADDRINUSE, {name} holds the port",
    "TypeError: {name} is not a function\n    at main",
    "building {name}\nFAILED: 3 of 12 steps failed in {name}",
    "Request to {name} timed out",
    "AssertionError: expected {name}",
    "E: Unable to locate package {name}",
    "panic: runtime error in {name}",
    "错误：找不到 {name}",
    "连接 {name} 失败",
    "HTTP 503 from {name}",
)
NO_ERRORS: Final = (
    "0 errors, 0 warnings in {name}",
    "no error in {name}",
    "the docs of {name} say: Error handling",
    "retried {name}, failed 0 times",
    "class ValueError is defined in {name}",
    "{name}: all tests passed",
    "grep found: fatal: {name}",
    "没有错误：{name}",
    "error_log {name};",
    "exit code 0 of {name}",
)
ASKS: Final = (
    "Could you look into the slow {name} page?", "Now the same for {name}, please.", "What does {name} do on Mondays?",
    "Summarise the changes of {name}.", "请检查 {name} 的导出。", "{name} 为什么变慢了？", "Show me the totals of {name}.",
    "Add a column for {name} to the report.", "Compare {name} with last week.", "把 {name} 的结果发给我。",
)  # fmt: skip
NO_ASKS: Final = (
    "I looked into the {name} page.", "The totals of {name} are below.", "{name} 的导出没有问题。", "Here are the changes of {name}.",
    "Compared {name} with last week.", "I added the column for {name}.",
)  # fmt: skip
NAMES: Final = (
    "ledger", "harbor", "invoices", "quartz", "willow", "billing", "importer", "tenants", "exports", "mailer", "crawler",
    "planner", "archive", "journal", "vouchers", "catalog", "legacy_orders",
)  # fmt: skip


def named(wording: str, random: Random) -> str:
    """A wording with its gaps filled."""
    path = MAKERS["path"](random).replace("\\", "/")
    return (
        wording.replace("{name}", random.choice(NAMES))
        .replace("{path}", path)
        .replace("{number}", str(random.randint(3, 90)))
    )


def action_plants(part: Part, random: Random) -> Iterator[Plant]:
    """Facts and decoys that are not words alone: what was done, what failed, what was asked."""
    for form in of_part(ACTIONS, part):
        yield _action(form, random, failed=False)
        yield _as_decoy(_action(form, random, failed=True))
    for form in of_part(NO_ACTIONS, part):
        yield _as_decoy(_action(form, random, failed=False))
    for text in of_part(ERRORS, part):
        yield _error(named(text, random), random, failed=True)
    for text in of_part(NO_ERRORS, part):
        yield _as_decoy(_error(named(text, random), random, failed=False))
    for text in of_part(ASKS, part):
        ask = named(text, random)
        yield Plant("ask", _language(ask), (spoken("user", ask),), ask, 0, 0, 0, len(ask))
    for text in of_part(NO_ASKS, part):
        said = named(text, random)
        yield Plant("ask", _language(said), (spoken("assistant", said),), None)


def _action(form: str, random: Random, *, failed: bool) -> Plant:
    tool, rest = form.split(" ", 1)
    path = MAKERS["path"](random).replace("\\", "/")
    arguments: dict[str, Any] = (
        {"command": rest.replace("{x}", path)} if " " in rest else {rest: path, "limit": 20}
    )
    identity = f"planted-{random.random()}"
    messages = (
        called(tool, arguments, identity),
        answered(tool, "not found" if failed else "done", identity, failed=failed),
    )
    start = max(js.json_text(arguments).find(path), 0)
    return Plant("file_action", "code", messages, path, 0, 0, start, start + len(path))


def _error(text: str, random: Random, *, failed: bool) -> Plant:
    identity = f"planted-{random.random()}"
    messages = (
        called("exec", {"command": f"run {random.random()}"}, identity),
        answered("exec", text, identity, failed=failed),
    )
    last = text.split("\n")[-1]
    line = text.split("\n")[0] if last.startswith(" ") else last
    start = text.index(line)
    return Plant("error", _language(text), messages, line, 1, 0, start, start + len(line))


def _as_decoy(plant: Plant) -> Plant:
    return Plant(plant.kind, plant.language, plant.messages, None)


def _language(text: str) -> str:
    return "en" if text.isascii() else "zh"
