#!/bin/sh
# A well-behaved recall hook: reads the payload, answers with one line of context.
# Finding: none.
cat >/dev/null
event=${1:-UserPromptSubmit}
printf '{"hookSpecificOutput":{"hookEventName":"%s","additionalContext":"%s"}}\n' "$event" \
    'Earlier decision: retries are capped at three.'
