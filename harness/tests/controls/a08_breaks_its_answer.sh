#!/bin/sh
# Fault: a store that cannot be opened is told in an answer that is no JSON.
# Red: A8.
payload=$(cat)
if [ -e "$XDG_DATA_HOME/hookmem" ] && [ ! -d "$XDG_DATA_HOME/hookmem" ]; then
    echo "{'error': 'cannot open the store'}"
    exit 0
fi
printf '%s\n' "$payload" | "$HOOKMEM" hook
