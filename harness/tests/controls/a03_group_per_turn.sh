#!/bin/sh
# Fault: the session of a captured turn is named by the turn too, so each turn gets a group of its own.
# Red: A3.
payload=$(cat)
case $payload in
*'"hook_event_name":"Stop"'*)
    turn=$(printf '%s\n' "$payload" | sed 's/.*"prompt_id":"[^"]*\([0-9a-f]\{4\}\)".*/\1/')
    payload=$(printf '%s\n' "$payload" | sed "s/\"session_id\":\"\([^\"]*\)\"/\"session_id\":\"\1-$turn\"/")
    ;;
esac
printf '%s\n' "$payload" | "$HOOKMEM" hook
