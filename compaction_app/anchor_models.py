"""What the texts of long windows hold, kept so that no process has to read them again."""

from __future__ import annotations

from django.db import models

from sessions_app.models import Window


class AnchorBlock(models.Model):
    """The anchors of a stretch of a window's entries; a cache, that can be dropped at any time.

    ``digest`` is of the entries' own digests and the version of the rules: a block counts only as long
    as both are those it was made from. ``payload`` is the block, compressed.
    """

    window = models.ForeignKey(Window, models.CASCADE, related_name="+")
    number = models.PositiveIntegerField()
    digest = models.BinaryField(max_length=16)
    payload = models.BinaryField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("window", "number"), name="anchor_blocks"),)

    def __str__(self) -> str:
        return f"block {self.number} of {self.window_id}"
