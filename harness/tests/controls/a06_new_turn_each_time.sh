#!/bin/sh
# Fault: every delivery of Stop counts as a new turn.
# Red: A6.
payload=$(cat)
case $payload in
*'"hook_event_name":"Stop"'*)
    turn=$(printf '00000000-0000-4000-8000-%012d' "$$")
    payload=$(printf '%s\n' "$payload" | sed "s/\"prompt_id\":\"[^\"]*\"/\"prompt_id\":\"$turn\"/")
    ;;
esac
printf '%s\n' "$payload" | "$HOOKMEM" hook
