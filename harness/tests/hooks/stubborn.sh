#!/bin/sh
# Ignores SIGTERM and waits, with a child that ignores it too.
# Finding: a timeout, ended by SIGKILL after the grace; nothing is left.
trap '' TERM
sleep 30 &
sleep 30
sleep 30
