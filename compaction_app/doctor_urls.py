"""The doctor's pages."""

from __future__ import annotations

from django.urls import path

from compaction_app import doctor_views

urlpatterns = [
    path("doctor/", doctor_views.doctor, name="doctor"),
    path("sessions/<uuid:uuid>/rule-sets/", doctor_views.rule_sets, name="rule-sets"),
]
