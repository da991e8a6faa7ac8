"""The site's settings, with one address more."""

from __future__ import annotations

from contextlab.settings import *  # noqa: F403
from contextlab.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.bench.bare"]
ROOT_URLCONF = "tests.bench.bare.urls"
