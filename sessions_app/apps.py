"""The lower floor: what happened."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import pre_delete

from sessions_app import vocabularies


class SessionsAppConfig(AppConfig):
    name = "sessions_app"
    verbose_name = "Sessions"

    def ready(self) -> None:
        from sessions_app import hidden_secrets

        hidden_secrets.install()
        try:
            vocabularies.install(Path(settings.TIKTOKEN_CACHE_DIR))
        except OSError as error:
            logging.getLogger(__name__).warning("vocabularies not unpacked: %s", error)
        from sessions_app import tombstones
        from sessions_app.models import Session

        def bury(instance: Session, **_: Any) -> None:
            tombstones.bury_unburied(instance)

        pre_delete.connect(bury, sender=Session, weak=False, dispatch_uid="sessions_app.tombstone")
