#!/bin/sh
# Fault: a slash command is answered with everything that a search of the whole index finds.
# Red: A4.
payload=$(cat)
answer=$(printf '%s\n' "$payload" | "$HOOKMEM" hook)
case $payload in
*'"hook_event_name":"UserPromptExpansion"'*)
    words=$(printf '%s\n' "$payload" | sed 's/.*"command_args":"\([^"]*\)".*/\1/')
    ids=$("$HOOKMEM" search --limit 5 "$words" | sed -n 's/^[0-9.]*  \(m_[0-9a-f]*\)  .*/[\1]/p' | tr '\n' ' ')
    answer=$(printf '%s\n' "$answer" | sed "s/\"additionalContext\":\"/&$ids/")
    ;;
esac
[ -z "$answer" ] || printf '%s\n' "$answer"
