#!/bin/sh
# Fault: a store that cannot be opened is told in half an answer.
# Red: A8.
payload=$(cat)
if [ -e "$XDG_DATA_HOME/hookmem" ] && [ ! -d "$XDG_DATA_HOME/hookmem" ]; then
    echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"no store'
    exit 0
fi
printf '%s\n' "$payload" | "$HOOKMEM" hook
