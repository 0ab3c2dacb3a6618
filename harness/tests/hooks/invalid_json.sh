#!/bin/sh
# Looks like an object and is not JSON: single quotes.
# Finding: invalid JSON; nothing is delivered (client 2.1.197 took it as plain text).
printf "{'additionalContext': 'lost'}\n"
