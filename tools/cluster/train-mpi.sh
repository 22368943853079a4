#!/bin/sh
# Trains by processes that share the examples, under a time limit, as often as it takes: sbatch -n 16 train-mpi.sh DATA MODEL [OPTION...]
# Needs a cleave built with MPI (make WITH_MPI=1). Slurm signals all processes two minutes before the end; they write one checkpoint and
# end with 75, and the job is queued again, with any number of processes.
#SBATCH --job-name=cleave-train
#SBATCH --ntasks=4
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=USR1@120
set -u
data=$1 model=$2
shift 2
status=0
srun --mpi=pmix cleave train --learner wmpmap --data "$data" "$@" --requeue -o "$model" --threads "${SLURM_CPUS_PER_TASK:-1}" || status=$?
[ "$status" -ne 75 ] || scontrol requeue "$SLURM_JOB_ID"
exit "$status"
