#!/bin/bash
# Starts the run of a batch of dtctl.
exec /usr/bin/dtjob batch --requeue 2 --signal-ahead 60 '/home/user/it'\''s/slurm/0123456789abcdef'
