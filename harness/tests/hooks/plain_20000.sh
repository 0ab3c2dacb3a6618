#!/bin/sh
# Plain text of 20,000 characters.
# Finding: over the host's cap of 10,000 where plain stdout reaches the model.
printf '%020000d' 0
