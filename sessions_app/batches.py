"""Importing several files that belong together: transcripts, their index, their configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from django.db import DatabaseError

from sessions_app import agents, signals
from sessions_app.agent_store import AgentStore, UnreadableStore, opened
from sessions_app.folders import Bundle, bundles
from sessions_app.importers import NotATranscript
from sessions_app.importers.index import Index, IndexEntry, read_index
from sessions_app.imports import Source, Trail, apply_index, import_file
from sessions_app.known_files import digest_of_head, unwritten_sessions
from sessions_app.models import Agent, Session, Team, Window
from sessions_app.rows import storable, storable_json
from sessions_app.store_imports import StoreImport, in_place
from sessions_app.window_writing import Overtaken

MAX_SETTINGS_BYTES = 32 << 20
IN_STORE = "The agent's SQLite store holds this session too; it was taken from there."

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
    trail: Trail | None = None


def import_files(
    team: Team,
    sources: Iterable[Source],
    progress: Progress = lambda name, done: None,
    root: Path | None = None,
) -> Iterator[FileReport]:
    """Import every file, index and configuration first; one bad file never stops the others.

    ``root`` is the folder on this machine that relative names start from; none for an upload.
    """
    by_name = {source.name: source for source in sources}
    told: set[str] = set()
    for bundle in bundles(by_name):
        group = _Group(team, bundle, by_name, root)
        for report in group.settings():
            if report.path not in told:
                told.add(report.path)
                yield report
        for name in bundle.stores:
            yield group.store(by_name[name], progress)
        for name in bundle.transcripts:
            yield group.transcript(by_name[name], progress)


class _Group:
    """The files of one bundle, and the agent they are of."""

    def __init__(
        self, team: Team, bundle: Bundle, sources: Mapping[str, Source], root: Path | None
    ) -> None:
        self._team, self._bundle, self._sources = team, bundle, sources
        self._home = str((root / bundle.home).resolve()) if root else ""
        self._agent: Agent | None = None
        self._index = Index({})
        self._text = ""
        self._in_store: set[str] = set()
        self._unwritten = unwritten_sessions(team, [sources[name] for name in bundle.transcripts])

    def settings(self) -> list[FileReport]:
        """Bring index and configuration up to date, and find out whose they are."""
        bundle, told = self._bundle, []
        text = ""
        if bundle.config:
            text, report = self._config_text(bundle.config)
            told += [report] if report else []
        if bundle.index:
            self._index, report = self._read_index(bundle.index)
            told += [report] if report else []
        self._text = text
        if bundle.stores and not bundle.transcripts and not self._index.by_session_id:
            return told
        if text and not self._index.by_session_id and not bundle.transcripts:
            return [*told, self._lone_config(text)]
        if not bundle.agent or not (bundle.transcripts or self._index.by_session_id):
            return told
        known = list(self._stored())
        if not known and not bundle.transcripts:
            message = "It names no session that is stored here; import their transcripts too."
            told.append(FileReport(bundle.index, "refused", message))
            return [*told, self._lone_config(text)] if text else told
        name = bundle.agent if self._home else agents.named_in(self._index) or bundle.agent
        self._agent = agents.agent_for(self._team, name, self._home, known, text)
        if text:
            told.append(self._configure([self._agent], text, is_alone=False))
        if bundle.index and self._index.by_session_id:
            told.append(self._apply_index(known))
        return told

    def store(self, source: Source, progress: Progress) -> FileReport:
        """The sessions of an agent's SQLite store; what the same agent has in files gives way to them."""
        name = source.name
        try:
            with in_place(source, self._sources) as path, opened(path) as store:
                self._agent = self._agent or self._owner(store)
                work = StoreImport(self._team, store, self._agent, name)
                done = list(work.run(lambda read: progress(name, read)))
        except (UnreadableStore, Overtaken) as error:
            return FileReport(name, "refused", str(error))
        except OSError as error:
            return FileReport(name, "refused", _unreadable(error))
        except DatabaseError as error:
            return FileReport(name, "refused", f"The database did not take it: {error}")
        windows = Window.objects.filter(session__in=[each.session for each in done])
        self._in_store |= set(windows.values_list("external_id", flat=True))
        statuses = {each.status for each in done}
        status: Status = next(
            (s for s in ("imported", "extended") if s in statuses),
            "unchanged",
        )
        return FileReport(name, status, "", tuple(each.session for each in done))

    def _owner(self, store: AgentStore) -> Agent:
        """The agent of a store that lies without transcripts or an index."""
        ids = [window.session_id for window in store.windows()]
        known = list(agents.stored_sessions(self._team, (), ids))
        name = store.agent_id or self._bundle.agent
        agent = agents.agent_for(self._team, name, self._home, known, self._text)
        if self._text:
            self._configure([agent], self._text, is_alone=False)
        return agent

    def transcript(self, source: Source, progress: Progress) -> FileReport:
        if _session_id(source.name) in self._in_store:
            return FileReport(source.name, "unchanged", IN_STORE)
        known = _entry_of(self._index, source.name)
        same = self._unwritten.get(source.place)
        if same is not None and self._says_nothing_new(same, known):
            return FileReport(source.name, "unchanged", "", (same,))
        try:
            done = import_file(
                self._team, source, self._agent, known, lambda read: progress(source.name, read)
            )
        except (NotATranscript, Overtaken) as error:
            return FileReport(source.name, "refused", str(error))
        except OSError as error:
            return FileReport(source.name, "refused", _unreadable(error))
        except DatabaseError as error:
            return FileReport(source.name, "refused", f"The database did not take it: {error}")
        sessions = (done.session, *done.sides)
        if source.place:
            windows = Window.objects.filter(session__in=sessions)
            windows.update(place=storable(source.place, 1000), stamp=source.stamp)
        return FileReport(source.name, done.status, "", sessions, done.trail)

    def _says_nothing_new(self, session: Session, known: IndexEntry | None) -> bool:
        """Whether index and agent of a file that nobody has written to are those that are stored."""
        if self._agent is not None and session.agent_id != self._agent.pk:
            return False
        return known is None or (
            session.key == storable(known.key, 300)
            and session.index_entry == storable_json(known.entry)
        )

    def _stored(self) -> Iterator[Session]:
        """The sessions among the files, and those that the index names, as far as they are stored."""
        files = [self._sources[name] for name in self._bundle.transcripts]
        yield from {self._unwritten[f.place] for f in files if f.place in self._unwritten}
        heads = (_head_of(file) for file in files if file.place not in self._unwritten)
        yield from agents.stored_sessions(self._team, heads, self._index.by_session_id)

    def _config_text(self, name: str) -> tuple[str, FileReport | None]:
        data, report = _read_settings(self._sources[name])
        text = data.decode("utf-8-sig", "replace").replace("\x00", "\ufffd")
        for check in _config_checks if report is None else ():
            if fault := check(text):
                report = FileReport(name, "refused", fault)
        return ("", report) if report else (text, None)

    def _lone_config(self, text: str) -> FileReport:
        name, agent = self._bundle.config, self._bundle.agent
        try:
            owners = agents.owners_of_config(self._team, agent, self._home, text)
        except agents.UnknownOwner as error:
            return FileReport(name, "refused", str(error))
        return self._configure(owners, text, is_alone=True)

    def _configure(self, owners: Sequence[Agent], text: str, *, is_alone: bool) -> FileReport:
        """``is_alone``: the report lists the sessions that the configuration reaches."""
        changed, reached = agents.configure(owners, text)
        status: Status = "unchanged"
        if changed:
            status = "imported" if changed == "new" else "extended"
        return FileReport(self._bundle.config, status, "", tuple(reached) if is_alone else ())

    def _read_index(self, name: str) -> tuple[Index, FileReport | None]:
        data, report = _read_settings(self._sources[name])
        if report is not None:
            return Index({}), report
        index = read_index(data)
        if index.by_session_id or not index.problems:
            return index, None
        return index, FileReport(name, "refused", _words(index))

    def _apply_index(self, known: Sequence[Session]) -> FileReport:
        """Give the stored sessions their entries; those among the files get theirs with them."""
        entries = [_entry_of(self._index, name) for name in self._bundle.transcripts]
        here = {storable(entry.key, 300): entry for entry in entries if entry}
        stored = {session.key: session.index_entry for session in known}
        is_new = any(stored.get(k) != storable_json(entry.entry) for k, entry in here.items())
        reached = [session for session in known if self._enter(session, here)]
        status: Status = "imported" if reached or is_new else "unchanged"
        alone = () if self._bundle.transcripts else tuple(reached)
        return FileReport(self._bundle.index, status, _words(self._index), alone)

    def _enter(self, session: Session, here: Mapping[str, IndexEntry]) -> bool:
        """Give a session that is not among the files its entry; whether that changed anything."""
        before = (session.key, session.index_entry, session.agent_id)
        for window in session.windows.all():
            entry = self._index.by_session_id.get(window.external_id)
            if entry is not None and storable(entry.key, 300) not in here:
                apply_index(session, entry)
                session.agent = session.agent or self._agent
        if (session.key, session.index_entry, session.agent_id) == before:
            return False
        session.save(update_fields=["key", "index_entry", "agent"])
        signals.session_changed.send(Session, session=session)
        return True


def _entry_of(index: Index, name: str) -> IndexEntry | None:
    """What the index says of a transcript; its name begins with the session's id."""
    return index.by_session_id.get(_session_id(name))


def _session_id(name: str) -> str:
    return name.rsplit("/", 1)[-1].split(".")[0].split("-topic-")[0]


def _head_of(source: Source) -> str:
    """The digest of a file's first line; "" for one that cannot be read, as its import will say."""
    try:
        with source.open() as file:
            return digest_of_head(file)
    except OSError:
        return ""


def _words(index: Index) -> str:
    return " ".join(problem.message for problem in index.problems)


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
