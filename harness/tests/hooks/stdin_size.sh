#!/bin/sh
# Reads all of stdin and prints the number of bytes.
# Finding: none; without an end of stdin, a timeout.
echo $(($(wc -c)))
