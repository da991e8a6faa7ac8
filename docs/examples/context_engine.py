"""A context engine whose work ContextLab does: each lifecycle call is one request.

The methods have the names and the shapes of the contract (docs/rules/context-engine.md), so that a plug-in
for the runtime is this class in its own language. Run as a program it plays a session: two turns, a
compaction, a subagent.

Environment: CONTEXTLAB_URL, CONTEXTLAB_TOKEN (scope write), AGENT (an agent's id).
"""

from __future__ import annotations

import json
import os
import uuid
from typing import Any, ClassVar
from urllib.error import HTTPError
from urllib.request import Request, urlopen

Json = dict[str, Any]


class Refused(Exception):
    """A problem of the API; ``detail`` says what to do, ``head`` which entry is the last one now."""

    def __init__(self, status: int, problem: Json) -> None:
        super().__init__(f"{status}: {problem.get('detail', problem['title'])}")
        self.status, self.problem = status, problem


class ContextLabEngine:
    """One session. ``info`` says that the runtime's inner compaction is off and ``compact`` is what runs."""

    info: ClassVar[Json] = {"id": "contextlab", "name": "ContextLab", "ownsCompaction": True}

    def __init__(self, url: str, token: str, agent: str) -> None:
        self._base, self._token, self._agent = url.rstrip("/") + "/api/v1", token, agent
        self.session = ""

    def bootstrap(self, session: str = "", messages: list[Json] | None = None) -> Json:
        """Go on with a session, or begin one, with a history where there is one."""
        if session:
            self.session = str(self._ask("GET", f"/sessions/{session}")["id"])
            return {"bootstrapped": True, "importedMessages": 0}
        self.session = str(self._ask("POST", "/sessions", {"agent": self._agent})["id"])
        for start in range(0, len(messages or []), 1_000):
            self.ingest_batch((messages or [])[start : start + 1_000])
        return {"bootstrapped": True, "importedMessages": len(messages or [])}

    def ingest(self, message: Json) -> Json:
        return {"ingested": self.ingest_batch([message])["ingestedCount"] == 1}

    def ingest_batch(self, messages: list[Json]) -> Json:
        done = self._ask("POST", self._at("messages"), {"messages": messages})
        return {"ingestedCount": sum(receipt["id"] is not None for receipt in done["receipts"])}

    def assemble(self, prompt: Json | None = None) -> Json:
        """What to send; what must happen first has happened then, by a worker.

        ``reply`` is set where the turn is blocked: nothing is to be sent, and the user is told that.
        """
        while True:
            ready = self._ask("POST", self._at("prepare?wait=120"), {"prompt": prompt})
            if ready["action"] not in ("flush", "compact"):
                break
            if ready["job"] is None:
                raise RuntimeError(
                    "The agent runs its own flush: answer `flushTurn` and post its notes."
                )
        if ready["action"] == "blocked":  # the prompt alone confirms it: both are stored
            self._ask("POST", self._at("calls"), {"messages": [prompt] if prompt else []})
        addition = "\n\n".join(part["text"] for part in ready["system"])
        return {
            "messages": ready["messages"] or [],
            "systemPromptAddition": addition,
            "reply": ready["reply"] if ready["action"] == "blocked" else None,
        }

    def after_turn(
        self, messages: list[Json], usage: Json | None = None, error: str | None = None
    ) -> Json:
        """Store a call: the prompt or the tools' results, and the answer; or the error that it ended in."""
        body = {"messages": messages, "usage": usage, "error": error}
        told = self._ask("POST", self._at("calls"), body)
        return {"action": told["action"], "job": told["job"], "pressure": told["pressure"]}

    def compact(self, instructions: str = "") -> Json:
        """Compact now, and wait until it is done."""
        job = self._ask("POST", self._at("compact"), {"instructions": instructions})
        while job["state"] in ("queued", "running"):
            job = self._ask("GET", f"/jobs/{job['id']}?wait=120")
        done = job["state"] == "succeeded"
        compacted = bool(done and job["result"].get("compacted"))
        reason = job["error"] or job["result"].get("summary", "")
        return {"ok": done, "compacted": compacted, "reason": reason}

    def maintain(self) -> Json:
        """Nothing to do here: workers do what is due behind each reported call."""
        return {"changed": False, "bytesFreed": 0, "rewrittenEntries": 0}

    def prepare_subagent_spawn(self, task: str, label: str = "", *, fork: bool = False) -> Json:
        """A subagent's session; 409 where no (further) one may be started."""
        body = {
            "agent": self._agent,
            "parent": self.session,
            "task": task,
            "label": label,
            "fork": fork,
        }
        child = self._ask("POST", "/sessions", body)
        return {"session": child["id"], "firstMessage": child["subagent"]["firstMessage"]}

    def on_subagent_ended(self, session: str, status: str = "ok", error: str | None = None) -> Json:
        """Announce its result: the next ``assemble`` with a prompt holds it."""
        ended = self._ask("POST", f"/sessions/{session}/end", {"status": status, "error": error})
        self._ask("POST", f"/sessions/{session}/archive")
        return {"outcome": ended["outcome"], "told": ended["told"]}

    def dispose(self) -> None:
        """Nothing is held between two requests."""

    def _at(self, part: str) -> str:
        return f"/sessions/{self.session}/{part}"

    def _ask(self, method: str, path: str, body: Json | None = None) -> Json:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        if method == "POST" and not path.startswith(self._at("prepare")):
            headers["Idempotency-Key"] = str(uuid.uuid4())
        data = None if body is None else json.dumps(body).encode()
        request = Request(self._base + path, data, headers, method=method)
        for attempt in (1, 2):
            try:
                with urlopen(request, timeout=150) as answer:
                    found: Json = json.load(answer)
                    return found
            except HTTPError as problem:
                raise Refused(problem.code, json.load(problem)) from problem
            except OSError:
                if attempt == 2:
                    raise  # once more is safe: the key lets the call be carried out once
        raise AssertionError


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def answer(text: str) -> Json:
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"}


def play(engine: ContextLabEngine) -> None:
    history = [part for n in range(40) for part in (user(f"Question {n}. " + "word " * 400), answer("Yes."))]  # fmt: skip
    print("bootstrap", engine.bootstrap(messages=history))
    context = engine.assemble(user("Where were we?"))
    print("assemble", len(context["messages"]), "messages")
    usage = {"input_tokens": 21_000, "output_tokens": 12}
    print(
        "afterTurn", engine.after_turn([user("Where were we?"), answer("At 39.")], usage)["action"]
    )
    print("compact", engine.compact("keep the numbers")["compacted"])
    print("assemble", len(engine.assemble(user("Go on."))["messages"]), "messages")
    child = engine.prepare_subagent_spawn("Read the log.", "reader")
    below = ContextLabEngine(*_given())
    below.bootstrap(child["session"])
    prompt = user(child["firstMessage"])
    below.assemble(prompt)
    below.after_turn(
        [prompt, answer("The log is empty.")], {"input_tokens": 90, "output_tokens": 5}
    )
    print("onSubagentEnded", engine.on_subagent_ended(child["session"])["outcome"])
    last = json.dumps(engine.assemble(user("And?"))["messages"])
    print("told", "The log is empty." in last)
    print("maintain", engine.maintain()["changed"])
    engine.dispose()


def _given() -> tuple[str, str, str]:
    return os.environ["CONTEXTLAB_URL"], os.environ["CONTEXTLAB_TOKEN"], os.environ["AGENT"]


if __name__ == "__main__":
    play(ContextLabEngine(*_given()))
