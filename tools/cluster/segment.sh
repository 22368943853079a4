#!/bin/sh
# Segments a set with a job array, a shard a task: sbatch --array=1-16 segment.sh MODEL DATA OUT
# A task that is started again continues with the remaining images (--resume).
#SBATCH --job-name=cleave-segment
#SBATCH --cpus-per-task=4
#SBATCH --requeue
set -eu
: "${SLURM_ARRAY_TASK_ID:?submit with sbatch --array=1-N}"
shard=$SLURM_ARRAY_TASK_ID/${SLURM_ARRAY_TASK_MAX:?}
# exec: the signals of Slurm reach cleave itself.
exec cleave segment -m "$1" --data "$2" -o "$3" --resume --status "$3.tsv" --shard "$shard" \
    --threads "${SLURM_CPUS_PER_TASK:-1}" --quiet
