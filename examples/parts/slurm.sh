#!/bin/sh
#SBATCH --array=1-4
#SBATCH --cpus-per-task=1
# Task N of an array trains on part N. A task that is run again writes the same file again.
exec priory train "part-$SLURM_ARRAY_TASK_ID.csv" --schema penguins.json --judge later --threads 1 \
  -o "part-$SLURM_ARRAY_TASK_ID.priory"
