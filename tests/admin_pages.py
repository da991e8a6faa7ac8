"""What every page of the admin is held to: looked at by a superuser, in so many queries, escaped."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

HOSTILE = "<script>alert(1)</script>"


def superuser() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


def list_of(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def page_of(row: Model) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def text_at(client: Client, address: str, query: dict[str, str] | None = None) -> str:
    """The page there, which must be one, and let nothing hostile through."""
    answer = client.get(address, query)
    assert answer.status_code == 200, (address, answer.status_code)
    assert HOSTILE not in answer.text
    return answer.text


def refuses_changes(client: Client, row: Model) -> None:
    """Not to be added, changed or deleted; nor has its page anything to save with."""
    before = type(row)._default_manager.filter(pk=row.pk).values().get()
    assert 'name="_save"' not in text_at(client, page_of(row))
    for address in (
        page_of(row),
        f"{list_of(type(row))}add/",
        page_of(row).replace("/change/", "/delete/"),
    ):
        assert client.post(address, {"post": "yes", "name": "other"}).status_code == 403
    everything = {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
    client.post(list_of(type(row)), everything)
    assert type(row)._default_manager.filter(pk=row.pk).values().get() == before


def costs_the_same(client: Client, model: type[Model], add: Callable[[int], object]) -> None:
    """The list of 3 rows and that of 30 take as many queries, and no count goes
    over a whole table."""
    add(3 - model._default_manager.count())
    text_at(client, list_of(model))  # what is remembered from now on is none of the list
    with CaptureQueriesContext(connection) as few:
        text_at(client, list_of(model))
    add(27)
    with CaptureQueriesContext(connection) as many:
        text = text_at(client, list_of(model))
    assert text.count("<tr") > 30
    assert len(many) == len(few)
    counts = [q["sql"] for q in many if "COUNT(" in q["sql"]]
    assert counts
    assert all("LIMIT" in sql for sql in counts)
