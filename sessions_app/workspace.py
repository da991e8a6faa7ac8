"""The workspace files of an agent: written, taken away, and found again as a call saw them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from sessions_app.models import (
    Agent,
    Window,
    WorkspaceFile,
    WorkspaceSnapshot,
    WorkspaceText,
    WorkspaceUse,
)
from sessions_app.rows import storable

MAX_FILES = 100
MAX_BYTES = 1_000_000
"""Of one file. What a prompt takes of it is far less (spec compaction 5.2)."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]*(/[A-Za-z0-9_][A-Za-z0-9_. -]*)*", re.ASCII)


class BadFile(ValueError):
    """A file that a workspace does not take; the message says why."""


def write_files(agent: Agent, files: Mapping[str, str | None]) -> WorkspaceSnapshot:
    """Write files by name, take away those given as none; the snapshot of the whole afterwards.

    Raises:
        BadFile: for a name or a text that is not taken; nothing is written then.
    """
    for name, text in files.items():
        check_file(name, text)
    with transaction.atomic():
        Agent.objects.select_for_update().only("pk").get(pk=agent.pk)
        for name, text in files.items():
            _write(agent, name, text)
        digests = _digests(agent)
        if len(digests) > MAX_FILES:
            raise BadFile(f"A workspace holds at most {MAX_FILES} files.")
        snapshot, _ = WorkspaceSnapshot.objects.get_or_create(
            agent=agent, digest=_snapshot_digest(digests), defaults={"files": digests}
        )
        agent.workspace = snapshot
        agent.save(update_fields=["workspace"])
    return snapshot


def files_of(agent: Agent) -> dict[str, str]:
    """The texts as they are now, by name, in the order of names."""
    rows = WorkspaceFile.objects.filter(agent=agent).order_by("name")
    return dict(rows.values_list("name", "content__text"))


def files_at(snapshot: WorkspaceSnapshot) -> dict[str, str]:
    """The texts of a snapshot, by name."""
    found = WorkspaceText.objects.filter(
        team=snapshot.agent.team_id, digest__in=snapshot.files.values()
    )
    texts = dict(found.values_list("digest", "text"))
    return {name: texts[digest] for name, digest in snapshot.files.items()}


def snapshot_of_call(window: Window, seq: int) -> WorkspaceSnapshot | None:
    """What the call that entry ``seq`` answers saw; none where that was not kept."""
    uses = WorkspaceUse.objects.filter(window=window, from_seq__lte=seq)
    use = uses.select_related("snapshot__agent").order_by("-from_seq").first()
    return use.snapshot if use else None


def check_file(name: str, text: str | None) -> None:
    """Raises :class:`BadFile` for a name or a text that no workspace takes."""
    if not _NAME.fullmatch(name) or len(name) > 200 or ".." in name:
        raise BadFile(
            f"{name[:60]!r} is no file name here: letters, digits, blanks and . _ - , with / between folders."
        )
    if text is not None and len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise BadFile(f"{name} is larger than {MAX_BYTES:,} bytes.")


def _write(agent: Agent, name: str, text: str | None) -> None:
    if text is None:
        WorkspaceFile.objects.filter(agent=agent, name=name).delete()
        return
    kept = storable(text.replace("\r\n", "\n"), len(text))
    content, _ = WorkspaceText.objects.get_or_create(
        team_id=agent.team_id,
        digest=hashlib.sha256(kept.encode()).hexdigest(),
        defaults={"text": kept},
    )
    written = WorkspaceFile.objects.filter(agent=agent, name=name)
    if not written.filter(content=content).exists():
        WorkspaceFile.objects.update_or_create(
            agent=agent, name=name, defaults={"content": content, "changed_at": timezone.now()}
        )


def _digests(agent: Agent) -> dict[str, str]:
    rows = WorkspaceFile.objects.filter(agent=agent).order_by("name")
    return dict(rows.values_list("name", "content__digest"))


def _snapshot_digest(digests: Mapping[str, str]) -> str:
    lines = "".join(f"{digest} {name}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()
