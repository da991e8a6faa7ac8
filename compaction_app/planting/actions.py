"""File actions, errors and asks as transcripts of agents hold them, and what only looks like them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final

from compaction_app.planting.identifiers import MAKERS
from compaction_app.planting.plant import Plant, answered, called, spoken
from compaction_app.planting.wordings import Wordings
from sessions_app.tokens import javascript as js

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


def action_plants(wordings: Wordings, random: Random) -> Iterator[Plant]:
    """Facts and decoys that are not words alone: what was done, what failed, what was asked."""
    for form in wordings.actions:
        yield _action(form, random, failed=False)
        yield _as_decoy(_action(form, random, failed=True))
    for form in wordings.no_actions:
        yield _as_decoy(_action(form, random, failed=False))
    for text in wordings.errors:
        yield _error(named(text, random), random, failed=True)
    for text in wordings.no_errors:
        yield _as_decoy(_error(named(text, random), random, failed=False))
    for text in wordings.asks:
        ask = named(text, random)
        yield Plant("ask", _language(ask), (spoken("user", ask),), ask, 0, 0, 0, len(ask))
    for text in wordings.no_asks:
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
