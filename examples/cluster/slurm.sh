#!/usr/bin/env bash
# One study measured by the tasks of a Slurm array, a part of the documents each:
#
#   sbatch --array=1-8 examples/cluster/slurm.sh
#   relscale merge "$OUT"/part-* --out "$OUT"/study          # when all tasks are done
#
# A task that was stopped goes on where it was: submit the same array again. Set MODELS, CORPUS, OUT
# and what else `relscale measure` is to be told (ENGINE, for instance) in the environment.
#SBATCH --job-name=relscale
#SBATCH --cpus-per-task=16
#SBATCH --mem=64G
#SBATCH --time=24:00:00
#SBATCH --requeue
#SBATCH --output=relscale-%A-%a.log
set -euo pipefail

: "${MODELS:?folders of models}" "${CORPUS:?what --corpus takes}" "${OUT:?a folder that all tasks see}"
part=$SLURM_ARRAY_TASK_ID
parts=$SLURM_ARRAY_TASK_COUNT
mkdir -p "$OUT"

# shellcheck disable=SC2086 # several models, and several words of ENGINE, are meant
exec "${RELSCALE:-relscale}" measure ${ENGINE:-} --model $MODELS --corpus "$CORPUS" \
  --part "$part/$parts" --out "$OUT/part-$part"
