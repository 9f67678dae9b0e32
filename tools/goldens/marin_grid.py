"""The 85 runs a corpus of Marin's IsoFLOP sweep, derived in Python from the published rules, for crates/sweep/tests/marin.rs.

Rules: marin-community/marin, the generator behind experiment 2166; FLOPs: stanford-crfm/levanter, lm_flops_per_token.
Budgets count forward FLOPs. Uses nothing but the standard library; Python's round() takes halves to even, as the generator did.

    python tools/goldens/marin_grid.py > testdata/sweep/marin.csv
"""

import math

VOCABULARY, SEQUENCE, STEPS = 128256, 4096, 2**16


def forward_flops_a_token(width, layers, heads):
    head_width, hidden = width / heads, 4 * width
    mlp = 2 * 3 * width * hidden
    qkv = 2 * width * (heads * head_width + 2 * heads * head_width)
    dense = 2 * width * width
    scores = 2 * SEQUENCE**2 * heads * head_width
    softmax = 3 * SEQUENCE * SEQUENCE * heads
    mixed = 2 * SEQUENCE * SEQUENCE * head_width * heads
    attention = (scores + softmax + mixed) / SEQUENCE
    return layers * (mlp + qkv + dense + attention) + 2 * width * VOCABULARY


def runs():
    for budget in (1e18, 3e18, 6e18, 1e19, 3e19, 6e19, 1e20):
        step = 256 if budget > 9e18 else 128
        for width in range(512, 4096 + 1, step):
            layers = round(width / (64 + 4 * math.log2(width) - 9))
            heads = max(1, width // 128)
            flops = forward_flops_a_token(width, layers, heads)
            aimed = budget / (flops * STEPS * SEQUENCE)
            batch = 1 if aimed <= 1 else 2 ** math.ceil(math.log2(aimed))
            rate = 0.33 * math.sqrt(batch) / width
            while rate > 0.01:
                batch //= 2
                rate = 0.33 * math.sqrt(batch) / width
            if batch < 8:
                continue
            steps = round(budget / (flops * batch * SEQUENCE))
            if abs(flops * batch * steps * SEQUENCE - budget) / budget > 0.01:
                continue
            block = 4 * width**2 + 3 * width * 4 * width + 2 * width + 2 * 128
            parameters = 2 * VOCABULARY * width + layers * block + width
            yield budget, width, layers, batch, steps, parameters, batch * steps * SEQUENCE, rate, 0.98 ** (batch / 128)


if __name__ == "__main__":
    print("budget,width,layers,batch,steps,parameters,tokens,learning_rate,beta2")
    for budget, *row, rate, beta2 in runs():
        print(f"{budget:.0e}".replace("e+", "e"), *row, repr(rate), repr(beta2), sep=",")
