"""Small state folders for the verdict, written to disk as the runtime would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from compaction_app.diagnosis import diagnose
from compaction_app.engine.diagnose import Finding
from compaction_app.engine.rule_sets import RuleSet
from tests.engine.builders import Script, text_of

Json = dict[str, Any]
PROVIDER, MODEL = "mock", "m"


def config(
    window: int | None = None,
    compaction: Json | None = None,
    *,
    model: Json | None = None,
    provider: Json | None = None,
    **defaults: Any,
) -> Json:
    """An ``openclaw.json`` with one model; ``defaults`` stand below ``agents.defaults``."""
    listed: Json = {"id": MODEL, "name": MODEL, **(model or {})}
    if window is not None:
        listed["contextWindow"] = window
    entry = {"baseUrl": "http://127.0.0.1/v1", "models": [listed], **(provider or {})}
    if compaction is not None:
        defaults["compaction"] = compaction
    named = {"model": {"primary": f"{PROVIDER}/{MODEL}"}, **defaults}
    return {"models": {"providers": {PROVIDER: entry}}, "agents": {"defaults": named}}


def folder(
    place: Path,
    settings: Json | None = None,
    script: Script | None = None,
    entry: Json | None = None,
) -> Path:
    """A folder with what is given of a configuration, a transcript and an index entry."""
    place.mkdir(exist_ok=True)
    if settings is not None:
        (place / "openclaw.json").write_text(json.dumps(settings))
    if script is not None:
        (place / "s.jsonl").write_text(text_of(script.entries))
    if entry is not None:
        index = {"agent:main:main": {"sessionId": "s", **entry}}
        (place / "sessions.json").write_text(json.dumps(index))
    return place


def found(
    place: Path,
    settings: Json | None = None,
    script: Script | None = None,
    entry: Json | None = None,
    rules: RuleSet | None = None,
) -> dict[str, Finding]:
    """The findings on such a folder, by code; the first of each."""
    listed = diagnose([folder(place, settings, script, entry)], rules=rules)
    return {finding.code: finding for finding in reversed(listed)}


def growth(*prompts: int, step_chars: int | None = None, density: float = 1.0) -> Script:
    """A session whose turns are billed so; what is said grows along, ``density`` tokens for each four
    characters."""
    script, before = Script(), 3_000
    for prompt in prompts:
        said = max(round((prompt - before) / density), 0) * 4 if step_chars is None else step_chars
        script.user(max(said - 400, 4))
        script.answer(400, prompt=prompt, output=100)
        before = prompt
    return script
