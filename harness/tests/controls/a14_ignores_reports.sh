#!/bin/sh
# Fault: the report of a sub-agent is not captured.
# Red: A14.
payload=$(cat)
case $payload in
*'"hook_event_name":"SubagentStop"'*) exit 0 ;;
esac
printf '%s\n' "$payload" | "$HOOKMEM" hook
