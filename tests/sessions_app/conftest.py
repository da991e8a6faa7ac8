"""What workers are told of, caught before it reaches a broker."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app import jobs


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The uuids of the jobs that workers were told of."""
    told: list[str] = []

    def send(name: str, args: list[str], **options: Any) -> None:
        assert name == "sessions_app.tasks.import_uploads"
        told.extend(args)

    monkeypatch.setattr(jobs.current_app, "send_task", send)
    return told
