#!/bin/sh
# Lets go of all three streams, leaves a child and ends.
# Finding: an orphan, and no stream held open.
exec </dev/null >/dev/null 2>&1
sleep 30 &
sleep 0.2
