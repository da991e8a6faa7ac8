#!/bin/sh
# A session by hand, with curl. Environment: CONTEXTLAB_URL, CONTEXTLAB_TOKEN (scope admin).
set -eu
api="$CONTEXTLAB_URL/api/v1"

call() { # METHOD PATH [BODY]
  curl --silent --show-error --fail-with-body -X "$1" "$api$2" \
    -H "Authorization: Bearer $CONTEXTLAB_TOKEN" -H "Content-Type: application/json" \
    ${3:+--data "$3"}
}
field() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" | head -n 1; }

made=$(call POST /agents '{"name": "by hand", "windows": {"contextWindow": 96000}}') || { echo "$made"; exit 1; }
agent=$(echo "$made" | field id)
session=$(call POST /sessions "{\"agent\": \"$agent\"}" | field id)

# What to send? Then the answer of the model goes back, with its usage.
prompt='{"role": "user", "content": "Which day is it?"}'
call POST "/sessions/$session/prepare" "{\"form\": \"openai\", \"prompt\": $prompt}"; echo
call POST "/sessions/$session/calls" "{\"form\": \"openai\",
  \"messages\": [$prompt, {\"role\": \"assistant\", \"content\": \"Tuesday.\"}],
  \"usage\": {\"prompt_tokens\": 70000, \"completion_tokens\": 5}}"; echo

# What would other settings have done? And what was decided?
call POST "/sessions/$session/what-if" '{"policy": {"compaction.reserveTokensFloor": 40000}}'; echo
call GET "/sessions/$session/decisions?kind=memory_flush"; echo
