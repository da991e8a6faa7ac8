"""The session page runs nothing that a transcript, a configuration or an address brings along."""

from __future__ import annotations

import pytest
from django.test import Client

from sessions_app.models import Session
from tests.compaction_app.conftest import Bring
from tests.compaction_app.pages.page import DETAILS, HOSTILE, RESULT, WORK, Page, address
from tests.engine.builders import Script

pytestmark = pytest.mark.django_db


def test_nothing_inline_anywhere(viewer: Client, session: Session) -> None:
    for headers in ({}, RESULT, DETAILS, WORK):
        answer = viewer.get(address(session, contextTokens=300_000), headers=headers)
        policy = answer["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        for tag, attributes in Page(answer).elements:
            assert tag != "style"
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            assert not attributes.get("href", "").strip().lower().startswith("javascript:")
            if tag == "script":
                assert "src" in attributes or attributes["type"] == "application/json"
            for name in ("src", "href"):
                assert "//" not in attributes.get(name, "").split("?")[0]


def test_hostile_texts_are_escaped(viewer: Client, bring: Bring) -> None:
    script = Script().user(HOSTILE)
    for number in range(6):
        usage = {"input": 1_000 + 100 * number, "output": 10}
        script.message("user", HOSTILE)
        script.message("assistant", HOSTILE, provider=HOSTILE, model=HOSTILE, usage=usage)
    config = {"agents": {"defaults": {"compaction": {"mode": HOSTILE, "model": HOSTILE}}}}
    session = bring(script, config, {"modelProvider": HOSTILE, "model": HOSTILE})
    Session.objects.filter(pk=session.pk).update(title=HOSTILE)
    session.agent.name = HOSTILE  # type: ignore[union-attr]
    session.agent.save()  # type: ignore[union-attr]
    for headers in ({}, RESULT, DETAILS, WORK):
        query = {"provider": HOSTILE, "compaction.customInstructions": HOSTILE}
        answer = viewer.get(address(session, **query), headers=headers)
        text = answer.content.decode()
        assert answer.status_code == 200
        assert "<script>alert" not in text and "<img" not in text
        shows_texts = headers in ({}, WORK)  # the moved parts hold figures only
        assert ("&lt;script&gt;alert(1)" in text) or not shows_texts
        for _, attributes in Page(answer).elements:
            assert "onerror" not in attributes
