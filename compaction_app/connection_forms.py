"""The form of a model on a server. The key goes in and never comes out again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from django import forms

from compaction_app.models import ModelConnection
from compaction_app.plugins import Summarisers
from compaction_app.sealed import seal
from sessions_app.models import Team

if TYPE_CHECKING:
    _Form = forms.ModelForm[ModelConnection]
else:
    _Form = forms.ModelForm

MAX_KEY_CHARS = 500


class ConnectionForm(_Form):
    key = forms.CharField(
        label="API key",
        required=False,
        strip=True,
        max_length=MAX_KEY_CHARS,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Stored sealed and never shown again. Empty for a server that wants none.",
    )

    class Meta:
        model = ModelConnection
        fields = (
            "name", "kind", "base_url", "model", "key", "takes_tools", "max_output", "input_price",
            "output_price", "stall_seconds",
        )  # fmt: skip
        labels: ClassVar[dict[str, str]] = {
            "kind": "Speaks",
            "base_url": "Base URL",
            "takes_tools": "Takes tools",
            "max_output": "Longest answer, tokens",
            "input_price": "Prompt, US$ per million tokens",
            "output_price": "Answer, US$ per million tokens",
            "stall_seconds": "Silence until it is given up, s",
        }
        help_texts: ClassVar[dict[str, str]] = {
            "name": "Agents and compaction.provider call it by this name.",
            "base_url": "Such as http://127.0.0.1:11434/v1 (Ollama) or https://api.anthropic.com",
            "takes_tools": "Without tools its answer to a memory flush is the note.",
            "max_output": "Empty where it is unknown.",
            "input_price": "Empty where it is unknown.",
            "output_price": "Empty where it is unknown.",
        }

    def __init__(self, team: Team, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.team = team

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if name in Summarisers().names:
            raise forms.ValidationError("A summariser has this name already.")
        others = ModelConnection.objects.filter(team=self.team, name=name)
        if others.exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError("Another model of the team has this name.")
        return name

    def clean_base_url(self) -> str:
        url = str(self.cleaned_data["base_url"])
        try:
            parts = urlsplit(url)
            host = parts.hostname and parts.port != 0
        except ValueError:
            host = None
        if not host or parts.scheme not in ("http", "https") or not url.isprintable():
            raise forms.ValidationError("It must begin with http:// or https:// and name a server.")
        if parts.username or parts.password:
            raise forms.ValidationError("Put no password here: the key has a field of its own.")
        return url

    def clean_key(self) -> str:
        key = str(self.cleaned_data["key"])
        if key and not (key.isascii() and key.isprintable() and " " not in key):
            raise forms.ValidationError("A key is one word of plain characters.")
        return key

    def clean_stall_seconds(self) -> int:
        seconds = int(self.cleaned_data["stall_seconds"])
        if not 1 <= seconds <= 600:
            raise forms.ValidationError("From 1 to 600 seconds.")
        return seconds

    def clean(self) -> dict[str, Any]:
        """A stored key goes to the server that it was entered for, and to no other."""
        values = super().clean() or self.cleaned_data
        before = ModelConnection.objects.filter(pk=self.instance.pk).first()
        if before is not None and before.sealed_key and not values.get("key"):
            old, new = (urlsplit(u) for u in (before.base_url, values.get("base_url") or ""))
            if (old.scheme, old.netloc) != (new.scheme, new.netloc) and "base_url" in values:
                self.add_error("key", "Enter the key again: the server is another one.")
        return values

    def save(self, commit: bool = True) -> ModelConnection:
        made = super().save(commit=False)
        made.team = self.team
        if self.cleaned_data["key"]:
            made.sealed_key = seal(self.cleaned_data["key"])
        made.save()
        return made
