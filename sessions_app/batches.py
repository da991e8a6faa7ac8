"""Importing several files that belong together: transcripts, their index, their configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from django.db import DatabaseError

from sessions_app import signals
from sessions_app.folders import Bundle, bundles
from sessions_app.importers import NotATranscript
from sessions_app.importers.index import Index, IndexEntry, read_index
from sessions_app.imports import Source, import_file
from sessions_app.models import Agent, Session, Team
from sessions_app.rows import storable, storable_json

MAX_SETTINGS_BYTES = 32 << 20

Status = Literal["imported", "unchanged", "extended", "refused"]
ConfigCheck = Callable[[str], str]
Progress = Callable[[str, int], None]

_config_checks: list[ConfigCheck] = []


def check_configs_with(check: ConfigCheck) -> None:
    """The floor above knows the syntax of ``openclaw.json``: it hands in a function that says what
    is wrong with a text, "" when nothing is."""
    _config_checks[:] = [check]


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one file; ``error`` says what was wrong and what to do."""

    path: str
    status: Status
    error: str = ""
    sessions: tuple[Session, ...] = field(default=())


def import_files(
    team: Team, sources: Iterable[Source], progress: Progress = lambda name, done: None
) -> Iterator[FileReport]:
    """Import every file, index and configuration first; one bad file never stops the others."""
    by_name = {source.name: source for source in sources}
    told: set[str] = set()
    for bundle in bundles(by_name):
        agent, reports = _agent(team, bundle, by_name)
        index, more = _index(team, bundle, by_name)
        for report in [*reports, *more]:
            if report.path not in told:
                told.add(report.path)
                yield report
        for name in bundle.transcripts:
            yield _import_one(team, by_name[name], agent, index, progress)


def _import_one(
    team: Team, source: Source, agent: Agent | None, index: Index, progress: Progress
) -> FileReport:
    known = _entry_of(index, source.name)
    try:
        done = import_file(team, source, agent, known, lambda count: progress(source.name, count))
    except NotATranscript as error:
        return FileReport(source.name, "refused", str(error))
    except OSError as error:
        return FileReport(source.name, "refused", _unreadable(error))
    except DatabaseError as error:
        return FileReport(source.name, "refused", f"The database did not take it: {error}")
    return FileReport(source.name, done.status, "", (done.session,))


def _agent(
    team: Team, bundle: Bundle, sources: Mapping[str, Source]
) -> tuple[Agent | None, list[FileReport]]:
    """The agent of a bundle, with its configuration brought up to date."""
    if not bundle.agent:
        return None, []
    agent, _ = Agent.objects.get_or_create(team=team, name=storable(bundle.agent, 200))
    if not bundle.config:
        return agent, []
    data, report = _read_settings(sources[bundle.config])
    if report is not None:
        return agent, [report]
    text = data.decode("utf-8-sig", "replace").replace("\x00", "\ufffd")
    for check in _config_checks:
        if fault := check(text):
            return agent, [FileReport(bundle.config, "refused", fault)]
    if agent.config_text == text:
        return agent, [FileReport(bundle.config, "unchanged")]
    is_new = not agent.config_text
    agent.config_text = text
    agent.save(update_fields=["config_text"])
    for session in agent.sessions.all():
        signals.session_changed.send(Session, session=session)
    return agent, [FileReport(bundle.config, "imported" if is_new else "extended")]


def _entry_of(index: Index, name: str) -> IndexEntry | None:
    """What the index says of a transcript; its name begins with the session's id."""
    session_id = name.rsplit("/", 1)[-1].split(".")[0].split("-topic-")[0]
    return index.by_session_id.get(session_id)


def _index(
    team: Team, bundle: Bundle, sources: Mapping[str, Source]
) -> tuple[Index, list[FileReport]]:
    if not bundle.index:
        return Index({}), []
    data, report = _read_settings(sources[bundle.index])
    if report is not None:
        return Index({}), [report]
    index = read_index(data)
    error = " ".join(problem.message for problem in index.problems)
    if not index.by_session_id and error:
        return index, [FileReport(bundle.index, "refused", error)]
    entries = [entry for name in bundle.transcripts if (entry := _entry_of(index, name))]
    stored = dict(
        Session.objects.filter(team=team, key__in=[storable(e.key, 300) for e in entries])
        .order_by("pk")
        .values_list("key", "index_entry")
    )
    is_new = any(stored.get(storable(e.key, 300)) != storable_json(e.entry) for e in entries)
    return index, [FileReport(bundle.index, "imported" if is_new else "unchanged", error)]


def _read_settings(source: Source) -> tuple[bytes, FileReport | None]:
    try:
        with source.open() as file:
            data = file.read(MAX_SETTINGS_BYTES + 1)
    except OSError as error:
        return b"", FileReport(source.name, "refused", _unreadable(error))
    if len(data) > MAX_SETTINGS_BYTES:
        message = f"The file is larger than {MAX_SETTINGS_BYTES >> 20} MB."
        return b"", FileReport(source.name, "refused", message)
    return data, None


def _unreadable(error: OSError) -> str:
    return f"The file cannot be read: {error.strerror or error}."
