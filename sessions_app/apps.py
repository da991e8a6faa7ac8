"""The lower floor: what happened."""

from __future__ import annotations

import logging
from pathlib import Path

from django.apps import AppConfig
from django.conf import settings

from sessions_app import vocabularies


class SessionsAppConfig(AppConfig):
    name = "sessions_app"
    verbose_name = "Sessions"

    def ready(self) -> None:
        try:
            vocabularies.install(Path(settings.TIKTOKEN_CACHE_DIR))
        except OSError as error:
            logging.getLogger(__name__).warning("vocabularies not unpacked: %s", error)
