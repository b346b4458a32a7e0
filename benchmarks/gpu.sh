#!/usr/bin/env bash
# Training speed on one GPU, in under eight minutes; makes its own text.
#
#   bash benchmarks/gpu.sh                      # BERT base, rows of 128 and of 512
#   PEER=peer.py bash benchmarks/gpu.sh         # beside a peer script (see benchmarks/train.py)
#   TOY=1 bash benchmarks/gpu.sh                # the same steps at toy size on the CPU, in about a minute
#
# TOKENS: tokens in a step (default: 32768, for 80 GB; a smaller card takes less).
# PYTHON names the interpreter (default: .venv/bin/python where there is one, else python3).
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${PYTHON:-}" ]; then
    if [ -x .venv/bin/python ]; then PYTHON=.venv/bin/python; else PYTHON=python3; fi
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PTCLI_CACHE="${PTCLI_CACHE:-$folder/cache}"

if [ -n "${TOY:-}" ]; then
    device=cpu words=30000 side=128
    common=(--shapes 2x64 --vocab 300 --rows 4 --steps 5 --rounds 1 --precisions fp32)
    lengths=(32)
else
    device=cuda words=6000000 side=8192
    common=(--shapes 12x768 --vocab 30522 --steps 60 --rounds 1 --precisions bf16 --compile --lines 400000)
    lengths=(128 512)
fi

# Text of made-up words: Zipf's frequencies, sentences of 24 words or so.
"$PYTHON" - "$folder/text.txt" "$words" <<'PYTHON'
import sys

import numpy as np

path, count = sys.argv[1], int(sys.argv[2])
generator = np.random.default_rng(0)
letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
lexicon = ["".join(generator.choice(letters, generator.integers(2, 10))) for _ in range(60_000)]
ranks = np.minimum(generator.zipf(1.2, count) - 1, len(lexicon) - 1)
ends = np.cumsum(1 + generator.lognormal(3.0, 0.6, count // 10).astype(int))
with open(path, "w", encoding="utf-8") as file:
    for number, words in enumerate(np.split(ranks, ends[ends < count])):
        sentence = " ".join(lexicon[rank] for rank in words)
        file.write(sentence.capitalize() + ("." if number % 8 else ".\n\n") + " ")
PYTHON

# The ceiling: a large product of bfloat16 matrices.
"$PYTHON" - "$device" "$side" <<'PYTHON'
import sys
import time

import torch

device, side = sys.argv[1], int(sys.argv[2])
one = torch.randn(side, side, device=device, dtype=torch.bfloat16)
wait = torch.cuda.synchronize if device == "cuda" else lambda: None
for turns in (3, 20):
    wait()
    begun = time.perf_counter()
    for _ in range(turns):
        one @ one
    wait()
    seconds = (time.perf_counter() - begun) / turns
name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
print(f"{name}: a product of {side} x {side} bf16 matrices runs at {2 * side**3 / seconds / 1e12:,.2f} TFLOP/s", flush=True)
PYTHON

peer=()
[ -z "${PEER:-}" ] || peer=(--peer "$PEER" --peer-precision bf16 --modes loop)
for length in "${lengths[@]}"; do
    echo "rows of $length"
    rows=()
    [ "$device" = cpu ] || rows=(--rows $((${TOKENS:-32768} / length)))
    "$PYTHON" benchmarks/train.py --text "$folder/text.txt" --device "$device" --length "$length" \
        "${common[@]}" ${rows[@]+"${rows[@]}"} ${peer[@]+"${peer[@]}"}
done
