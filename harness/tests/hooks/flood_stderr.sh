#!/bin/sh
# 100 MB on stderr as fast as they go.
# Finding: flood; output past the capture limit is counted and dropped.
head -c 100000000 /dev/zero >&2
