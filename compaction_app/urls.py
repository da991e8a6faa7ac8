"""Pages about what decides."""

from __future__ import annotations

from django.urls import path

from compaction_app import decision_views, views

urlpatterns = [
    path("sessions/<uuid:uuid>/", views.session, name="session"),
    path("sessions/<uuid:uuid>/decisions/", decision_views.decisions, name="decisions"),
    path("sessions/<uuid:uuid>/decisions/audit/", decision_views.audit, name="audit"),
    path("sessions/<uuid:uuid>/turns/<int:number>/", decision_views.turn, name="turn"),
    path(
        "sessions/<uuid:uuid>/entries/<int:seq>/turn/",
        decision_views.turn_of_entry,
        name="turn-of-entry",
    ),
    path("decisions/<uuid:uuid>/", decision_views.decision, name="decision"),
]
