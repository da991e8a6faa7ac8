"""The messages of one call on their way, each tool result in the form that is remembered (spec profiles 5.6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from compaction_app.engine.pruning.cache_ttl_settings import CacheTtlSettings
from compaction_app.engine.pruning.cache_ttl_trim import soft_trimmed, with_one_text
from compaction_app.engine.pruning.change import Change, change
from compaction_app.engine.pruning.projection import (
    Keys,
    Mark,
    Mode,
    ProjectionState,
    Replacement,
    keys_of,
    record,
    shown,
    source_hash,
)

if TYPE_CHECKING:
    pass


REPLAY: Final = "remembered_form"


class Showing:
    """The messages of one call on their way, and what is remembered of them."""

    def __init__(
        self,
        messages: Sequence[Any],
        state: ProjectionState,
        settings: CacheTtlSettings,
        chars: Any,
    ) -> None:
        self.messages, self.chars, self.settings = messages, chars, settings
        keys: Keys = keys_of(messages, state.ambiguous)
        self.keys, self.ambiguous = keys.by_position, keys.ambiguous
        self.replacements = dict(state.replacements)
        self.frozen, self.hashes = set(state.frozen), dict(state.hashes)
        self.restored = dict(state.restored)
        self.sent: list[Any] = list(messages)
        self.changes: list[Change] = []

    def replay(self) -> None:
        """Every result in the form it is remembered in, as long as it is still the same result."""
        for position, key in self.keys.items():
            original = self.messages[position]
            known = self.hashes.get(key)
            if known is not None and known != source_hash(original):
                self._forget(key)
                continue
            mark = self.restored.pop(key, None)
            if mark is not None:
                self._make_again(key, original, mark)
            held = self.replacements.get(key)
            if held is not None:
                self._show(position, shown(original, held), REPLAY, "shown_before")

    def _forget(self, key: str) -> None:
        self.replacements.pop(key, None)
        self.restored.pop(key, None)
        self.hashes.pop(key, None)
        self.frozen.discard(key)

    def _make_again(self, key: str, original: Any, mark: Mark) -> None:
        if mark.mode == "hard":
            words = mark.placeholder or self.settings.hard_clear.placeholder
            after: Any = with_one_text(original, words)
        else:
            after = soft_trimmed(original, self.settings.soft_trim, self.chars)
        if after is not None:
            self.replacements[key] = record(original, after, mark.mode)
            self.freeze(key, original)

    def _show(self, position: int, message: Any, rule: str, reason: str) -> None:
        if message is not self.sent[position]:
            before = self.messages[position]
            self.changes = [made for made in self.changes if made.position != position]
            self.changes.append(change(position, rule, before, message, reason))
            self.sent[position] = message

    def freeze(self, key: str, original: Any) -> None:
        self.frozen.add(key)
        self.hashes[key] = source_hash(original)

    def put(self, position: int, message: Any, mode: Mode, rule: str, reason: str) -> None:
        """Show a result in a new form, and remember it."""
        key, original = self.keys.get(position), self.messages[position]
        if key is not None:
            self.replacements[key] = record(original, message, mode)
            self.freeze(key, original)
        self._show(position, message, rule, reason)

    def mode(self, position: int) -> str | None:
        held: Replacement | None = self.replacements.get(self.keys.get(position, ""))
        return None if held is None else held.mode

    @property
    def state(self) -> ProjectionState:
        return ProjectionState(
            self.replacements,
            frozenset(self.frozen),
            self.ambiguous,
            self.hashes,
            self.restored,
        )

    @property
    def result(self) -> Sequence[Any]:
        same = all(a is b for a, b in zip(self.sent, self.messages, strict=True))
        return self.messages if same else self.sent
