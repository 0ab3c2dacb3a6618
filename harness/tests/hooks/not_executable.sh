#!/bin/sh
# Lacks the executable bit on purpose.
# Finding: not started, permission denied.
echo never
