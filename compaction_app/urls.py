"""Pages about what decides."""

from __future__ import annotations

from django.urls import path

from compaction_app import views

urlpatterns = [path("sessions/<uuid:uuid>/", views.session, name="session")]
