#!/bin/sh
# Fault: a prompt that no memory answers gets some text all the same.
# Red: A7.
payload=$(cat)
answer=$(printf '%s\n' "$payload" | "$HOOKMEM" hook)
case $payload in
*'"hook_event_name":"UserPromptSubmit"'*)
    none='{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"No memory fits this prompt."}}'
    answer=${answer:-$none}
    ;;
esac
[ -z "$answer" ] || printf '%s\n' "$answer"
