#!/bin/sh
# Fault: a memory on another subject stands before the right one.
# Red: the gates of A17 for what comes first and for the share of right text.
payload=$(cat)
answer=$(printf '%s\n' "$payload" | "$HOOKMEM" hook)
case $payload in
*'"hook_event_name":"UserPromptSubmit"'*)
    wrong='[m_000000000000] The harbour map draws tides in blue, because red is invisible at night.\\n'
    answer=$(printf '%s\n' "$answer" | sed "s/\"additionalContext\":\"/&$wrong/")
    ;;
esac
[ -z "$answer" ] || printf '%s\n' "$answer"
