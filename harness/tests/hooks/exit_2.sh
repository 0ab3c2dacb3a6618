#!/bin/sh
# Refuses with exit code 2 and a reason on stderr.
# Finding: blocks, where the event can be blocked.
echo 'refused by the test hook' >&2
exit 2
