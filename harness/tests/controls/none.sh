#!/bin/sh
# No fault: what the other wrappers are without theirs.
# Red: nothing but gates of time, which see the shell.
payload=$(cat)
answer=$(printf '%s\n' "$payload" | "$HOOKMEM" hook)
[ -z "$answer" ] || printf '%s\n' "$answer"
