#!/bin/sh
# Fault: prompts are kept as they were typed, in a file beside the store's own.
# Red: A18.
payload=$(cat)
case $payload in
*'"hook_event_name":"UserPromptSubmit"'*)
    mkdir -p "$XDG_DATA_HOME/hookmem"
    printf '%s\n' "$payload" >>"$XDG_DATA_HOME/hookmem/prompts.jsonl"
    ;;
esac
printf '%s\n' "$payload" | "$HOOKMEM" hook
