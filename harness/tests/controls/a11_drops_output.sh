#!/bin/sh
# Fault: what the tool printed is not looked at.
# Red: A11.
payload=$(cat)
case $payload in
*'"hook_event_name":"PostToolUse"'*)
    payload=$(printf '%s\n' "$payload" | sed 's/"tool_response":.*,"tool_use_id"/"tool_response":{},"tool_use_id"/')
    ;;
esac
printf '%s\n' "$payload" | "$HOOKMEM" hook
