#!/bin/sh
# Never reads stdin.
# Finding: none; a large payload must neither block nor fail the replay.
sleep 0.2
echo done
