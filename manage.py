#!/usr/bin/env python
"""Django's entry point."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.settings")
    from django.core.management import execute_from_command_line

    from contextlab.env import BadSetting

    try:
        execute_from_command_line(sys.argv)
    except BadSetting as error:
        sys.exit(f"error: {error}")
