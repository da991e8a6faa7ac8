"""The upper floor: what decides."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig

from sessions_app.signals import session_changed


class CompactionAppConfig(AppConfig):
    name = "compaction_app"
    verbose_name = "Compaction"

    def ready(self) -> None:
        from compaction_app import (
            audits,
            compaction_jobs,
            flush_jobs,
            model_tests,
            probe_jobs,
            replays,
            resummaries,
            runs,
        )
        from compaction_app import compaction_replays as remaking
        from compaction_app.checkpoints import checkpoint_end
        from sessions_app import batches, jobs, tombstones

        def summarise(session: Any, **_: Any) -> None:
            runs.write_summary(session)

        def judge(session: Any, **_: Any) -> None:
            if not session.is_live:  # its decisions are kept as they are made
                audits.request_audit(session)

        jobs.register(audits.KIND, jobs.Kind(audits.TASK, "decisions"))
        compacting = jobs.Kind(compaction_jobs.TASK, "compaction", True, "compaction-record")
        jobs.register(compaction_jobs.KIND, compacting)
        flushing = jobs.Kind(flush_jobs.TASK, "memory flush", True, "flush-record")
        jobs.register(flush_jobs.KIND, flushing)
        jobs.register(model_tests.KIND, jobs.Kind(model_tests.TASK, "test of a model"))
        jobs.register(remaking.KIND, jobs.Kind(remaking.TASK, "summary anew"))
        jobs.register(replays.KIND, jobs.Kind(replays.TASK, "replay"))
        jobs.register(probe_jobs.KIND, jobs.Kind(probe_jobs.TASK, "probe of a compaction"))
        jobs.register(resummaries.KIND, jobs.Kind(resummaries.TASK, "another summary"))
        session_changed.connect(judge, weak=False, dispatch_uid="compaction_app.audit")
        session_changed.connect(summarise, weak=False, dispatch_uid="compaction_app.summary")
        tombstones.also_covers(checkpoint_end)
        batches.check_configs_with(runs.config_fault)
