#!/bin/sh
# Fault: waits until the store can be opened, which never happens.
# Red: A8, and the gate that counts calls which the host had to end.
payload=$(cat)
while [ -e "$XDG_DATA_HOME/hookmem" ] && [ ! -d "$XDG_DATA_HOME/hookmem" ]; do
    sleep 1
done
printf '%s\n' "$payload" | "$HOOKMEM" hook
