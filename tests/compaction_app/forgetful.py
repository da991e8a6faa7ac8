"""A session whose compactions lose things, and one whose summaries keep them."""

from __future__ import annotations

from tests.engine.builders import FLUSH_TEXT, Script

RULES = (
    "Never touch the legacy_invoices table.",
    "在我确认之前不要部署 harbor-api。",
    "Only use the read replica at db-2.example.com:5432.",
)


def call(
    script: Script, name: str, identity: str, text: str, failed: bool = False, **given: str
) -> Script:
    """A tool call and its result."""
    block = {"type": "toolCall", "id": identity, "name": name, "arguments": given}
    script.message("assistant", [block], provider="mock", model="m", stopReason="toolUse")
    return script.message(
        "toolResult",
        [{"type": "text", "text": text}],
        toolCallId=identity,
        toolName=name,
        isError=failed,
    )


def say(script: Script, text: str) -> Script:
    return script.message(
        "assistant", [{"type": "text", "text": text}], provider="mock", model="m", stopReason="stop"
    )


def forgetful(flush: str = "- the migration goes on\n") -> Script:
    """Two compactions: the first keeps little of what was said, the second nothing of the first."""
    script = Script()
    script.user(" ".join(("Please migrate billing.", *RULES)))
    call(script, "read", "c1", "CREATE TABLE invoices ...", path="db/schema.sql")
    call(script, "edit", "c2", "changed", path="src/billing/export.py", oldText="a", newText="b")
    call(
        script,
        "exec",
        "c3",
        'make test\nerror: relation "vouchers" does not exist',
        failed=True,
        command="make test",
    )
    call(script, "exec", "c4", "ok", command="make test")
    say(
        script,
        "I chose logical replication because a dump locks the tables. I'll drop the old queue after the release.",
    )
    script.user("The ticket is OPS-4412, the build was 9fceb02ab1c2 on 2.13.4-rc.1.")
    say(script, "Noted: OPS-4412. TODO: add the index on invoices.")
    script.user(FLUSH_TEXT)
    call(script, "write", "c5", "Appended.", path="memory/2026-12-01.md", content=flush)
    say(script, "NO_REPLY")
    kept = len(script.entries)
    script.user("Go on, please.")
    say(script, "Going on.")
    script.compaction(
        f"e{kept}",
        "## Goal\nMigrate billing.\n\n## Files\n- src/billing/export.py\n\n## Ticket\nOPS-4412",
    )
    script.user("Which build was it? I mean 9fceb02ab1c2.")
    call(script, "read", "c6", flush, path="memory/2026-12-01.md")
    say(script, "Yes, 9fceb02ab1c2 it was.")
    kept = len(script.entries)
    script.user("Thanks.")
    say(script, "You are welcome.")
    script.compaction(f"e{kept}", "## Goal\nMigrate billing.")
    script.user("What is next?")
    return say(script, "The exports.")


def mindful() -> Script:
    """The same, but summary and memory file hold what matters."""
    script = forgetful("\n".join(f"- {rule}" for rule in RULES))
    said = [
        "## Constraints/Rules", *(f"- {rule}" for rule in RULES),
        "## Decisions", "- logical replication, because a dump locks the tables",
        "## Open TODOs", "- drop the old queue after the release", "- add the index on invoices",
        "## Exact identifiers", "- OPS-4412", "- 9fceb02ab1c2", "- 2.13.4-rc.1", "- src/billing/export.py", "- db/schema.sql",
    ]  # fmt: skip
    for entry in script.entries:
        if entry["type"] == "compaction":
            entry["summary"] = "\n".join(said)
    return script
