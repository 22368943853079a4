#!/bin/sh
# Trains under a time limit, as often as it takes: sbatch train.sh DATA MODEL [OPTION...]
# Slurm signals the end of the job two minutes before; cleave writes a checkpoint, ends with 75, and the job is queued again.
#SBATCH --job-name=cleave-train
#SBATCH --cpus-per-task=4
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
set -u
data=$1 model=$2
shift 2
cleave train --learner wmpmap --data "$data" "$@" --requeue -o "$model" --threads "${SLURM_CPUS_PER_TASK:-1}" &
cleave=$!
trap 'kill -USR1 "$cleave"' USR1 TERM
# A trapped signal ends wait early, with a status above 128: wait again until cleave has ended.
while wait "$cleave"; status=$?; kill -0 "$cleave" 2>/dev/null; do :; done
[ "$status" -ne 75 ] || scontrol requeue "$SLURM_JOB_ID"
exit "$status"
