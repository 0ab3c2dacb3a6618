#!/bin/sh
# Ends at once, but leaves a child that goes on printing on stdout, a line every 0.1 s, without end.
# Finding: stream held open for the whole limit of the host, and an orphan.
(while :; do echo late || exit; sleep 0.1; done) &
echo parent
