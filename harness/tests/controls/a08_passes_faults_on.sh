#!/bin/sh
# Fault: what it cannot read becomes a message and exit code 2, which blocks the call.
# Red: A8.
payload=$(cat)
case $payload in
*'}') ;;
*)
    echo 'cannot read the payload' >&2
    exit 2
    ;;
esac
if [ -e "$XDG_DATA_HOME/hookmem" ] && [ ! -d "$XDG_DATA_HOME/hookmem" ]; then
    echo 'cannot open the store' >&2
    exit 2
fi
printf '%s\n' "$payload" | "$HOOKMEM" hook
