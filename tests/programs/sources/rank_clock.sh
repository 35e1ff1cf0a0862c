#!/bin/bash
# Runs a rank's program and notes when it began and ended, in seconds, in the folder that it runs in.
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${PMIX_RANK:-0}}}
start=$EPOCHREALTIME
"$@"
code=$?
echo "$start $EPOCHREALTIME" >"clock-$rank"
exit $code
