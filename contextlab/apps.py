"""The project package as a Django app: checks, two small models, commands."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks


class ContextLabConfig(AppConfig):
    name = "contextlab"
    verbose_name = "ContextLab"

    def ready(self) -> None:
        from contextlab.checks import check_settings

        checks.register(check_settings)
