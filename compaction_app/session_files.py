"""Sessions in files and folders, without a database: transcripts with what lies beside them.

A transcript that was rotated after a compaction is followed by its successor, whose header names it;
the files of such a chain are one session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from compaction_app.engine.config.syntax import ConfigSyntaxError, parse_config
from compaction_app.engine.simulation.inputs import SessionFiles
from compaction_app.stored_sessions import stored_transcripts
from sessions_app.agent_store import UnreadableStore, is_store, opened
from sessions_app.folders import beside, bundles, walk
from sessions_app.importers import NotATranscript, read_transcript
from sessions_app.importers.index import Index, IndexEntry, read_index
from sessions_app.transcripts.json_lines import NotJson, parse_json
from sessions_app.transcripts.transcript import Transcript

CHUNK_BYTES: Final = 1 << 20


class UnreadableFile(ValueError):
    """A file cannot be used; the message says which, why, and what would help."""


def find_sessions(paths: Iterable[Path], config: Path | None = None) -> Iterator[SessionFiles]:
    """The sessions below ``paths``; ``config`` takes the place of a configuration beside them.

    Raises:
        UnreadableFile: for a named file that is no transcript, and for an unreadable configuration or store.
    """
    given = [Path(path) for path in paths]
    named = {path.resolve() for path in given if path.is_file()}
    found = {file.resolve().as_posix(): file for path in given for file in _files_of(path)}
    for bundle in bundles(found):
        settings = _config(config or (Path(bundle.config) if bundle.config else None))
        index = read_index(Path(bundle.index).read_bytes()) if bundle.index else Index({})
        stores = [n for n in bundle.transcripts if Path(n) in named and is_store(Path(n))]
        files = [name for name in bundle.transcripts if name not in stores]
        transcripts, known = _transcripts(files, named), dict(index.by_session_id)
        versions: dict[str, str] = {}
        for version, entry, transcript in _stored([*bundle.stores, *stores]):
            transcripts.append(transcript)  # of two with one id the last holds: the store's
            known[_id(transcript)] = entry
            versions[_id(transcript)] = version
        for chain in chains(transcripts):
            session = _session(chain, settings, known)
            yield replace(session, store_version=versions.get(_id(chain[-1]), ""))


def chains(transcripts: Iterable[Transcript]) -> list[tuple[Transcript, ...]]:
    """Transcripts in chains of successors, oldest first; most chains are one file long."""
    known = {_id(transcript): transcript for transcript in transcripts}
    followers: dict[str, Transcript] = {}
    for transcript in known.values():
        parent = _parent(transcript)
        if parent in known and parent != _id(transcript):
            followers[parent] = transcript
    followed = {_id(transcript) for transcript in followers.values()}
    chained: list[tuple[Transcript, ...]] = []
    for transcript in known.values():
        if _id(transcript) in followed:
            continue
        chain = [transcript]
        while (after := followers.get(_id(chain[-1]))) is not None and after not in chain:
            chain.append(after)
        chained.append(tuple(chain))
    return chained


def _files_of(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise UnreadableFile(f"{path}: there is no such file or folder.")
    yield from walk(path)
    if path.is_file():
        yield from beside(path)


def _transcripts(names: Iterable[str], named: set[Path]) -> list[Transcript]:
    """The readable ones; other files of the same ending are passed over unless they were named."""
    read = []
    for name in names:
        try:
            read.append(read_transcript(_chunks(Path(name))))
        except NotATranscript as error:
            if Path(name) in named:
                raise UnreadableFile(f"{name}: {error}") from None
    return read


def _stored(names: Iterable[str]) -> Iterator[tuple[str, IndexEntry, Transcript]]:
    for name in names:
        try:
            with opened(Path(name)) as store:
                for entry, transcript in stored_transcripts(store):
                    yield store.app_version, entry, transcript
        except (UnreadableStore, OSError) as error:
            raise UnreadableFile(f"{name} cannot be read. {error}") from None


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def _config(path: Path | None) -> Mapping[str, Any]:
    if path is None:
        return {}
    try:
        value = parse_config(path.read_text(encoding="utf-8", errors="replace"))
    except ConfigSyntaxError as error:
        raise UnreadableFile(f"{path}: neither JSON nor JSON5: {error}.") from None
    except OSError as error:
        raise UnreadableFile(f"{path}: {error.strerror or error}.") from None
    if not isinstance(value, dict):
        raise UnreadableFile(f"{path}: an object is expected.")
    return value


def _session(
    chain: tuple[Transcript, ...], config: Mapping[str, Any], index: Mapping[str, IndexEntry]
) -> SessionFiles:
    entry = next((e for t in reversed(chain) if (e := index.get(_id(t))) is not None), None)
    return SessionFiles(chain, config, entry.entry if entry else {}, entry.key if entry else "")


def _id(transcript: Transcript) -> str:
    return transcript.header.id if transcript.header else f"without-header-{id(transcript)}"


def _parent(transcript: Transcript) -> str:
    """The session that a header names as its parent: an id, or the path of a file named after it."""
    try:
        header = parse_json(transcript.header.raw) if transcript.header else None
    except NotJson:
        return ""
    parent = header.get("parentSession") if isinstance(header, dict) else None
    return Path(parent).stem.rpartition("_")[2] if isinstance(parent, str) else ""
