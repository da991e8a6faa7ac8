"""Pages that ask a model what it recalls of a compaction: the cost before, the recall with its spread after."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from compaction_app import probe_jobs
from compaction_app.engine.retention.retention import UPPER_BOUND
from compaction_app.lost import cycles_for
from compaction_app.models import ModelConnection
from sessions_app import access
from sessions_app.entries import sendable, window_of
from sessions_app.models import Job, Session


class ProbeForm(forms.Form):
    model = forms.ChoiceField(label="Model")
    replicates = forms.IntegerField(
        label="Replicates",
        min_value=probe_jobs.LEAST_REPLICATES,
        max_value=probe_jobs.MOST_REPLICATES,
        initial=probe_jobs.LEAST_REPLICATES,
        help_text="Each is one call; at least three, to see how much the answers vary.",
    )

    def __init__(self, names: list[str], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["model"] = forms.ChoiceField(label="Model", choices=[(n, n) for n in names])


@require_http_methods(["GET", "HEAD", "POST"])
def probe(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """What would be asked and what that costs with each model; POST asks."""
    session = access.load(Session.objects.select_related("team", "agent"), request.user, uuid)
    window = window_of(session)
    values = request.POST if request.method == "POST" else request.GET
    wanted = values.get("compaction", "")
    found = [c for c in cycles_for(window) if str(c.number) == wanted]
    if not found:
        raise Http404("The session has no such compaction.")
    cycle = found[0]
    models = list(ModelConnection.objects.filter(team=session.team).order_by("name"))
    form = ProbeForm([model.name for model in models], request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        job = probe_jobs.request_probe(session, cycle.number, given["model"], given["replicates"])
        return redirect("lost-probed", uuid, job.uuid)
    asked = probe_jobs.probe_of(window, cycle)
    least = probe_jobs.LEAST_REPLICATES
    context = {
        "nav": "sessions",
        "session": session,
        "cycle": cycle,
        "form": form,
        "upper_bound": UPPER_BOUND,
        "questions": [sendable(question.text) for question in asked.questions],
        "prompt_tokens": asked.prompt_tokens,
        "answer_tokens": probe_jobs.ANSWER_TOKENS,
        "least": least,
        "offers": [(model, probe_jobs.most_cost(asked, model, least)) for model in models],
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "compaction/probe.html", context, status=status)


@require_safe
def probed(request: HttpRequest, uuid: UUID, job: UUID) -> HttpResponse:
    """The recall, or how far the job is."""
    session = access.load(Session.objects.all(), request.user, uuid)
    found = Job.objects.filter(uuid=job, session=session, kind=probe_jobs.KIND).first()
    if found is None:
        raise Http404("No such job.")
    context = {
        "nav": "sessions",
        "session": session,
        "job": found,
        "number": found.arguments["compaction"],
        "result": found.result if found.state == Job.State.SUCCEEDED else None,
        "upper_bound": UPPER_BOUND,
    }
    is_part = request.headers.get("HX-Request") == "true"
    return render(request, f"compaction/{'_probed' if is_part else 'probed'}.html", context)
