#!/bin/sh
# Fault: output of a tool that no memory fits gets one all the same.
# Red: the gate of A17 for false injection.
payload=$(cat)
answer=$(printf '%s\n' "$payload" | "$HOOKMEM" hook)
case $payload in
*'"hook_event_name":"PostToolUse"'*)
    wrong='[m_000000000000] The harbour map draws tides in blue, because red is invisible at night.'
    wrong="{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"$wrong\"}}"
    answer=${answer:-$wrong}
    ;;
esac
[ -z "$answer" ] || printf '%s\n' "$answer"
