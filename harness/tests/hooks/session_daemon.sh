#!/bin/sh
# Lets go of all three streams, leaves a child in a session of its own, out of reach of the process group, and ends.
# Finding: an orphan, and no stream held open. Needs the program `setsid`.
exec </dev/null >/dev/null 2>&1
setsid sleep 30 &
# The child needs a moment to leave the group; without it the case would be that of daemon.sh.
sleep 0.2
