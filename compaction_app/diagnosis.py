"""A verdict on files as they lie: transcripts, an index, a configuration, a state folder.

Reads and judges; needs no server and no database, and stores nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from compaction_app.engine.composition.bootstrap_files import WorkspaceFile
from compaction_app.engine.composition.file_selection import LOAD_ORDER
from compaction_app.engine.config_value import value_at
from compaction_app.engine.diagnose import (
    Finding,
    Subject,
    by_consequence,
    cut_files,
    damage,
    findings,
)
from compaction_app.engine.diagnose.configuration import read_config
from compaction_app.engine.lines import lines_of
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, RuleSet
from compaction_app.engine.session_policy import agent_of_key, rule_set_of, session_policy
from compaction_app.file_groups import CannotDiagnose, Group, groups_of
from compaction_app.recordings import Recording, read_recording
from compaction_app.stored_sessions import stored_recordings
from sessions_app.agent_store import UnreadableStore, opened
from sessions_app.importers.index import Index, IndexEntry, file_of, read_index, unmatched
from sessions_app.transcripts.transcript import Problem


@dataclass(frozen=True, slots=True)
class Settings:
    """A configuration read and judged; ``path`` is none where there is none."""

    path: Path | None
    values: Mapping[str, Any]
    findings: tuple[Finding, ...]
    rules: RuleSet
    text: str = ""
    store_version: str = ""
    is_asked: bool = False

    def rules_for(self, recording: Recording | None) -> RuleSet:
        """The rules that were asked for, else those of the version that wrote the session."""
        if self.is_asked or recording is None:
            return self.rules
        return rule_set_of(self.values, self.store_version, recording.header_version)


@dataclass(frozen=True, slots=True)
class Judged:
    """One session, or one entry of an index, with its findings; ``path`` is that of a transcript's file.

    Without a session it is the settings alone that are judged.
    """

    settings: Settings
    agent: str
    identity: str
    subject: Subject
    findings: tuple[Finding, ...]
    path: Path | None


Progress = Callable[[Path], None]


def diagnose(
    paths: Iterable[Path], config: Path | None = None, rules: RuleSet | None = None
) -> list[Finding]:
    """All findings on what lies at the paths, the gravest first.

    Raises:
        CannotDiagnose: for a path with nothing to judge.
    """
    found: list[Finding] = []
    for group, settings, is_new in settled(groups_of(paths), config, rules):
        if is_new:
            found += settings.findings
            found += workspace_findings(settings)
        for each in judge(group, settings):
            found += each.findings if isinstance(each, Judged) else [each]
    return by_consequence(found)


def settled(
    groups: Iterable[Group], config: Path | None, rules: RuleSet | None
) -> Iterator[tuple[Group, Settings, bool]]:
    """Each group with its settings, and whether those were not met before.

    ``config`` takes the place of the configurations beside the files, ``rules`` that of the version
    they name.
    """
    known: dict[Path | None, Settings] = {}
    for group in groups:
        path, version = config or group.config, _store_version(group)
        is_new = path not in known
        if is_new or version != known[path].store_version:
            known[path] = _settings(path, rules, version)
        yield group, known[path], is_new


def _store_version(group: Group) -> str:
    """The version that wrote a group's stores; "" without one that says it."""
    for path in group.stores:
        with suppress(UnreadableStore, OSError), opened(path) as store:
            return store.app_version
    return ""


def _settings(path: Path | None, rules: RuleSet | None, version: str) -> Settings:
    asked = rules is not None
    if path is None:
        chosen = rules or rule_set_of({}, version)
        return Settings(None, {}, (), chosen, store_version=version, is_asked=asked)
    try:
        text = path.read_bytes().decode("utf-8-sig", "replace")
    except OSError as error:
        raise CannotDiagnose(f"{path} cannot be read: {error.strerror or error}.") from error
    chosen = rules or rule_set_of(read_config(text, DEFAULT_RULE_SET.config).config, version)
    read = read_config(text, chosen.config)
    return Settings(path, read.config, read.findings, chosen, text, version, asked)


def judge(
    group: Group, settings: Settings, progress: Progress = lambda path: None
) -> Iterator[Finding | Judged]:
    """The sessions of a group one by one, and the findings on its index; ``progress`` is told of every
    transcript that was read."""
    index = read_index(group.index.read_bytes()) if group.index else Index({})
    yield from damage.find(index.problems)
    left = dict(index.by_session_id)
    in_store: set[str] = set()
    names: dict[str, str] = {}
    for path in group.stores:
        for each in _judged_in_store(path, group, settings):
            if isinstance(each, Judged):
                left.pop(each.identity, None)
                in_store.add(each.identity)
            yield each
        progress(path)
    for path in group.transcripts:
        recording = read_recording(path)
        progress(path)
        if isinstance(recording, str):
            yield from _unreadable(path, recording, index, is_whole=group.is_whole)
            continue
        names[path.name] = recording.identity
        if recording.identity in in_store:  # the store is what the runtime goes on with
            continue
        known = _entry_of(index, path, recording)
        if known is not None:
            left.pop(str(known.entry["sessionId"]), None)
        yield _judged(settings, known, recording, path)
    if group.is_whole or not group.transcripts:
        for known in left.values():
            yield _judged(settings, known, None, group.index)
    if group.index and group.is_whole and not group.stores and not index.problems:
        for problem in unmatched(index, names):
            yield from damage.find((problem,))
    if not group.index and not group.transcripts and not group.stores:
        yield _judged(settings, None, None, None)


def _judged_in_store(path: Path, group: Group, settings: Settings) -> Iterator[Finding | Judged]:
    """The sessions of an agent's store. One that cannot be read is an error, unless files lie beside it."""
    try:
        with opened(path) as store:
            for known, recording in stored_recordings(store):
                agent = _agent(known, path) or store.agent_id
                yield replace(_judged(settings, known, recording, path, agent), path=None)
    except (UnreadableStore, OSError) as error:
        message = f"{path} cannot be read. {error}"
        if not group.transcripts:
            raise CannotDiagnose(message) from None
        yield from damage.find((Problem(0, "FILE_NO_TRANSCRIPT", message),))


def _unreadable(path: Path, fault: str, index: Index, *, is_whole: bool) -> Iterator[Finding]:
    """A file that is no transcript: an error where it was asked for, damage where the index names it.

    Other files may lie in a folder.
    """
    if not is_whole:
        raise CannotDiagnose(f"{path}: {fault}")
    named = {file_of(known.entry) for known in index.by_session_id.values()}
    if path.name in named:
        message = f"{path.name}, which sessions.json names, is no transcript. {fault}"
        yield from damage.find((Problem(0, "FILE_NO_TRANSCRIPT", message),))


def _entry_of(index: Index, path: Path, recording: Recording) -> IndexEntry | None:
    stem = path.name.split(".")[0].split("-topic-")[0]
    by_id = index.by_session_id
    return by_id.get(recording.identity) or by_id.get(stem)


def _judged(
    settings: Settings,
    known: IndexEntry | None,
    recording: Recording | None,
    path: Path | None,
    agent: str = "",
) -> Judged:
    """The findings on one session, or on the settings alone."""
    entry = known.entry if known else {}
    agent = agent or _agent(known, path)
    found = session_policy(
        settings.values,
        entry,
        recording.provider if recording else "",
        recording.model if recording else "",
        settings.rules_for(recording),
        agent,
    )
    subject = Subject(
        policy=found.policy,
        around=found.around,
        lines=lines_of(found.policy, found.around),
        entry=entry or None,
        has_config=settings.path is not None,
    )
    if recording is not None:
        subject = replace(
            subject, grown=recording.grown, signs=recording.signs, losses=recording.losses
        )
    session = recording.identity if recording else str(entry.get("sessionId") or "")
    told = [*findings(subject), *damage.find(recording.problems if recording else ())]
    named = tuple(replace(finding, session=session, agent=agent) for finding in told)
    return Judged(settings, agent, session, subject, named, path if recording else None)


def _agent(known: IndexEntry | None, path: Path | None) -> str:
    """The agent's id, from the session's key or from the place in a state folder."""
    named = agent_of_key(known.key) if known else ""
    if named:
        return named
    folders = path.absolute().parts if path else ()
    return folders[-3] if len(folders) > 3 and folders[-4] == "agents" else ""


def workspace_findings(settings: Settings) -> Iterator[Finding]:
    """Files of the workspace that this configuration cuts, where the workspace lies here."""
    if settings.path is None:
        return
    named = value_at(settings.values, "agents", "defaults", "workspace")
    places = [Path(named).expanduser()] if isinstance(named, str) and named else []
    places.append(settings.path.parent / "workspace")
    folder = next((place for place in places if place.is_dir()), None)
    if folder is None:
        return
    files = [
        WorkspaceFile(name, str(path), path.read_text(encoding="utf-8", errors="replace"))
        for name in LOAD_ORDER
        if (path := folder / name).is_file()
    ]
    yield from cut_files.find(files, settings.values, settings.rules)
