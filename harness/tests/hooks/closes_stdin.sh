#!/bin/sh
# Closes stdin unread, then goes on for a moment.
# Finding: stdin closed early when the payload is larger than the socket's buffer; harmless all the same.
exec 0<&-
sleep 0.2
echo done
