"""The session that most tests of the page look at."""

from __future__ import annotations

import pytest

from sessions_app.models import Session
from tests.compaction_app.conftest import Bring
from tests.compaction_app.pages.page import CONFIG
from tests.engine.builders import chat


@pytest.fixture
def session(bring: Bring) -> Session:
    return bring(chat(30), CONFIG)
