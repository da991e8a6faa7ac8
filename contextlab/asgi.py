"""The servers' entry point."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.settings")
django_application = get_asgi_application()

from django.conf import settings  # noqa: E402  # settings exist from here on

from contextlab.body_limit import limit_body  # noqa: E402

application = limit_body(django_application, settings.MAX_UPLOAD_MB * 2**20)
