"""What ``/context`` answers: the parts of the prompt and their sizes (spec compaction 5.7)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compaction_app.engine.composition.bootstrap_limits import LIMITS_2026_5_28
from compaction_app.engine.composition.bootstrap_report import FileStats, analyse
from compaction_app.engine.config_value import value_at
from sessions_app.tokens import javascript as js

CHARS_PER_TOKEN = 4
MAX_SKILL_NAMES = 20
MAX_TOOL_NAMES = 30
MAX_RANKED = 30

HELP = """🧠 /context

What counts as context (high-level), plus a breakdown mode.

Try:
- /context list   (short breakdown)
- /context detail (per-file + per-tool + per-skill + system prompt size)
- /context map    (WinDirStat-style treemap image)
- /context json   (same, machine-readable)

Inline shortcut = a command token inside a normal message (e.g. “hey /status”). It runs immediately \
(allowlisted senders only) and is stripped before the model sees the remaining text."""
UNKNOWN = (
    "Unknown /context mode.\n"
    "Use: /context, /context list, /context detail, /context map, or /context json"
)
NO_MAP = (
    "Context treemap unavailable.\nNo actual run context is cached for this session yet.\n"
    "Send a normal message, then run /context map again."
)
_SHORTCUT = (
    "Inline shortcut: a command token inside normal text (e.g. “hey /status”) that runs immediately "
    "(allowlisted senders only) and is stripped before the model sees the remaining message."
)
_TIP = (
    "Tip: increase this agent's `agents.list[].bootstrapMaxChars` / "
    "`agents.list[].bootstrapTotalMaxChars` override, or the matching `agents.defaults.*` fallback, "
    "if this truncation is not intentional."
)


def context_mode(command: str) -> str:
    """The mode a command asks for: ``help``, ``list``, ``detail``, ``map``, ``json`` or ``unknown``."""
    words = command.split()
    first = words[1].lower() if len(words) > 1 else ""
    return {
        "": "help", "help": "help", "list": "list", "show": "list", "detail": "detail",
        "deep": "detail", "map": "map", "json": "json",
    }.get(first, "unknown")  # fmt: skip


def stored_report(entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The report of a real run that a session index entry holds."""
    report = entry.get("systemPromptReport")
    return report if isinstance(report, Mapping) and report.get("source") == "run" else None


def context_reply(
    command: str,
    entry: Mapping[str, Any],
    context_tokens: float | None,
    estimate: Mapping[str, Any] | None = None,
) -> str:
    """The answer to ``/context``; ``estimate`` is a report made now, for a session without its own.

    The map is a picture; in its place the detailed breakdown is given.

    Raises:
        LookupError: where a breakdown is asked for and there is no report at all.
    """
    mode = context_mode(command)
    if mode in ("help", "unknown"):
        return HELP if mode == "help" else UNKNOWN
    stored = stored_report(entry)
    if mode == "map":
        return NO_MAP if stored is None else _listed(stored, entry, context_tokens, detail=True)
    report = stored or estimate
    if report is None:
        raise LookupError("no report of a system prompt")
    if mode == "json":
        session = {
            "totalTokens": cached_total(entry),
            "inputTokens": entry.get("inputTokens"),
            "outputTokens": entry.get("outputTokens"),
            "contextTokens": context_tokens,
        }
        return json.dumps({"report": report, "session": session}, indent=2, ensure_ascii=False)
    return _listed(report, entry, context_tokens, detail=mode == "detail")


def cached_total(entry: Mapping[str, Any]) -> float | None:
    """The stored total of a session, unless it is known to be out of date."""
    total = entry.get("totalTokens")
    return total if js.is_finite(total) and entry.get("totalTokensFresh") is not False else None


def chars_and_tokens(chars: float) -> str:
    return f"{_count(chars)} chars (~{_count(js.ceil(chars / CHARS_PER_TOKEN))} tok)"


def _listed(
    report: Mapping[str, Any],
    entry: Mapping[str, Any],
    context_tokens: float | None,
    *,
    detail: bool,
) -> str:
    prompt = report["systemPrompt"]
    sandbox = value_at(report, "sandbox")
    sandboxed = "true" if value_at(sandbox, "sandboxed") else "false"
    lines = [
        f"🧠 Context breakdown{' (detailed)' if detail else ''}",
        f"Workspace: {report.get('workspaceDir') or '(unknown)'}",
        f"Bootstrap max/file: {_limit(report.get('bootstrapMaxChars'))}",
        f"Bootstrap max/total: {_limit(report.get('bootstrapTotalMaxChars'))}",
        f"Sandbox: mode={value_at(sandbox, 'mode') or 'unknown'} sandboxed={sandboxed}",
        f"System prompt ({report.get('source')}): {chars_and_tokens(prompt['chars'])} (Project "
        f"Context {chars_and_tokens(prompt['projectContextChars'])})",
        "",
        *_truncation(report),
        "Injected workspace files:",
        *map(_file_line, report["injectedWorkspaceFiles"]),
        "",
        *_skill_lines(report["skills"], detail=detail),
        *_tool_lines(report["tools"], detail=detail),
        "",
        *(_usage_lines(report, entry) if detail else ()),
        _session_line(entry, context_tokens),
        "",
        _SHORTCUT,
    ]
    return "\n".join(line for line in lines if line or not detail)


def _truncation(report: Mapping[str, Any]) -> list[str]:
    files = [
        FileStats(
            file["name"], file.get("path") or file["name"], bool(file.get("missing")),
            file["rawChars"], file["injectedChars"], bool(file.get("truncated")),
        )
        for file in report["injectedWorkspaceFiles"]
    ]  # fmt: skip
    found = analyse(
        files,
        report.get("bootstrapMaxChars") or LIMITS_2026_5_28.max_chars,
        report.get("bootstrapTotalMaxChars") or LIMITS_2026_5_28.total_max_chars,
    )
    if not found.truncated:
        return []
    causes = [cause for file in found.truncated for cause in file.causes]
    counted = (
        (causes.count("per-file-limit"), "exceeded max/file"),
        (causes.count("total-limit"), "hit max/total"),
    )
    named = "; ".join(f"{count} file(s) {what}" for count, what in counted if count)
    return [
        f"⚠ Bootstrap context is over configured limits: {len(found.truncated)} file(s) truncated "
        f"({_count(found.raw_chars)} raw chars -> {_count(found.injected_chars)} injected chars).",
        *([f"Causes: {named}."] if named else []),
        _TIP,
        "",
    ]


def _file_line(file: Mapping[str, Any]) -> str:
    if file.get("missing"):
        return f"- {file['name']}: MISSING | raw 0 | injected 0"
    status = "TRUNCATED" if file.get("truncated") else "OK"
    raw, injected = chars_and_tokens(file["rawChars"]), chars_and_tokens(file["injectedChars"])
    return f"- {file['name']}: {status} | raw {raw} | injected {injected}"


def _skill_lines(skills: Mapping[str, Any], *, detail: bool) -> list[str]:
    entries = skills["entries"]
    names = list(dict.fromkeys(entry["name"] for entry in entries))
    size = chars_and_tokens(skills["promptChars"])
    lines = [
        f"Skills list (system prompt text): {size} ({len(names)} skills)",
        f"Skills: {_names(names, MAX_SKILL_NAMES)}",
    ]
    if detail:
        lines += _ranked("Top skills (prompt entry size):", entries, "blockChars", "skills")
    return lines


def _tool_lines(tools: Mapping[str, Any], *, detail: bool) -> list[str]:
    entries = tools["entries"]
    lines = [
        f"Tool list (system prompt text): {chars_and_tokens(tools['listChars'])}",
        f"Tool schemas (JSON): {chars_and_tokens(tools['schemaChars'])} (counts toward context; not "
        "shown as text)",
        f"Tools: {_names([entry['name'] for entry in entries], MAX_TOOL_NAMES)}",
    ]
    if not detail:
        return lines
    lines += _ranked("Top tools (schema size):", entries, "schemaChars", "tools")
    lines += _ranked("Top tools (summary text size):", entries, "summaryChars", "tools")
    counted = [entry for entry in entries if js.is_number(entry.get("propertiesCount"))]
    counted.sort(key=lambda entry: -entry["propertiesCount"])
    if counted:
        lines.append("Tools (param count):")
        lines += [f"- {entry['name']}: {entry['propertiesCount']} params" for entry in counted[:30]]
    return lines


def _ranked(title: str, entries: Sequence[Mapping[str, Any]], key: str, what: str) -> list[str]:
    if not entries:
        return []
    ordered = sorted(entries, key=lambda entry: -entry[key])
    lines = [f"- {entry['name']}: {chars_and_tokens(entry[key])}" for entry in ordered[:MAX_RANKED]]
    more = len(ordered) - MAX_RANKED
    return [title, *lines, *([f"… (+{more} more {what})"] if more > 0 else [])]


def _usage_lines(report: Mapping[str, Any], entry: Mapping[str, Any]) -> Iterable[str]:
    turn = value_at(report, "currentTurn")
    parts = (
        report["systemPrompt"]["chars"],
        report["tools"]["schemaChars"],
        value_at(turn, "promptChars"),
        value_at(turn, "runtimeContextChars"),
    )
    tracked = sum(part for part in parts if js.is_number(part))
    total = cached_total(entry)
    actual, overhead = "unknown", "unknown"
    if total is not None:
        rest = total - js.ceil(tracked / CHARS_PER_TOKEN)
        actual = f"{_count(total)} tok"
        overhead = f"~{_count(rest)} tok" if rest > 0 else "not observed in cached usage"
    return (
        f"Tracked prompt estimate: {chars_and_tokens(tracked)}",
        f"Actual context usage (cached): {actual}",
        f"Untracked provider/runtime overhead: {overhead}",
    )


def _session_line(entry: Mapping[str, Any], context_tokens: float | None) -> str:
    total = cached_total(entry)
    window = "?" if context_tokens is None else _count(context_tokens)
    known = "unknown" if total is None else f"{_count(total)} total"
    return f"Session tokens (cached): {known} / ctx={window}"


def _names(names: Sequence[str], most: int) -> str:
    if not names:
        return "(none)"
    shown = ", ".join(names[:most])
    return f"{shown}, … (+{len(names) - most} more)" if len(names) > most else shown


def _limit(chars: Any) -> str:
    return f"{_count(chars)} chars" if js.is_number(chars) else "? chars"


def _count(value: float) -> str:
    return f"{int(value):,}"
