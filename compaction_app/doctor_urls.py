"""The doctor's pages, and downloads of a session."""

from __future__ import annotations

from django.urls import path

from compaction_app import doctor_views, export_views

urlpatterns = [
    path("doctor/", doctor_views.doctor, name="doctor"),
    path("sessions/<uuid:uuid>/rule-sets/", doctor_views.rule_sets, name="rule-sets"),
    path("sessions/<uuid:uuid>/chart.svg", export_views.chart, name="chart-svg"),
    path(
        "sessions/<uuid:uuid>/events.csv", export_views.events, {"kind": "csv"}, name="events-csv"
    ),
    path(
        "sessions/<uuid:uuid>/events.json",
        export_views.events,
        {"kind": "json"},
        name="events-json",
    ),
    path("sessions/<uuid:uuid>/report.html", export_views.report, name="report"),
]
