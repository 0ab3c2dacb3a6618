#!/bin/sh
# Valid additionalContext of 20,000 characters.
# Finding: over the host's cap of 10,000; the model gets a preview.
event=${1:-UserPromptSubmit}
text=$(printf '%020000d' 0)
printf '{"hookSpecificOutput":{"hookEventName":"%s","additionalContext":"%s"}}\n' "$event" "$text"
