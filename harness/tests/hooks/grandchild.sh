#!/bin/sh
# Ends at once, but leaves a silent child that holds stdout and stderr (for the seconds of its argument, else 30).
# Finding: stream held open, and an orphan when the host stops waiting first.
sleep "${1:-30}" &
echo parent
