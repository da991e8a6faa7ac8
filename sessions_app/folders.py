"""What lies in a folder: transcripts, and the index and configuration beside them.

Known are an OpenClaw state folder (``openclaw.json``, ``agents/<id>/sessions/`` and the SQLite store in
``agents/<id>/agent/``), a folder with
transcripts of one agent, single files, and the folders in which other agents keep theirs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

CONFIG_NAME = "openclaw.json"
INDEX_NAME = "sessions.json"
STORE_NAME = "openclaw-agent.sqlite"
STORE_SUFFIXES = (".sqlite", ".db")
COMPANIONS = (f"{STORE_NAME}-wal", f"{STORE_NAME}-shm")
"""What SQLite keeps beside a store; without them it may be empty."""

TRANSCRIPT_SUFFIXES = (".jsonl", ".traj")
PUT_ASIDE = re.compile(r".+\.jsonl\.(?P<why>reset|deleted|archived)\..+")
"""Transcripts that the runtime has put aside keep their name, and say why."""

DOCUMENT = re.compile(r"session-.*\.json")
"""Gemini CLI's sessions."""
# Beside a session's file the runtime keeps files of the same ending that are no transcripts.
NO_TRANSCRIPTS = (".trajectory.jsonl",)


@dataclass(frozen=True, slots=True)
class Bundle:
    """Transcripts that share an index and a configuration, by name; "" where there is none.

    ``home`` is the folder that makes the agent who it is: the state folder, else that of the files.
    """

    agent: str
    config: str
    index: str
    transcripts: tuple[str, ...]
    stores: tuple[str, ...] = ()

    @property
    def home(self) -> str:
        names = (self.config, self.index, *self.transcripts, *self.stores)
        return _home(_place(next(name for name in names if name)))


def is_known_name(name: str) -> bool:
    """Whether a file of this name is looked at when a folder is imported."""
    base = PurePosixPath(name).name
    if base in (CONFIG_NAME, INDEX_NAME, STORE_NAME) or PUT_ASIDE.fullmatch(base):
        return True
    return (
        base.endswith(TRANSCRIPT_SUFFIXES) or bool(DOCUMENT.fullmatch(base))
    ) and not base.endswith(NO_TRANSCRIPTS)


def put_aside(name: str) -> str:
    """Why the runtime put a transcript aside, by its name; "" for one that it goes on with."""
    found = PUT_ASIDE.fullmatch(PurePosixPath(name).name)
    return found["why"] if found else ""


def walk(path: Path) -> Iterator[Path]:
    """The files below a folder that an import looks at, in a stable order; a file is itself."""
    if not path.is_dir():
        yield path
        return
    known = (
        Path(folder, name)
        for folder, _, names in os.walk(path)
        for name in names
        if is_known_name(name)
    )
    yield from sorted(known)


def beside(path: Path) -> Iterator[Path]:
    """The index and the configuration that belong to a single transcript, where they lie near it."""
    yield from (p for p in (path.parent / INDEX_NAME,) if p.is_file())
    folders = [path.parent]
    if path.parent.name in ("sessions", "agent") and path.parent.parent.parent.name == "agents":
        folders.append(path.parents[3])
    yield from (p for folder in folders if (p := folder / CONFIG_NAME).is_file())


def bundles(names: Iterable[str]) -> list[Bundle]:
    """Group file names (with ``/``) into bundles: each transcript with what lies nearest to it."""
    known = sorted(names)
    configs = {_folder(n): n for n in known if _base(n) == CONFIG_NAME}
    indexes = {_folder(n): n for n in known if _base(n) == INDEX_NAME}
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name in known:
        if _base(name) in (CONFIG_NAME, INDEX_NAME):
            continue
        if _base(name).endswith(COMPANIONS):
            continue
        folder = _place(name)
        config = next((configs[f] for f in _upwards(folder) if f in configs), "")
        place = indexes.get(folder, "")
        agent = _agent(folder) if config or place or _base(name) == STORE_NAME else ""
        groups.setdefault((agent, config, place), []).append(name)
    used = {part for group in groups for part in group[1:]}
    for lone in (n for n in [*configs.values(), *indexes.values()] if n not in used):
        config = lone if _base(lone) == CONFIG_NAME else ""
        groups.setdefault((_agent(_folder(lone)), config, "" if config else lone), [])
    return [_bundle(group, files) for group, files in groups.items()]


def _bundle(group: tuple[str, str, str], files: Iterable[str]) -> Bundle:
    stores = tuple(name for name in files if _base(name) == STORE_NAME)
    return Bundle(*group, tuple(name for name in files if name not in stores), stores)


def _agent(folder: str) -> str:
    """The agent's id in a state folder, else the name of the folder."""
    parts = PurePosixPath(folder).parts
    if len(parts) >= 3 and parts[-3] == "agents":
        return parts[-2]
    return parts[-1] if parts else "main"


def _home(folder: str) -> str:
    """The state folder that a folder of sessions lies in, else the folder itself."""
    return list(_upwards(folder))[-1]


def _upwards(folder: str) -> Iterator[str]:
    """The folder itself and, inside a state folder, the state folder."""
    yield folder
    path = PurePosixPath(folder)
    if len(path.parts) >= 3 and path.parts[-3] == "agents":
        yield str(path.parents[2])


def _place(name: str) -> str:
    """The folder of a file; a store counts as one of the agent's sessions, beside which it lies."""
    folder = PurePosixPath(_folder(name))
    is_store = _base(name) == STORE_NAME and folder.name == "agent"
    return str(folder.parent / "sessions") if is_store else str(folder)


def _folder(name: str) -> str:
    return str(PurePosixPath(name).parent)


def _base(name: str) -> str:
    return PurePosixPath(name).name
