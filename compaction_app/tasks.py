"""What workers do for this floor."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from celery import shared_task
from celery.exceptions import SoftTimeLimitExceeded
from django.db import DatabaseError

from compaction_app import (
    audits,
    chain_backfill,
    compaction_jobs,
    compaction_replays,
    flush_jobs,
    kept_answers,
    model_tests,
    probe_jobs,
    replays,
    resummaries,
    retention,
    webhooks,
)
from sessions_app.working import CannotDo, Hold, Stopped, do

log = logging.getLogger(__name__)


@shared_task
def audit_session(uuid: str) -> None:
    """Work out a session's decisions; done again it goes on behind the turns that are stored."""

    def work(hold: Hold) -> Mapping[str, Any]:
        job = hold.job
        if job.session is None:
            return {}
        try:
            done = audits.audit_session(job.session, lambda turns: hold.progress(turns, job.total))
        except (DatabaseError, Stopped, SoftTimeLimitExceeded):
            raise  # these say what to do with the job
        except (
            Exception
        ) as error:  # whatever a file holds, its owner is told that it cannot be done
            log.exception("audit of session %s", job.session.uuid)
            reason = f"The decisions could not be worked out: {type(error).__name__}: {error}"
            raise CannotDo(reason) from error
        return {"turns": done, "summary": f"{done:,} turn{'' if done == 1 else 's'} judged"}

    do(uuid, work)


@shared_task
def compact_session(uuid: str) -> None:
    """Compact a session, or a copy of it."""
    do(uuid, compaction_jobs.compact)


@shared_task
def flush_session(uuid: str) -> None:
    """Flush the memories of a session, or of a copy of it."""
    do(uuid, flush_jobs.flush)


@shared_task
def test_model(uuid: str) -> None:
    """Ask a model whether it answers."""
    do(uuid, model_tests.run)


@shared_task
def replay_decisions(uuid: str) -> None:
    """Make decisions again and compare."""
    do(uuid, replays.run)


@shared_task
def replay_compaction(uuid: str) -> None:
    """Make a compaction's summary anew, beside the one that stands."""
    do(uuid, compaction_replays.run)


@shared_task
def probe_compaction(uuid: str) -> None:
    """Ask a model what it recalls of a recorded compaction."""
    do(uuid, probe_jobs.run)


@shared_task
def resummarise(uuid: str) -> None:
    """Make another summary of a recorded compaction."""
    do(uuid, resummaries.run)


@shared_task
def deliver_webhooks() -> None:
    """Send what is due to the webhooks of agents."""
    while webhooks.deliver_due() == webhooks.AT_A_TIME:
        pass


@shared_task
def drop_old_decisions() -> None:
    """Keep to the limits of age and number."""
    retention.drop_old()
    kept_answers.drop_old()


@shared_task
def link_old() -> None:
    """Give what is older than the hash chains its links; nothing is left to do after the first time."""
    chain_backfill.backfill()
