#!/bin/sh
# Prints its environment and its working folder.
# Finding: none.
env
pwd
