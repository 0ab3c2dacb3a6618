#!/bin/sh
# Valid JSON whose hookEventName is that of another event.
# Finding: wrong event name; the whole answer is dropped.
printf '{"hookSpecificOutput":{"hookEventName":"%s","additionalContext":"lost"}}\n' "${1:-Notification}"
