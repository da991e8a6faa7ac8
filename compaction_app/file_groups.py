"""What lies at a path, in groups that are judged together: transcripts, stores, an index, a configuration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sessions_app.agent_store import is_store
from sessions_app.folders import (
    CONFIG_NAME,
    INDEX_NAME,
    STORE_NAME,
    STORE_SUFFIXES,
    TRANSCRIPT_SUFFIXES,
    beside,
    bundles,
    walk,
)
from sessions_app.importers.index import read_index


class CannotDiagnose(ValueError):
    """There is nothing to judge at a path; the message says why and what would do."""


@dataclass(frozen=True, slots=True)
class Group:
    """Files that belong together; ``is_whole`` when their folder was asked for as a whole."""

    config: Path | None
    index: Path | None
    transcripts: tuple[Path, ...]
    is_whole: bool
    stores: tuple[Path, ...] = ()


def groups_of(paths: Iterable[Path]) -> list[Group]:
    """What lies at the paths.

    Raises:
        CannotDiagnose: for a path with nothing to judge.
    """
    return [group for path in paths for group in _groups(path)]


def _groups(path: Path) -> list[Group]:
    if path.is_dir():
        return _groups_of_folder(path)
    if not path.is_file():
        raise CannotDiagnose(f"{path}: there is no such file or folder.")
    near = {found.name: found for found in beside(path)}
    config = near.get(CONFIG_NAME)
    if path.suffix in STORE_SUFFIXES or is_store(path):
        return [Group(config, None, (), is_whole=False, stores=(path,))]
    if path.name == CONFIG_NAME or (path.suffix in (".json", ".json5") and not _is_index(path)):
        return [Group(path, None, (), is_whole=False)]
    if path.suffix == ".json":
        transcripts = [p for p in sorted(path.parent.iterdir()) if p.suffix in TRANSCRIPT_SUFFIXES]
        known = tuple(p for p in transcripts if p in set(walk(path.parent)))
        return [Group(config, path, known, is_whole=bool(known))]
    return [Group(config, near.get(INDEX_NAME), (path,), is_whole=False)]


def _is_index(path: Path) -> bool:
    return path.name == INDEX_NAME or bool(read_index(path.read_bytes()).by_session_id)


def _groups_of_folder(folder: Path) -> list[Group]:
    names = {path.as_posix(): path for path in walk(folder)}
    groups = []
    for bundle in bundles(names):
        index = names.get(bundle.index)
        config = names.get(bundle.config)
        if config is None and index is not None:
            config = next((p for p in beside(index) if p.name == CONFIG_NAME), None)
        transcripts = tuple(names[name] for name in bundle.transcripts)
        stores = tuple(names[name] for name in bundle.stores)
        groups.append(Group(config, index, transcripts, is_whole=True, stores=stores))
    used = {g.config for g in groups if g.index or g.transcripts or g.stores}
    groups = [g for g in groups if g.index or g.transcripts or g.stores or g.config not in used]
    if groups:
        return groups
    raise CannotDiagnose(
        f"{folder} holds no transcript (.jsonl), no {STORE_NAME}, no sessions.json and no openclaw.json."
    )
