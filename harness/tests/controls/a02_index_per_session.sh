#!/bin/sh
# Fault: every session that is compacted gets a store of its own, so no query finds what several of them left.
# Red: A2.
payload=$(cat)
case $payload in
*'"hook_event_name":"PreCompact"'*)
    session=$(printf '%s\n' "$payload" | sed 's/.*"session_id":"\([^"]*\)".*/\1/')
    export HOOKMEM_STORE="$XDG_DATA_HOME/hookmem-of-sessions/$session"
    ;;
esac
printf '%s\n' "$payload" | "$HOOKMEM" hook
