#!/bin/sh
# Fault: of a planned call only the name of the tool is looked at. Tasks of sub-agents stay, they are A13.
# Red: A12.
payload=$(cat)
case $payload in
*'"tool_name":"Agent"'*) ;;
*'"hook_event_name":"PreToolUse"'*)
    payload=$(printf '%s\n' "$payload" | sed 's/"tool_input":.*,"tool_use_id"/"tool_input":{},"tool_use_id"/')
    ;;
esac
printf '%s\n' "$payload" | "$HOOKMEM" hook
