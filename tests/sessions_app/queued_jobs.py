"""Jobs for tests, and what workers were told of."""

from __future__ import annotations

from typing import Any

from sessions_app.models import Job
from tests.conftest import Person


def queued(person: Person, **fields: Any) -> Job:
    return Job.objects.create(team=person.team, kind="import", title="x", total=10, **fields)
