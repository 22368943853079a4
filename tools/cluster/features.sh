#!/bin/sh
# Extracts features with a job array, a shard a task: sbatch --array=1-16 features.sh DATA x.safetensors [OPTION...]
# Then the folder of all shards is the data: cleave train --data FOLDER
#SBATCH --job-name=cleave-features
#SBATCH --cpus-per-task=4
#SBATCH --requeue
set -eu
: "${SLURM_ARRAY_TASK_ID:?submit with sbatch --array=1-N}"
data=$1 output=$2
shift 2
exec cleave features --data "$data" "$@" -o "$output" --overwrite --shard "$SLURM_ARRAY_TASK_ID/${SLURM_ARRAY_TASK_MAX:?}" \
    --threads "${SLURM_CPUS_PER_TASK:-1}" --quiet
