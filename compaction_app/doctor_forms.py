"""What the doctor is asked: a pasted or uploaded file, a stored agent, or both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from compaction_app.doctor_sessions import (
    MOST_SESSIONS,
    ledger_of,
    sessions_named,
    sessions_of,
)
from compaction_app.engine.diagnose import Subject, findings
from compaction_app.engine.doctor.examination import subject_of
from compaction_app.engine.doctor.ledger import Case, Ledger
from compaction_app.engine.doctor.report import Configuration, agents_of
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, RULE_SETS, RuleSet
from compaction_app.runs import read_settings
from sessions_app import access
from sessions_app.importers.index import Index, read_index
from sessions_app.models import Agent, Session

MOST_CONFIG_BYTES: Final = 1 << 20
MOST_INDEX_BYTES: Final = 8 << 20
MOST_ENTRIES: Final = 200
MOST_CHANGES: Final = 100


@dataclass(slots=True)
class Asked:
    """A question to the doctor. ``chosen`` are the changes to make, none for all; ``problems`` what
    was wrong with the question, in words. ``is_empty``: there is nothing to examine."""

    config: Configuration = field(default_factory=lambda: Configuration("", {}, ()))
    rules: RuleSet = DEFAULT_RULE_SET
    agent: Agent | None = None
    name: str = ""
    index_text: str = ""
    index: Index = field(default_factory=lambda: Index({}))
    pasted: str = ""
    chosen: frozenset[str] | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not self.config.is_given and self.agent is None and not self.index.by_session_id


def read_question(request: HttpRequest) -> Asked:
    """From the fields of the form, or of an address; what is refused is told.

    Raises:
        Http404: for an agent that is not there or another team's.
    """
    values = request.POST if request.method == "POST" else request.GET
    asked = Asked()
    asked.pasted = _text(request, "config", MOST_CONFIG_BYTES, asked)
    asked.index_text = _text(request, "sessions", MOST_INDEX_BYTES, asked)
    if asked.index_text.strip():
        asked.index = read_index(asked.index_text.encode("utf-8", "replace"))
        asked.problems += [problem.message for problem in asked.index.problems]
    asked.agent = _agent(request, values.get("agent", ""), asked)
    text = asked.pasted or (asked.agent.config_text if asked.agent else "")
    read = read_settings(text)
    asked.config = Configuration(text, read.config, read.findings)
    asked.rules = _rules(values.get("rules", ""), read.rules, asked)
    names = agents_of(read.config)
    wanted = values.get("as", "").strip()[:200]
    stored = asked.agent.name if asked.agent and not asked.pasted else ""
    asked.name = wanted or (stored if stored in names else names[0])
    if request.method == "POST" and "chosen" in values:
        asked.chosen = frozenset(request.POST.getlist("change")[:MOST_CHANGES])
    return asked


def ledger_for(asked: Asked, user: access.Viewer) -> tuple[Ledger, int]:
    """The sessions at hand, judged under the file; and how many there are in all."""
    if asked.index.by_session_id:
        return _ledger_of_index(asked, user)
    if asked.agent is None:
        return Ledger(), 0
    found = sessions_of(asked.agent)
    own = "" if asked.name == asked.agent.name else asked.name
    return ledger_of(found[:MOST_SESSIONS], asked.config, asked.rules, own), found.count()


def _ledger_of_index(asked: Asked, user: access.Viewer) -> tuple[Ledger, int]:
    """Stored sessions with the entries of the index, and the entries whose sessions are not stored."""
    entries = asked.index.by_session_id
    known: set[str] = set()
    sessions: list[Session] = []
    for session in sessions_named(user, entries)[:MOST_SESSIONS]:
        for window in session.windows.all():
            if window.external_id in entries:
                known.add(window.external_id)
                session.index_entry = dict(entries[window.external_id].entry)
        sessions.append(session)
    ledger = ledger_of(sessions, asked.config, asked.rules)
    for identity in [each for each in entries if each not in known][:MOST_ENTRIES]:
        add_entry(ledger, asked.config, asked.name, asked.rules, entries[identity].entry)
    return ledger, len(entries)


def add_entry(
    ledger: Ledger, config: Configuration, agent: str, rules: RuleSet, entry: Mapping[str, Any]
) -> None:
    """Judge an entry of an index without its session; it names its ``sessionId``."""
    subject, _ = subject_of(config.values, agent, rules, entry=entry)
    subject = replace(subject, has_config=config.is_given)
    ledger.add(_case_without_session(str(entry["sessionId"]), subject), findings(subject))


def _case_without_session(identity: str, subject: Subject) -> Case:
    def nothing(*_: Any) -> Any:
        raise ValueError("an index entry alone cannot be replayed")

    return Case(identity, identity, subject, nothing)


def _text(request: HttpRequest, name: str, most: int, asked: Asked) -> str:
    """An uploaded file, else the field; "" with a problem when it is too large."""
    upload: UploadedFile[Any] | None = request.FILES.get(f"{name}_file")
    if upload is not None:
        data = upload.read(most + 1)
    else:
        data = request.POST.get(name, "").encode("utf-8", "replace")
    if len(data) > most:
        title = "openclaw.json" if name == "config" else "sessions.json"
        asked.problems.append(
            f"{title} is larger than {most >> 20} MB, which is not examined here."
        )
        return ""
    text: str = data.decode("utf-8-sig", "replace")
    return text.replace("\x00", "\ufffd").replace("\r\n", "\n")


def _agent(request: HttpRequest, given: str, asked: Asked) -> Agent | None:
    if not given:
        return None
    try:
        uuid = UUID(given)
    except ValueError:
        asked.problems.append("There is no such agent; choose one from the list.")
        return None
    return access.load(Agent.objects.filter(is_live=False), request.user, uuid)


def _rules(given: str, read: RuleSet, asked: Asked) -> RuleSet:
    if given and given not in RULE_SETS:
        asked.problems.append(
            f"There is no rule set {given[:50]!r}; known: {', '.join(RULE_SETS)}."
        )
    return RULE_SETS.get(given, read)
