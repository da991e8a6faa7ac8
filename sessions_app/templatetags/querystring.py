"""Links that keep the rest of the address."""

from __future__ import annotations

from typing import Any

from django import template

register = template.Library()


@register.simple_tag(takes_context=True)
def changed_query(context: dict[str, Any], **changes: Any) -> str:
    """The query of the current address with other values; none removes a name."""
    query = context["request"].GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value is not None:
            query[name] = str(value)
    return str(query.urlencode())
