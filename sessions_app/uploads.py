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

AT_ONCE_BYTES = 1 << 20
"""Up to this size the answer to the upload is the imported session."""


def receive(team: Team, files: Sequence[UploadedFile[Any]]) -> list[FileReport] | Job:
    """Import the files now, or keep them and queue a job when they are large."""
    total = sum(file.size or 0 for file in files)
    if total <= AT_ONCE_BYTES:
        return list(import_files(team, [_in_memory(file) for file in files]))
    folder = uploads_folder() / uuid4().hex
    folder.mkdir(parents=True)
    for number, file in enumerate(files):
        with (folder / str(number)).open("wb") as kept:
            for chunk in file.chunks():
                kept.write(chunk)
    names = [_name(file) for file in files]
    title = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    return jobs.enqueue(team, "import", title, {"folder": folder.name, "names": names}, total)


def run(job: Job) -> list[FileReport]:
    """Import what a job has kept, then remove the copies.

    Raises:
        OSError: when the kept files cannot be read.
    """
    folder = uploads_folder() / Path(str(job.arguments["folder"])).name
    sources = [
        Source.of_path(folder / str(number), str(name))
        for number, name in enumerate(job.arguments["names"])
    ]
    read: dict[str, int] = {}

    def progress(name: str, done: int) -> None:
        read[name] = done
        jobs.report(job, sum(read.values()))

    reports = list(import_files(job.team, sources, progress))
    shutil.rmtree(folder, ignore_errors=True)
    return reports


def uploads_folder() -> Path:
    return Path(settings.DATA_DIR) / "uploads"


def _in_memory(file: UploadedFile[Any]) -> Source:
    data = file.read()
    return Source(_name(file), len(data), lambda: BytesIO(data))


def _name(file: UploadedFile[Any]) -> str:
    """The name without any folder that a client may have put in front."""
    return PurePosixPath((file.name or "").replace("\\", "/")).name or "upload"
