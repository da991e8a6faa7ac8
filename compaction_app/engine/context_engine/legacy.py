"""The default context engine: it keeps nothing of its own and compacts as the runtime does (spec compaction 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from compaction_app.engine.context_engine.registry import DEFAULT_ENGINE
from sessions_app.tokens import javascript as js

Params = Mapping[str, Any]


class LegacyEngine:
    """``compact`` is the built-in compaction; it is handed the parameters it knows."""

    def __init__(self, compact: Callable[[Params], Params]) -> None:
        self.info = {"id": DEFAULT_ENGINE, "name": "Legacy Context Engine"}
        self._compact = compact

    def ingest(self, params: Params) -> Params:
        return {"ingested": False}

    def assemble(self, params: Params) -> Params:
        return {"messages": params["messages"], "estimatedTokens": 0}

    def after_turn(self, params: Params) -> None:
        """Nothing: the session's file is all there is."""

    def compact(self, params: Params) -> Params:
        """A target is ignored; a positive token count of the runtime replaces the one given."""
        known = {key: value for key, value in params.items() if key != "compactionTarget"}
        context = params.get("runtimeContext")
        count = context.get("currentTokenCount") if isinstance(context, Mapping) else None
        if js.is_finite(count) and count > 0:
            known["currentTokenCount"] = count
        return self._compact(known)

    def dispose(self, params: Params) -> None:
        """Nothing to give back."""
