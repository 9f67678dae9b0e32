#!/usr/bin/env bash
# One study measured by all GPUs of a machine, a part of the documents and a process each, then
# merged:
#
#   MODELS=models/big CORPUS=wiki.jsonl OUT=out GPUS=8 ENGINE="--engine transformers" \
#     examples/cluster/gpus.sh
#
# When one process fails the others go on; give the same command again for what is missing.
set -euo pipefail

: "${MODELS:?folders of models}" "${CORPUS:?what --corpus takes}" "${OUT:?a folder}" "${GPUS:?how many}"
relscale=${RELSCALE:-relscale}
mkdir -p "$OUT"
started=()
for ((gpu = 0; gpu < GPUS; gpu++)); do
  part=$((gpu + 1))
  # shellcheck disable=SC2086 # several models, and several words of ENGINE, are meant
  CUDA_VISIBLE_DEVICES=$gpu "$relscale" measure ${ENGINE:-} --model $MODELS --corpus "$CORPUS" \
    --part "$part/$GPUS" --out "$OUT/part-$part" &
  started+=($!)
done
failed=0
for process in "${started[@]}"; do
  wait "$process" || failed=1
done
[ "$failed" = 0 ] || { echo "a part is missing: the same command goes on" >&2; exit 1; }
"$relscale" merge "$OUT"/part-* --out "$OUT/study"
