"""Selection: which units of an example are taken, so that every atom has exactly the same chance.

`take_window` lays the units of an example on a circle, in the order of their ranks, one token an arc of length one;
first comes the unit that holds a uniformly drawn token, from that token on (what lies before it closes the circle). An
atom is taken when it begins within the first `budget` arcs. Whatever the partition, each of the n tokens is then taken
with probability budget / n: long words as often as short ones, the edges of an example as often as its middle. A larger
budget is a longer window from the same place, so selections are nested. Taking whole units by rank alone would favour
short ones, and so the edges, where units are cut short.

`take_coins` takes each unit by a coin of its own.

Where an example must have one selected token (`at_least_one`) and nothing is selected, because the window lies inside
an atom or no coin fell, a spare atom is. With each of the m atoms equally likely to be the spare, every token still has
one chance; the window, or the coins' chance, is made smaller by what the spare adds, so that the number stays right.
That has room where the budget is at least the mean length of an atom. Below, one atom is always taken, and more often a
shortest one, so that the number is right; below the shortest there is no way, and the shortest is taken. Nestedness
holds up to the spare.
"""

import math

import numpy as np

from ptcli.compiled import compiled
from ptcli.randomness import mix

_S32, _S11 = np.uint64(32), np.uint64(11)
_OTHER = np.uint64(0x5DEECE66D1CE4E5B)  # any constant
_TO_UNIT = 1.0 / (1 << 53)
_RARE = 1e-7  # an example without a coin is rarer than this: nothing worth compensating


@compiled
def take_window(units, atoms, maskable, ranks, offsets, budgets, anchors, at_least_one):
    """Selected positions, bool (N,), given the budgets in tokens, int64 (E,), and anchors in [0, 1), float64 (E,)."""
    selected = np.zeros(units.shape[0], np.bool_)
    longest = _longest_example(offsets)
    begins = np.empty(longest + 1, np.int64)
    before = np.empty(longest + 1, np.int32)
    bucket = np.empty(longest + 1, np.int32)
    weight = np.empty(longest + 1, np.int32)
    crossing = np.empty(longest + 1, np.int32)
    whole = np.empty(longest + 1, np.bool_)
    lengths = np.empty(longest + 1, np.int32)
    for e in range(offsets.shape[0] - 1):
        first, last, budget = offsets[e], offsets[e + 1], budgets[e]
        num_units, size = _list_units(units, maskable, first, last, begins, before)
        if size == 0:
            continue
        spare, spare_end = last, last
        if at_least_one:
            budget = max(budget, 1)
            if _has_longer_atom(atoms, maskable, first, last, budget):
                seed = mix(ranks[begins[0]] ^ _OTHER)
                num_atoms = _list_atoms(atoms, maskable, first, last, lengths)
                spare, spare_end = _spare(atoms, maskable, first, last, lengths, num_atoms, budget, seed)
                budget = _compensated_window(lengths, num_atoms, size, budget, _chance(mix(seed)))
        if budget > 0:
            # The anchor: a token drawn uniformly. Its unit comes first, from there on.
            unit, anchor = _token(np.int64(anchors[e] * size), begins, before, num_units)
            end = begins[unit] + before[unit + 1] - before[unit]
            entry = anchor
            while entry < end and not atoms[entry]:
                entry += 1
            reach = _walk(selected, atoms, entry, end, entry - anchor, budget)

            if reach < budget:
                # Ranks are uniform, so as many buckets as units hold one unit each; only the bucket in which the budget
                # ends needs sorting. The loops below have no branch that a processor could mispredict.
                for j in range(num_units):
                    weight[j] = 0
                    bucket[j] = np.int32(((ranks[begins[j]] >> _S32) * np.uint64(num_units)) >> _S32)
                for j in range(num_units):
                    weight[bucket[j]] += before[j + 1] - before[j]
                weight[bucket[unit]] -= before[unit + 1] - before[unit]
                bucket[unit] = num_units  # behind all others
                b = 0
                while b < num_units and reach + weight[b] <= budget:
                    reach += weight[b]
                    b += 1
                num_crossing = 0
                for j in range(num_units):
                    whole[j] = bucket[j] < b
                    crossing[num_crossing] = j
                    num_crossing += (bucket[j] == b) & (j != unit)
                j = -1
                for i in range(begins[0], last):
                    j += units[i]
                    selected[i] |= whole[j] & maskable[i]
                _sort_by_rank(crossing, num_crossing, ranks, begins)
                for c in range(num_crossing):
                    if reach >= budget:
                        break
                    j = crossing[c]
                    end = begins[j] + before[j + 1] - before[j]
                    reach = _walk(selected, atoms, begins[j], end, reach, budget)

            # What lies before the anchor in its unit closes the circle.
            lead = anchor - begins[unit]
            if size - lead < budget:
                _walk(selected, atoms, begins[unit], entry, size - lead, budget)
        if spare < last and not selected[first:last].any():
            selected[spare:spare_end] = True
    return selected


@compiled
def take_coins(units, atoms, maskable, ranks, offsets, ratio, at_least_one):
    """Selected positions, bool (N,): each unit by a coin of its own, of the given ratio.

    With `at_least_one` the coin's chance is lowered to what, together with the spare, keeps the expected share at
    `ratio`, where there is room.
    """
    selected = np.zeros(units.shape[0], np.bool_)
    longest = _longest_example(offsets)
    begins = np.empty(longest + 1, np.int64)
    before = np.empty(longest + 1, np.int32)
    whole = np.empty(longest + 1, np.bool_)
    lengths = np.empty(longest + 1, np.int32)
    for e in range(offsets.shape[0] - 1):
        first, last = offsets[e], offsets[e + 1]
        num_units, size = _list_units(units, maskable, first, last, begins, before)
        if size == 0:
            continue
        chance, num_atoms = ratio, 0
        if at_least_one and ratio < 1.0 and num_units * math.log1p(-ratio) > math.log(_RARE):
            num_atoms = _list_atoms(atoms, maskable, first, last, lengths)
            chance = _compensated_chance(ratio, size, num_units, size / num_atoms)
        nothing = True
        for j in range(num_units):
            whole[j] = _chance(ranks[begins[j]]) < chance
            nothing &= not whole[j]
        j = -1
        for i in range(begins[0], last):
            j += units[i]
            selected[i] = whole[j] & maskable[i]
        if at_least_one and nothing:
            num_atoms = num_atoms or _list_atoms(atoms, maskable, first, last, lengths)
            seed = mix(ranks[begins[0]] ^ _OTHER)
            spare, spare_end = _spare(atoms, maskable, first, last, lengths, num_atoms, ratio * size, seed)
            selected[spare:spare_end] = True
    return selected


@compiled
def _longest_example(offsets):
    longest = 0
    for e in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[e + 1] - offsets[e])
    return longest


@compiled
def _list_units(units, maskable, first, last, begins, before):
    """Fill where units begin and how many maskable tokens lie before each; return the numbers of both."""
    num_units, size = 0, 0
    for i in range(first, last):
        begins[num_units] = i  # overwritten by the next position unless a unit begins here: no branch to mispredict
        before[num_units] = size
        num_units += units[i]
        size += maskable[i]
    before[num_units] = size
    return num_units, size


@compiled
def _token(index, begins, before, num_units):
    """The unit and the position of the maskable token number `index`."""
    low, high = 0, num_units
    while high - low > 1:
        middle = (low + high) >> 1
        if before[middle] <= index:
            low = middle
        else:
            high = middle
    return low, begins[low] + index - before[low]


@compiled
def _walk(selected, atoms, begin, end, reach, budget):
    """Take the atoms from begin to end that begin within the budget; return how far the circle is used up."""
    take = False
    for i in range(begin, end):
        if atoms[i]:
            take = reach < budget
        if take:
            selected[i] = True
        reach += 1
    return reach


@compiled
def _has_longer_atom(atoms, maskable, first, last, budget):
    """Whether an atom has more than `budget` tokens: a stretch of `budget` tokens in which none begins or ends."""
    begin = first
    while begin + budget <= last:
        i = begin + budget - 1
        while i >= begin and maskable[i] and not atoms[i]:
            i -= 1
        if i < begin:
            return True
        begin = i + 1
    return False


@compiled
def _list_atoms(atoms, maskable, first, last, lengths):
    """Fill the lengths of the atoms, in order; return how many there are."""
    count = 0
    for i in range(first, last):
        if atoms[i]:
            lengths[count] = 0
            count += 1
        if maskable[i]:
            lengths[count - 1] += 1
    return count


@compiled
def _spare(atoms, maskable, first, last, lengths, num_atoms, budget, seed):
    """Begin and end of the atom that is taken where nothing else is: any, or a shortest one if the mean is too long."""
    total, shortest, num_shortest = 0, lengths[0], 0
    for j in range(num_atoms):
        total += lengths[j]
        if lengths[j] < shortest:
            shortest, num_shortest = lengths[j], 0
        num_shortest += lengths[j] == shortest
    mean = total / num_atoms
    any_share = 1.0
    if mean > budget:
        any_share = max(0.0, (budget - shortest) / (mean - shortest)) if mean > shortest else 0.0
    draw = _chance(seed)
    if draw < any_share:
        number = min(np.int64(draw / any_share * num_atoms), num_atoms - 1)
    else:
        left = min(np.int64((draw - any_share) / (1.0 - any_share) * num_shortest), num_shortest - 1)
        number = -1
        while left >= 0:
            number += 1
            left -= lengths[number] == shortest
    i = first - 1
    while number >= 0:
        i += 1
        number -= atoms[i]
    end = i + 1
    while end < last and maskable[end] and not atoms[end]:
        end += 1
    return i, end


@compiled
def _chance(bits):
    """A number in [0, 1) from random bits."""
    return np.float64(bits >> _S11) * _TO_UNIT


@compiled
def _compensated_window(lengths, num_atoms, size, budget, draw):
    """The window b with b + (how often it is empty) * (the mean length of an atom) = budget, rounded by `draw`.

    It is empty where it lies inside an atom, from an anchor behind the atom's begin: sum over atoms of
    max(0, length - b) / size of the time. The left side rises with b; 0 where it is too large at 0 already.
    """
    if size >= budget * num_atoms:
        return 0
    window, below, here = 0, 0.0, size / num_atoms
    while here <= budget:
        window += 1
        over = 0
        for j in range(num_atoms):
            over += max(0, lengths[j] - window)
        below, here = here, window + over / num_atoms
    return window - 1 + (draw < (budget - below) / (here - below))


@compiled
def _sort_by_rank(items, count, ranks, begins):
    """Insertion sort in place: one or two items as a rule."""
    for c in range(1, count):
        item = items[c]
        rank = ranks[begins[item]]
        d = c - 1
        while d >= 0 and ranks[begins[items[d]]] > rank:
            items[d + 1] = items[d]
            d -= 1
        items[d + 1] = item


@compiled
def _compensated_chance(ratio, size, num_units, spare_size):
    """The coin's chance r with r * size + (1 - r)^num_units * spare_size = ratio * size; 0 where there is no room.

    The left side is convex and rising in r, so Newton's steps from above never overshoot.
    """
    if ratio * size <= spare_size:
        return 0.0
    chance = ratio
    for _ in range(60):
        none = math.exp((num_units - 1) * math.log1p(-chance))
        excess = (chance - ratio) * size + none * (1.0 - chance) * spare_size
        slope = size - num_units * spare_size * none
        if excess < 1e-9 * size or slope <= 0.0:
            break
        chance = max(0.0, chance - excess / slope)
    return chance
