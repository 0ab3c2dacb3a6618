#!/bin/sh
# Opens stdin by its path, which fails under the host: its streams are sockets.
# Finding: failed with a non-blocking error.
cat /dev/stdin
