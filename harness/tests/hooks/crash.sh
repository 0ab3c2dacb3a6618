#!/bin/sh
# Dies of SIGSEGV in the middle of its answer.
# Finding: crash by signal 11.
printf '{"hookSpecificOutput":'
kill -SEGV $$
