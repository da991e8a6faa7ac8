"""Files that a browser sends: small ones are imported at once, larger ones by a worker."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from sessions_app import jobs
from sessions_app.batches import FileReport, import_files
from sessions_app.imports import Source
from sessions_app.models import Job, Team
from sessions_app.working import Hold

AT_ONCE_BYTES = 1 << 20
"""Up to this size the answer to the upload is the imported session."""


def receive(team: Team, files: Sequence[UploadedFile[Any]]) -> list[FileReport] | Job:
    """Import the files now, or keep them and queue a job when they are large."""
    total = sum(file.size or 0 for file in files)
    if total <= AT_ONCE_BYTES:
        named = zip(files, _names(files), strict=True)
        return list(import_files(team, [_in_memory(file, name) for file, name in named]))
    folder = uploads_folder() / uuid4().hex
    folder.mkdir(parents=True)
    for number, file in enumerate(files):
        with (folder / str(number)).open("wb") as kept:
            for chunk in file.chunks():
                kept.write(chunk)
    names = _names(files)
    title = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    return jobs.enqueue(team, "import", title, {"folder": folder.name, "names": names}, total)


def run(hold: Hold) -> list[FileReport]:
    """Import what a job has kept.

    Raises:
        OSError: when the kept files cannot be read.
    """
    job = hold.job
    folder = _folder(job)
    sources = [
        Source.of_path(folder / str(number), str(name))
        for number, name in enumerate(job.arguments["names"])
    ]
    read: dict[str, int] = {}

    def progress(name: str, done: int) -> None:
        read[name] = done
        hold.progress(sum(read.values()), job.total)

    return list(import_files(job.team, sources, progress))


def discard(job: Job) -> None:
    """Remove what a job has kept."""
    shutil.rmtree(_folder(job), ignore_errors=True)


def uploads_folder() -> Path:
    return Path(settings.DATA_DIR) / "uploads"


def _folder(job: Job) -> Path:
    return uploads_folder() / Path(str(job.arguments["folder"])).name


def _in_memory(file: UploadedFile[Any], name: str) -> Source:
    data = file.read()
    return Source(name, len(data), lambda: BytesIO(data))


def _names(files: Sequence[UploadedFile[Any]]) -> list[str]:
    """The names of the files; those that came before get a number for their folder."""
    names: list[str] = []
    for number, file in enumerate(files, 1):
        name = _name(file)
        names.append(f"{number}/{name}" if name in names else name)
    return names


def _name(file: UploadedFile[Any]) -> str:
    """The name without any folder that a client may have put in front."""
    return PurePosixPath((file.name or "").replace("\\", "/")).name or "upload"
