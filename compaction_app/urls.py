"""Pages about what decides."""

from __future__ import annotations

from django.urls import path

from compaction_app import decision_views, views, work_views

urlpatterns = [
    path("sessions/<uuid:uuid>/", views.session, name="session"),
    path("sessions/<uuid:uuid>/compact/", work_views.compact, name="compact"),
    path("sessions/<uuid:uuid>/flush/", work_views.flush, name="flush"),
    path("compactions/<uuid:uuid>/", work_views.compaction_record, name="compaction-record"),
    path("flushes/<uuid:uuid>/", work_views.flush_record, name="flush-record"),
    path("models/", work_views.connections, name="connections"),
    path("models/<uuid:uuid>/", work_views.connection, name="connection"),
    path("models/<uuid:uuid>/delete/", work_views.connection_delete, name="connection-delete"),
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
