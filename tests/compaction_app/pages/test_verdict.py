"""The verdict on the session page: the gravest in sight, the rest one click away, fixes that work."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from sessions_app.batches import import_files
from sessions_app.imports import Source
from sessions_app.models import Session, Team
from tests.compaction_app.conftest import Bring
from tests.compaction_app.pages.page import CONFIG, address
from tests.engine.builders import chat, run_folder

pytestmark = pytest.mark.django_db
CODE = re.compile(r"<code>([A-Z_]+)</code>")


@pytest.fixture
def stuck(team: Team, django_capture_on_commit_callbacks: Any) -> Session:
    """A recorded session that is stuck, with its configuration and its index."""
    names = ("openclaw.json", "sessions.json")
    folder = run_folder("growth-32k")
    paths = [path for path in folder.iterdir() if path.name in names or "-" in path.name]
    files = [Source.of_path(path, f"growth-32k/{Path(path).name}") for path in paths]
    with django_capture_on_commit_callbacks(execute=True):
        (session,) = [s for report in import_files(team, files) for s in report.sessions]
    session.refresh_from_db()
    return session


def verdict(client: Client, target: str) -> str:
    text = client.get(target).content.decode()
    return text[text.index('id="verdict"') : text.index("</section>", text.index('id="verdict"'))]


def test_the_gravest_are_shown_and_the_rest_lies_behind_a_summary(
    viewer: Client, stuck: Session
) -> None:
    text = verdict(viewer, address(stuck))
    shown, _, folded = text.partition("<details>")
    assert CODE.findall(shown)[:2] == ["STUCK_OVERFLOW", "COMPACTION_LOOP"]
    assert len(CODE.findall(shown)) == 6
    assert "more finding" in folded and "RESERVE_SHRINKS_PROMPT" in CODE.findall(folded)


def test_a_fix_is_a_link_that_takes_its_finding_away(viewer: Client, stuck: Session) -> None:
    text = verdict(viewer, address(stuck))
    of_keep = text[text.index("KEEP_GE_THRESHOLD") :]
    link = html.unescape(re.search(r'href="(\?[^"]+)"', of_keep)[1])  # type: ignore[index]
    assert "compaction.keepRecentTokens=2000" in link
    assert "KEEP_GE_THRESHOLD" not in verdict(viewer, f"/sessions/{stuck.uuid}/{link}")


def test_few_findings_need_no_summary(viewer: Client, bring: Bring) -> None:
    text = verdict(viewer, address(bring(chat(6, density=1.3), CONFIG)))
    assert CODE.findall(text) and "<details>" not in text


def test_the_list_says_the_same(viewer: Client, stuck: Session) -> None:
    said = [each["text"] for each in stuck.summary["verdict"]]
    assert said[0] == "stuck overflow" and "estimator low" not in said
    assert stuck.summary["signs"]["of"]["seen"] == 111
