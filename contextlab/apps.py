"""The project package as a Django app: checks, two small models, commands."""

from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from contextlab.env import BadSetting


class ContextLabConfig(AppConfig):
    name = "contextlab"
    verbose_name = "ContextLab"

    def ready(self) -> None:
        from contextlab import wakers
        from contextlab.checks import check_settings
        from contextlab.health import known_workers
        from sessions_app import workers

        wakers.connect()
        checks.register(check_settings)
        workers.know_by(known_workers)
        try:
            settings.FILE_UPLOAD_TEMP_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise BadSetting(f"DATA_DIR={settings.DATA_DIR} cannot be written: {error}") from error
