"""What is stored about sessions. A team owns everything; other teams see nothing of it.

Entries are append-only: the payload (the bytes as they were read) lies beside numeric columns, so
that charts and threshold moves never load message text.
"""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from sessions_app.importers.formats import TITLES
from sessions_app.job_models import Job as Job
from sessions_app.job_models import JobAttempt as JobAttempt
from sessions_app.job_models import JobLine as JobLine
from sessions_app.secret_models import Reveal as Reveal
from sessions_app.secret_models import Secret as Secret
from sessions_app.team_models import ApiToken as ApiToken
from sessions_app.team_models import IdempotentCall as IdempotentCall
from sessions_app.team_models import Invitation as Invitation
from sessions_app.team_models import Membership as Membership
from sessions_app.team_models import Team as Team
from sessions_app.tombstone_models import Tombstone as Tombstone
from sessions_app.watch_models import WatchedFolder as WatchedFolder
from sessions_app.workspace_models import WorkspaceFile as WorkspaceFile
from sessions_app.workspace_models import WorkspaceSnapshot as WorkspaceSnapshot
from sessions_app.workspace_models import WorkspaceText as WorkspaceText
from sessions_app.workspace_models import WorkspaceUse as WorkspaceUse


class Agent(models.Model):
    """An agent whose sessions are kept, with the configuration found beside them.

    Its name says little, most are called "main"; ``sessions_app.agents`` knows which one files are of.
    ``windows`` are what its model's entry says besides the policy: ``contextWindow``,
    ``contextTokens``, ``maxTokens`` of the model and ``providerContextWindow``, in tokens. A tool is
    ``{"name", "description", "parameters"}``, a skill ``{"name", "description", "location"}``.
    """

    class FlushBy(models.TextChoices):
        SERVER = "server"
        AGENT = "agent"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="agents")
    name = models.CharField(max_length=200, help_text="its id in the state folder")
    home = models.CharField(
        max_length=1000, blank=True, help_text="path of its state folder on this machine"
    )
    config_text = models.TextField(blank=True, help_text="openclaw.json as it was read")
    is_live = models.BooleanField(default=False, help_text="fed through the API")
    provider = models.CharField(max_length=100, blank=True)
    model = models.CharField(max_length=200, blank=True)
    windows = models.JSONField(default=dict)
    path = models.CharField(max_length=10, default="chat", help_text="chat, agent, local or cli")
    time_zone = models.CharField(max_length=64, default="UTC")
    system_prompt = models.TextField(blank=True, help_text="its own, before the workspace files")
    tools = models.JSONField(default=list)
    skills = models.JSONField(default=list)
    compaction_summariser = models.CharField(max_length=100, default="extractive")
    flush_summariser = models.CharField(max_length=100, default="extractive")
    flush_by = models.CharField(max_length=10, choices=FlushBy.choices, default=FlushBy.SERVER)
    flush_first = models.BooleanField(default=True, help_text="a due flush goes before compaction")
    workspace = models.ForeignKey(
        WorkspaceSnapshot, models.SET_NULL, null=True, related_name="+", help_text="as it is now"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("team", "home", "name"),
                condition=~models.Q(home=""),
                name="one_agent_per_place",
            ),
        )

    def __str__(self) -> str:
        return self.name


class Session(models.Model):
    """One conversation of an agent; its windows hold the entries.

    A live session is written through ``store`` alone, under the lock of its row. ``guard`` is what the
    session guard remembers (pairing), ``run`` what the run that is going on has spent, ``queued`` what
    the next prompt tells the model; the floor above gives them their meaning.
    """

    class Spawned(models.TextChoices):
        NO = ""
        ISOLATED = "isolated"
        FORK = "fork"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="sessions")
    agent = models.ForeignKey(
        Agent, models.SET_NULL, null=True, blank=True, related_name="sessions"
    )
    title = models.CharField(max_length=200)
    source = models.CharField(max_length=20, default="openclaw", help_text="format it came from")
    key = models.CharField(max_length=300, blank=True, help_text="sessionKey in sessions.json")
    index_entry = models.JSONField(null=True, help_text="its entry in sessions.json")
    runtime_version = models.CharField(max_length=40, blank=True, help_text="as its store says")
    provider = models.CharField(max_length=100, blank=True)
    model = models.CharField(max_length=200, blank=True)
    encoding = models.CharField(max_length=20, default="o200k_base")
    facts = models.JSONField(default=dict, help_text="counts and peaks of what happened")
    spark = models.JSONField(default=list, help_text="the curve for the list, 60 points at most")
    summary = models.JSONField(default=dict, help_text="lines and verdict, written from above")
    peak_tokens = models.PositiveBigIntegerField(default=0)
    entry_count = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(null=True)
    imported_at = models.DateTimeField(default=timezone.now)
    is_live = models.BooleanField(default=False)
    archived_at = models.DateTimeField(null=True)
    parent = models.ForeignKey("self", models.SET_NULL, null=True, related_name="children")
    spawned = models.CharField(max_length=10, choices=Spawned.choices, blank=True)
    copied_from = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        related_name="copies",
        help_text="the recording that a job works on a copy of",
    )
    guard = models.JSONField(default=dict)
    run = models.JSONField(default=dict)
    queued = models.JSONField(default=list)
    last_event = models.PositiveBigIntegerField(default=0, help_text="sequence of the newest event")
    counted = models.PositiveIntegerField(
        default=0, help_text="entries that facts and summary know"
    )

    class Meta:
        indexes = (
            models.Index(fields=("team", "-imported_at")),
            models.Index(fields=("team", "-last_at")),
        )

    @property
    def source_title(self) -> str:
        """The program that wrote it, for people."""
        return TITLES.get(self.source, self.source)

    @property
    def is_openclaw(self) -> bool:
        """Whether the rules that are shown are those it was made by (pi is what OpenClaw is built on)."""
        return self.source in ("openclaw", "pi")

    def __str__(self) -> str:
        return self.title


class Window(models.Model):
    """One physical transcript of a session: a file, or what a new session id began."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey(Session, models.CASCADE, related_name="windows")
    sequence = models.PositiveIntegerField(default=0)
    external_id = models.CharField(max_length=200, blank=True)
    version = models.PositiveSmallIntegerField(default=3)
    header = models.BinaryField(default=b"")
    source_name = models.CharField(max_length=300, blank=True)
    place = models.CharField(max_length=1000, blank=True, help_text="absolute path of its file")
    stamp = models.CharField(max_length=100, blank=True, help_text="of the file when it was read")
    head_digest = models.CharField(max_length=64, blank=True, help_text="of the first line")
    content_digest = models.CharField(max_length=64, blank=True, help_text="of the bytes read")
    content_bytes = models.PositiveBigIntegerField(default=0)
    content_lines = models.PositiveIntegerField(default=0)
    entry_count = models.PositiveIntegerField(default=0)
    settled_entries = models.PositiveIntegerField(
        default=0, help_text="entries that no further line of the file changes"
    )
    thread = models.CharField(max_length=200, blank=True, help_text="of a file that holds several")
    from_store = models.BooleanField(default=False, help_text="rows of an agent's SQLite store")
    generation = models.CharField(max_length=200, blank=True, help_text="of the rows of a store")
    reason = models.CharField(max_length=20, blank=True, help_text="why the runtime began it")
    previous_id = models.CharField(max_length=200, blank=True, help_text="external id before it")
    put_aside = models.CharField(
        max_length=10, blank=True, help_text="reset, deleted or archived by the runtime"
    )
    head_id = models.CharField(max_length=128, blank=True, help_text="of the last entry, when live")
    turn_mark = models.CharField(max_length=16, blank=True, help_text="of the turn going on")
    link = models.BinaryField(max_length=32, default=b"", help_text="the last of its hash chain")
    linked_entries = models.PositiveIntegerField(default=0, help_text="that the chain holds")
    linked_records = models.PositiveIntegerField(default=0, help_text="of work, in the chain too")
    workspace = models.ForeignKey(
        WorkspaceSnapshot,
        models.SET_NULL,
        null=True,
        related_name="+",
        help_text="the one last used",
    )
    searched_entries = models.PositiveIntegerField(
        default=0, help_text="entries that were looked through for secrets"
    )
    searched_by = models.PositiveSmallIntegerField(
        default=0, help_text="version of the rules that looked"
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("session", "sequence"), name="window_order"),
        )
        indexes = (models.Index(fields=("head_digest",)), models.Index(fields=("place",)))


class Entry(models.Model):
    """One entry, append-only. Token columns are null where nothing is known, never 0 for it."""

    window = models.ForeignKey(Window, models.CASCADE, related_name="entries")
    seq = models.PositiveIntegerField()
    line = models.PositiveIntegerField()
    entry_id = models.CharField(max_length=128)
    parent_seq = models.PositiveIntegerField(null=True)
    kept_seq = models.PositiveIntegerField(null=True)
    type = models.CharField(max_length=32)
    role = models.CharField(max_length=32, blank=True)
    mark = models.CharField(max_length=16, blank=True)
    at_ms = models.BigIntegerField(null=True)
    provider = models.CharField(max_length=100, blank=True)
    model = models.CharField(max_length=200, blank=True)
    stop_reason = models.CharField(max_length=32, blank=True)
    tool_name = models.CharField(max_length=128, blank=True)
    tokens = models.PositiveIntegerField(default=0, help_text="estimate, characters / 4")
    thinking_tokens = models.PositiveIntegerField(default=0)
    call_tokens = models.PositiveIntegerField(default=0)
    pressure = models.PositiveIntegerField(default=0, help_text="estimate of the pre-prompt check")
    exact = models.PositiveIntegerField(null=True, help_text="tokens by the session's encoding")
    result_chars = models.PositiveIntegerField(default=0, help_text="text of a tool result")
    images = models.PositiveSmallIntegerField(default=0)
    pruner_chars = models.PositiveIntegerField(null=True, help_text="as cache-TTL pruning counts")
    view_chars = models.PositiveIntegerField(default=0, help_text="what a soft trim measures")
    is_wide = models.BooleanField(default=False, help_text="its texts weigh more than their units")
    usage_input = models.PositiveBigIntegerField(null=True)
    usage_output = models.PositiveBigIntegerField(null=True)
    usage_cache_read = models.PositiveBigIntegerField(null=True)
    usage_cache_write = models.PositiveBigIntegerField(null=True)
    tokens_before = models.PositiveBigIntegerField(null=True, help_text="what a compaction says")
    excerpt = models.CharField(max_length=240, blank=True)
    call_ids = models.TextField(blank=True, help_text="tool calls made, or the one answered")
    digest = models.BinaryField(max_length=16, help_text="of the content, to know copies by")
    payload = models.BinaryField()
    link = models.BinaryField(
        max_length=32,
        null=True,
        help_text="of the window's hash chain, none until it is worked out",
    )

    class Meta:
        verbose_name_plural = "entries"
        constraints = (models.UniqueConstraint(fields=("window", "seq"), name="entry_order"),)
        indexes = (models.Index(fields=("window", "entry_id")),)


class ImportProblem(models.Model):
    """Damage found in a file; ``raw`` keeps the bytes that could not become an entry."""

    window = models.ForeignKey(Window, models.CASCADE, related_name="problems")
    line = models.PositiveIntegerField()
    kind = models.CharField(max_length=40)
    message = models.CharField(max_length=500)
    raw = models.BinaryField(default=b"")

    class Meta:
        indexes = (models.Index(fields=("window", "line")),)


class Event(models.Model):
    """The outbox: what happened to a session, in one sequence per session."""

    session = models.ForeignKey(Session, models.CASCADE, related_name="events")
    sequence = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=40)
    data = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("session", "sequence"), name="event_order"),)
        indexes = (models.Index(fields=("at",), name="event_time"),)
