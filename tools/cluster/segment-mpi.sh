#!/bin/sh
# Segments a set by processes that share its images: sbatch -n 16 segment-mpi.sh MODEL DATA OUT
# Needs a cleave built with MPI (make WITH_MPI=1). When the job is queued again, it continues with the remaining images (--resume).
#SBATCH --job-name=cleave-segment
#SBATCH --ntasks=4
#SBATCH --requeue
#SBATCH --open-mode=append
set -eu
exec srun --mpi=pmix --kill-on-bad-exit cleave segment -m "$1" --data "$2" -o "$3" --resume --status "$3.tsv" \
    --threads "${SLURM_CPUS_PER_TASK:-1}" --quiet
