"""Reason codes as sentences."""

from __future__ import annotations

from django import template

from compaction_app.engine.reasons import sentence

register = template.Library()
register.filter("sentence", sentence)
