"""Stateless random draws: every one is a pure function of a key and a counter, so no generator is carried about.

`key_of(seed, "mask", epoch)` names a stream; `draw(key, counter)` is 64 random bits of it; `uniform` a float in [0, 1).
The mixing is splitmix64's (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
`permute` is a keyed bijection on [0, n): a shuffled order of a billion rows with no shuffled array.
All but `key_of` are callable from compiled loops; pass np.uint64 for keys and counters there.
"""

import hashlib

import numpy as np

from ptcli.compiled import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11, _ONE = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11), np.uint64(1)
_TO_UNIT = 1.0 / (1 << 53)


def key_of(*parts: int | str) -> np.uint64:
    """The 64-bit key of a stream named by integers and strings, in order: `key_of(seed, "mask.select", epoch)`."""
    digest = hashlib.blake2b("\x1f".join(f"{type(p).__name__}:{p}" for p in parts).encode(), digest_size=8)
    return np.uint64(int.from_bytes(digest.digest(), "little"))


@compiled
def mix(x):
    """Splitmix64's finaliser: a bijection of 64 bits in which every input bit moves every output bit."""
    x = (x ^ (x >> _S30)) * _M1
    x = (x ^ (x >> _S27)) * _M2
    return x ^ (x >> _S31)


@compiled
def draw(key, counter):
    """64 random bits: number `counter` of the stream `key` (both uint64)."""
    return mix(key + (np.uint64(counter) + _ONE) * _GOLDEN)


@compiled
def uniform(key, counter):
    """A float in [0, 1): number `counter` of the stream `key`."""
    return np.float64(draw(key, counter) >> _S11) * _TO_UNIT


@compiled
def draws(key, counters):
    """`draw` for an array of counters: uint64 (n,)."""
    out = np.empty(counters.shape[0], np.uint64)
    for i in range(counters.shape[0]):
        out[i] = draw(key, np.uint64(counters[i]))
    return out


@compiled
def uniforms(key, counters):
    """`uniform` for an array of counters: float64 (n,)."""
    out = np.empty(counters.shape[0], np.float64)
    for i in range(counters.shape[0]):
        out[i] = uniform(key, np.uint64(counters[i]))
    return out


@compiled
def uniforms_at(key, keys, offsets):
    """A float in [0, 1) for each position of flat examples, from the example's key and its place: float64 (N,)."""
    out = np.empty(offsets[-1], np.float64)
    for e in range(keys.shape[0]):
        stream = draw(key, keys[e])
        for i in range(offsets[e + 1] - offsets[e]):
            out[offsets[e] + i] = uniform(stream, np.uint64(i))
    return out


@compiled
def permute(positions, n, key):
    """Where the positions (int64, each in [0, n)) come to lie in the order `key`: a bijection on [0, n).

    A four-round Feistel network over the next even number of bits, walked along its cycle until it falls below n.
    """
    half = np.uint64(1)
    while (np.uint64(1) << (half + half)) < np.uint64(n):
        half += np.uint64(1)
    low = (np.uint64(1) << half) - np.uint64(1)
    out = np.empty(positions.shape[0], np.int64)
    for i in range(positions.shape[0]):
        x = np.uint64(positions[i])
        while True:
            left, right = x >> half, x & low
            for r in range(4):
                left, right = right, left ^ (draw(key + np.uint64(r), right) & low)
            x = (left << half) | right
            if x < np.uint64(n):
                break
        out[i] = np.int64(x)
    return out
