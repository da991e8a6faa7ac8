"""What a command of the terminal is about: a stored session by its id, or sessions in files."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from django.core.management.base import CommandError

from compaction_app.runs import situation_of
from compaction_app.runtime_views import RuntimeSession, runtime_session, session_of_files
from compaction_app.session_files import UnreadableFile, find_sessions
from sessions_app.hidden_secrets import showing
from sessions_app.models import Session


def add_target(parser: ArgumentParser) -> None:
    parser.add_argument(
        "target", metavar="TARGET", help="a transcript, a store, a folder; or a stored session's id"
    )
    parser.add_argument("--key", default="", help="only the session with this key or part of it")


def stored_session(target: str) -> Session | None:
    """The stored session with that id; none for what is no id.

    Raises:
        CommandError: for an id that no session has.
    """
    try:
        wanted = UUID(target)
    except ValueError:
        return None
    if Path(target).exists():
        return None
    found = Session.objects.select_related("agent").filter(uuid=wanted).first()
    if found is None:
        raise CommandError(f"No stored session has the id {target}.")
    return found


def runtime_sessions(target: str, key: str = "") -> Sequence[RuntimeSession]:
    """The sessions that are meant, as the runtime knows them.

    Raises:
        CommandError: where there is none, saying what was looked for.
    """
    stored = stored_session(target)
    if stored is not None:
        showing(stored)
        return [runtime_session(situation_of(stored))]
    try:
        found = [session_of_files(files) for files in find_sessions([Path(target)])]
    except UnreadableFile as error:
        raise CommandError(str(error)) from None
    chosen = [one for one in found if key in one.key]
    if not chosen:
        what = f"with the key {key!r} " if key and found else ""
        raise CommandError(f"{target}: no session {what}was found there.")
    return chosen
