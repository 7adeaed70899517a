#!/bin/bash
# Starts the runs of a batch of dtctl.
exec '/opt/my tools/dtjob' batch --ladder --requeue 0 --signal-ahead 60 /home/user/slurm/0123456789abcdef
