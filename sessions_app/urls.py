"""Pages about what happened."""

from __future__ import annotations

from django.urls import path

from sessions_app import views

urlpatterns = [
    path("", views.session_list, name="sessions"),
    path("upload/", views.upload, name="upload"),
    path("imports/", views.imports, name="imports"),
    path("sessions/<uuid:uuid>/entries/", views.entries, name="entries"),
    path("sessions/<uuid:uuid>/encoding/", views.encoding, name="encoding"),
    path("sessions/<uuid:uuid>/entries/<int:seq>/", views.entry, name="entry"),
    path("sessions/<uuid:uuid>/entries/<int:seq>/raw/", views.entry_raw, name="entry-raw"),
]
