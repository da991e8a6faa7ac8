"""What a person can change of an agent on its page, and of its workspace files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from zoneinfo import available_timezones

from django import forms

from compaction_app.chosen import choices
from compaction_app.engine.circumstances import PATH_TITLES
from compaction_app.engine.policy_config import MODEL_WINDOWS, PROVIDER_WINDOW
from sessions_app import masking
from sessions_app.hidden_secrets import restored
from sessions_app.models import Agent
from sessions_app.transcripts.json_lines import NotJson, parse_json

if TYPE_CHECKING:
    _AgentForm = forms.ModelForm[Agent]
else:
    _AgentForm = forms.ModelForm

MAX_TOOLS = 500
HELD = ("system_prompt", "tools", "skills")
"""What may hold secrets, which the page hides."""
MAX_JSON_CHARS = 1_000_000
LARGEST_WINDOW = 100_000_000
WINDOW_TITLES = {
    "contextWindow": ("Window", "models.providers.*.models[].contextWindow, in tokens"),
    "contextTokens": ("Window used", "models.providers.*.models[].contextTokens, in tokens"),
    "maxTokens": ("Longest answer", "models.providers.*.models[].maxTokens, in tokens"),
    "providerContextWindow": ("Provider's window", "models.providers.*.contextWindow, in tokens"),
}


class NamedObjects(forms.JSONField):
    """A list of JSON objects that each have a name; shown with one key a line."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("widget", forms.Textarea(attrs={"rows": 10, "spellcheck": "false"}))
        super().__init__(required=False, max_length=MAX_JSON_CHARS, **options)

    def to_python(self, value: Any) -> Any:
        text = str(value or "").strip()
        if not text:
            return []
        if len(text) > MAX_JSON_CHARS:
            raise forms.ValidationError(f"More than {MAX_JSON_CHARS:,} characters.")
        try:
            found = parse_json(text)
        except NotJson as error:
            raise forms.ValidationError(f"This is not JSON: {error}.") from error
        if not isinstance(found, list) or not all(_is_named(item) for item in found):
            raise forms.ValidationError('A list of objects is expected, each with a "name".')
        if len(found) > MAX_TOOLS:
            raise forms.ValidationError(f"At most {MAX_TOOLS} are kept.")
        return found

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else json.dumps(value or [], indent=2)


def _is_named(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("name"), str) and bool(item["name"])


class AgentForm(_AgentForm):
    """An agent's own fields; windows are fields of their own."""

    tools = NamedObjects(help_text='[{"name", "description", "parameters": a JSON schema}]')
    skills = NamedObjects(help_text='[{"name", "description", "location"}]')

    class Meta:
        model = Agent
        fields = (
            "name", "provider", "model", "path", "time_zone", "compaction_summariser",
            "flush_summariser", "flush_by", "flush_first", "is_live", "system_prompt", "tools", "skills",
        )  # fmt: skip

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in HELD:
            self.initial[name] = masking.mask_all(getattr(self.instance, name))
        for key, (title, text) in WINDOW_TITLES.items():
            self.fields[key] = forms.IntegerField(
                label=title,
                help_text=text,
                required=False,
                min_value=1,
                max_value=LARGEST_WINDOW,
                initial=self.instance.windows.get(key),
            )
        self.fields["path"] = forms.ChoiceField(choices=[*PATH_TITLES.items()])
        for name in ("compaction_summariser", "flush_summariser"):
            # One that is gone stays chosen until somebody changes it; the default one stands in.
            known = dict.fromkeys((*choices(self.instance.team), getattr(self.instance, name)))
            self.fields[name] = forms.ChoiceField(choices=[(one, one) for one in known])

    def clean_time_zone(self) -> str:
        zone = str(self.cleaned_data["time_zone"]).strip()
        if zone not in available_timezones():
            raise forms.ValidationError(f"There is no time zone {zone[:60]!r}; e.g. Europe/Berlin.")
        return zone

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name, value in cleaned.items():
            if isinstance(value, str) and "\x00" in value:
                self.add_error(name, "The character NUL is not kept.")
        # what stands on the page without its secrets comes back without them
        before = Agent.objects.filter(pk=self.instance.pk).values(*HELD).first() or {}
        held = {name: restored(cleaned[name], before.get(name)) for name in HELD if name in cleaned}
        return {**cleaned, **held}

    def save(self, commit: bool = True) -> Agent:
        keys = (*MODEL_WINDOWS, PROVIDER_WINDOW)
        given = {key: self.cleaned_data.get(key) for key in keys}
        self.instance.windows = {key: value for key, value in given.items() if value}
        return super().save(commit)


class NewAgentForm(_AgentForm):
    """What a new agent needs; everything else has a default."""

    class Meta:
        model = Agent
        fields = ("name", "provider", "model")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        return {key: str(value).replace("\x00", "") for key, value in cleaned.items()}
