"""Models on servers that a team's compactions and flushes may ask."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from compaction_app.sealed import unseal
from compaction_app.summarisers.anthropic import Anthropic
from compaction_app.summarisers.chat import ChatModel, Endpoint
from compaction_app.summarisers.openai_compatible import OpenAICompatible
from sessions_app.models import Team


class ModelConnection(models.Model):
    """A model on a server. Agents and ``compaction.provider`` name it; the key is stored sealed."""

    class Kind(models.TextChoices):
        OPENAI = "openai", "OpenAI-compatible"
        ANTHROPIC = "anthropic", "Anthropic"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="connections")
    name = models.SlugField(max_length=60)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    base_url = models.CharField(max_length=300)
    model = models.CharField(max_length=200)
    sealed_key = models.TextField(blank=True)
    max_output = models.PositiveIntegerField(null=True, blank=True, help_text="tokens it can write")
    input_price = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)
    output_price = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)
    takes_tools = models.BooleanField(default=True)
    stall_seconds = models.PositiveIntegerField(default=60)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("team", "name"), name="one_connection_of_name"),
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.model})"

    def chat_model(self) -> ChatModel:
        """The model, ready to be asked.

        Raises:
            Unreadable: when its key was sealed with another SECRET_KEY.
        """
        endpoint = Endpoint(
            base_url=self.base_url,
            model=self.model,
            key=unseal(self.sealed_key),
            max_output=self.max_output,
            input_price=self.input_price,
            output_price=self.output_price,
            stall_seconds=float(self.stall_seconds),
            name=self.name,
        )
        return OpenAICompatible(endpoint) if self.kind == self.Kind.OPENAI else Anthropic(endpoint)
