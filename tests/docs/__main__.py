"""``python -m tests.docs``: write the pages that the engine computes."""

from __future__ import annotations

import os

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.settings")
    django.setup()
    from tests.docs.computed import DOCS, PAGES, RULES, concept_files

    for name, page in PAGES.items():
        (RULES / name).write_text(page(), encoding="utf-8")
    for name, text in concept_files().items():
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
