#!/bin/sh
# additionalContext at the top level, where the host ignores it.
# Finding: wrong shape; nothing is delivered.
printf '{"additionalContext":"lost"}\n'
