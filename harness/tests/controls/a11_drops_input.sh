#!/bin/sh
# Fault: what the tool was asked is not looked at once it has run.
# Red: A11.
payload=$(cat)
case $payload in
*'"hook_event_name":"PostToolUse"'*)
    payload=$(printf '%s\n' "$payload" | sed 's/"tool_input":.*,"tool_response"/"tool_input":{},"tool_response"/')
    ;;
esac
printf '%s\n' "$payload" | "$HOOKMEM" hook
