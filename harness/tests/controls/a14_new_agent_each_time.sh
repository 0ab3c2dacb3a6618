#!/bin/sh
# Fault: every delivery of SubagentStop counts as another agent.
# Red: A14.
payload=$(cat)
case $payload in
*'"hook_event_name":"SubagentStop"'*)
    payload=$(printf '%s\n' "$payload" | sed "s/\"agent_id\":\"[^\"]*\"/\"agent_id\":\"a$$\"/")
    ;;
esac
printf '%s\n' "$payload" | "$HOOKMEM" hook
