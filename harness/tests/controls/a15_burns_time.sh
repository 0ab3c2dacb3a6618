#!/bin/sh
# Fault: burns processor time before it answers.
# Red: the gates of A15.
n=0
while [ "$n" -lt 50000 ]; do n=$((n + 1)); done
exec "$HOOKMEM" hook
