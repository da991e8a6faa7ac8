"""``python -m tests.samples``: write the sample sessions of the walk-through anew."""

from __future__ import annotations

from tests.samples.walkthrough import FOLDER, SAMPLES

for folder, script in SAMPLES.items():
    (FOLDER / folder).mkdir(exist_ok=True)
    for name, text in script.files().items():
        (FOLDER / folder / name).write_text(text, encoding="utf-8")
