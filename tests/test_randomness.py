"""Stateless draws: uniform, independent of each other, a bijection where one is promised."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ptcli.randomness import draws, key_of, permute, uniforms


@given(st.integers(1, 2000), st.integers(0, 2**32))
def test_permute_is_a_bijection(n, seed):
    order = permute(np.arange(n), n, key_of(seed, "order"))
    assert sorted(order) == list(range(n))


def test_permute_in_pieces_is_permute_at_once():
    key = key_of(3, "order")
    whole = permute(np.arange(1000), 1000, key)
    assert np.array_equal(
        whole, np.concatenate([permute(np.arange(a, a + 100), 1000, key) for a in range(0, 1000, 100)])
    )


def test_permute_scatters_neighbours():
    order = permute(np.arange(100_000), 100_000, key_of(0, "order"))
    assert abs(np.corrcoef(order[:-1], order[1:])[0, 1]) < 0.01
    assert abs(np.corrcoef(np.arange(100_000), order)[0, 1]) < 0.01


def test_uniforms_are_uniform_and_streams_independent():
    counters = np.arange(200_000)
    one, two = uniforms(key_of(1, "a"), counters), uniforms(key_of(1, "b"), counters)
    for sample in (one, two):
        assert sample.min() >= 0 and sample.max() < 1
        observed = np.bincount((sample * 100).astype(int), minlength=100)
        assert ((observed - 2000) ** 2 / 2000).sum() < 160  # chi-square with 99 degrees: P < 1e-4
    assert abs(np.corrcoef(one, two)[0, 1]) < 0.01


def test_every_bit_is_fair():
    bits = np.unpackbits(draws(key_of(5), np.arange(100_000)).view(np.uint8)).reshape(-1, 64)
    assert abs(bits.mean(0) - 0.5).max() < 0.01


def test_keys_tell_parts_apart():
    keys = {
        int(k)
        for k in (
            key_of(1, 2),
            key_of(12),
            key_of("1", 2),
            key_of(2, 1),
            key_of(1, "2"),
            key_of("a", "b"),
            key_of("ab"),
        )
    }
    assert len(keys) == 7
    assert key_of(1, "mask", 2) == key_of(1, "mask", 2)
