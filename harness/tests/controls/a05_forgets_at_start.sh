#!/bin/sh
# Fault: the memory lives as long as the session; a new one begins with nothing.
# Red: A5.
payload=$(cat)
case $payload in
*'"hook_event_name":"SessionStart"'*) rm -rf "$XDG_DATA_HOME/hookmem" ;;
esac
printf '%s\n' "$payload" | "$HOOKMEM" hook
