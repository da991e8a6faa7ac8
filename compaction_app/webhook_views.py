"""Pages about webhooks: the addresses of an agent, and what became of each delivery."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from compaction_app import webhooks
from compaction_app.models import Webhook, WebhookDelivery
from sessions_app import access
from sessions_app.models import Agent

PER_PAGE = 50


class WebhookForm(forms.Form):
    url = forms.CharField(label="Address", max_length=500)
    kinds = forms.MultipleChoiceField(
        label="Told of",
        choices=[(kind, kind.replace("_", " ")) for kind in webhooks.KINDS],
        widget=forms.CheckboxSelectMultiple,
        initial=list(webhooks.USUAL_KINDS),
    )

    def clean_url(self) -> str:
        url = str(self.cleaned_data["url"])
        try:
            parts = urlsplit(url)
            host = parts.hostname and parts.port != 0
        except ValueError:
            host = None
        if not host or parts.scheme not in ("http", "https") or not url.isprintable():
            raise forms.ValidationError("It must begin with http:// or https:// and name a server.")
        return url


@require_http_methods(["GET", "HEAD", "POST"])
def agent_webhooks(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """An agent's webhooks with their deliveries; POST adds one and shows its secret this once."""
    agent = access.load(Agent.objects.all(), request.user, uuid)
    form = WebhookForm(request.POST or None)
    secret = None
    if request.method == "POST" and form.is_valid():
        _, secret = webhooks.add_webhook(
            agent, form.cleaned_data["url"], form.cleaned_data["kinds"]
        )
        form = WebhookForm()
    found = WebhookDelivery.objects.filter(webhook__agent=agent).select_related(
        "webhook", "session"
    )
    context: dict[str, Any] = {
        "nav": "agents",
        "agent": agent,
        "webhooks": Webhook.objects.filter(agent=agent).order_by("pk"),
        "form": form,
        "secret": secret,
        "page": Paginator(found.order_by("-pk"), PER_PAGE).get_page(request.GET.get("page")),
    }
    refused = request.method == "POST" and secret is None
    return render(request, "compaction/webhooks.html", context, status=422 if refused else 200)


@require_POST
def webhook_delete(request: HttpRequest, uuid: UUID) -> HttpResponse:
    found = access.load(Webhook.objects.select_related("agent"), request.user, uuid)
    found.delete()
    messages.info(request, f"Nothing is sent to {found.url} any more.")
    return redirect("webhooks", found.agent.uuid)


@require_POST
def delivery_again(request: HttpRequest, uuid: UUID) -> HttpResponse:
    found = access.load(
        WebhookDelivery.objects.select_related("webhook__agent"), request.user, uuid
    )
    webhooks.send_again(found)
    messages.info(request, "It is sent again.")
    return redirect("webhooks", found.webhook.agent.uuid)
