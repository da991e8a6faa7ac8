"""``python -m tests.docs``: write the pages that the engine computes."""

from __future__ import annotations

from tests.docs.computed import PAGES, RULES


def main() -> None:
    for name, page in PAGES.items():
        (RULES / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
