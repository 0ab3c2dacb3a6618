#!/bin/sh
# Takes as many seconds as its argument says (30 without one).
# Finding: a timeout when that is longer than the step allows, else only late.
exec sleep "${1:-30}"
