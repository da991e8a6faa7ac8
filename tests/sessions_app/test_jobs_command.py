"""Jobs in the terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from sessions_app import jobs
from sessions_app.models import Job
from tests.builders import short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("jobs", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def job(alice: Person) -> Job:
    return Job.objects.create(team=alice.team, kind="import", title="[b]ig", total=4)


def test_the_list_shows_state_and_progress(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    mine = jobs.claim(job.uuid)
    assert mine is not None
    jobs.report(mine, 1, step="file 1 of 4")
    out = run()
    assert "1 running, 0 waiting, 0 workers" in out
    assert "[b]ig" in out and "25% file 1 of 4" in out and str(job.uuid) in out
    assert str(job.uuid) not in run("--state", "failed")


def test_one_job_is_shown_with_its_log(job: Job) -> None:
    mine = jobs.claim(job.uuid, worker="w1")
    assert mine is not None
    jobs.note(mine, "hello [log]", "warning")
    jobs.fail(mine, "broken")
    out = run("--show", str(job.uuid))
    assert "attempt 1, w1: failed broken" in out and "warning hello [log]" in out


def test_cancel_and_retry(job: Job) -> None:
    assert "asked to cancel" in run("--cancel", str(job.uuid))
    with pytest.raises(CommandError, match="ended already: cancelled"):
        run("--cancel", str(job.uuid))
    assert "queued again" in run("--retry", str(job.uuid))
    with pytest.raises(CommandError, match="only failed or cancelled"):
        run("--retry", str(job.uuid))


@pytest.mark.parametrize("text", ["nonsense", "00000000-0000-4000-8000-000000000000"])
def test_a_job_that_is_not_there(text: str) -> None:
    with pytest.raises(CommandError, match="there is no job"):
        run("--show", text)


def test_the_table_says_what_came_of_each_and_who_waits_for_whom(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    session = alice.imports(short_session().data())
    fields = {"team": alice.team, "kind": "compaction", "session": session}
    done = Job.objects.create(**fields, title="a", state="succeeded", result={"summary": "9 to 3"})
    running = Job.objects.create(**fields, title="b")
    Job.objects.create(**fields, title="c")
    assert jobs.claim(running.uuid) is not None
    text = run()
    assert "9 to 3" in text and "waits for another" in text
    assert str(done.uuid) in text, "an id can be copied"
