#!/bin/sh
# Fault: what a sub-agent gets is 4,000 characters longer than it should be.
# Red: A16 and its gate for SubagentStart.
payload=$(cat)
answer=$(printf '%s\n' "$payload" | "$HOOKMEM" hook)
case $payload in
*'"hook_event_name":"SubagentStart"'*)
    padding=$(printf '%04000d' 0)
    answer=$(printf '%s\n' "$answer" | sed "s/\"additionalContext\":\"/&$padding/")
    ;;
esac
[ -z "$answer" ] || printf '%s\n' "$answer"
