#!/bin/sh
# Fault: the task of a sub-agent is not remembered, so its start has nothing to ask with.
# Red: A13.
payload=$(cat)
case $payload in
*'"hook_event_name":"PreToolUse"'*'"tool_name":"Agent"'*) exit 0 ;;
esac
printf '%s\n' "$payload" | "$HOOKMEM" hook
