"""Selection: which units of an example are taken, so that every atom has exactly the same chance.

`take_window` lays the units of an example on a circle, in the order of their ranks, one token an arc of length one;
first comes the unit that holds a uniformly drawn token, from that token on (what lies before it closes the circle). An
atom is taken when it begins within the first `budget` arcs. Whatever the partition, each of the n tokens is then taken
with probability budget / n: long words as often as short ones, the edges of an example as often as its middle. A larger
budget is a longer window from the same place, so selections are nested. Taking whole units by rank alone would favour
short ones, and so the edges, where units are cut short.

`take_coins` takes each unit by a coin of its own.

Where an example must have one selected token (`at_least_one`), its shortest atom (one of them) is the spare: taken
first when some atom is longer than the budget, so that a window could be empty, and the window for what is left of the
budget then goes round the others; or taken when no coin fell. Nestedness holds up to this spare, for tokens exactly.
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
    for e in range(offsets.shape[0] - 1):
        first, last, budget = offsets[e], offsets[e + 1], budgets[e]
        num_units, size = _list_units(units, maskable, first, last, begins, before)
        if size == 0:
            continue
        spare, spare_end = last, last
        if at_least_one:
            budget = max(budget, 1)
            if _has_longer_atom(atoms, maskable, first, last, budget):
                # Among equals by a hash of its own: by rank, the others would not be in random order any more.
                spare, spare_end = _shortest_atom(atoms, maskable, ranks, first, last, True)
                selected[spare:spare_end] = True
                budget -= spare_end - spare
        if budget <= 0:
            continue
        spare_size = spare_end - spare
        circle = size - spare_size

        # The anchor: a token drawn uniformly, drawn again if it is in the spare. Its unit comes first, from there on.
        place = anchors[e] * size
        index = np.int64(place)
        unit, anchor = _token(index, begins, before, num_units)
        if spare <= anchor < spare_end:
            spare_index = index - (anchor - spare)
            index = np.int64((place - index) * circle)
            index += spare_size if index >= spare_index else 0
            unit, anchor = _token(index, begins, before, num_units)
        end = begins[unit] + before[unit + 1] - before[unit]
        entry = anchor
        while entry < end and not atoms[entry]:
            entry += 1
        reach = _walk(selected, atoms, entry, end, entry - anchor, budget, spare, spare_end)

        if reach < budget:
            # Ranks are uniform, so as many buckets as units hold one unit each; only the bucket in which the budget
            # ends needs sorting. The loops below have no branch that a processor could mispredict.
            for j in range(num_units):
                weight[j] = 0
                bucket[j] = np.int32(((ranks[begins[j]] >> _S32) * np.uint64(num_units)) >> _S32)
            for j in range(num_units):
                weight[bucket[j]] += before[j + 1] - before[j]
            weight[bucket[unit]] -= before[unit + 1] - before[unit]
            if spare_size:
                spare_unit = num_units - 1
                while begins[spare_unit] > spare:
                    spare_unit -= 1
                weight[bucket[spare_unit]] -= spare_size if spare_unit != unit else 0
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
                reach = _walk(selected, atoms, begins[j], end, reach, budget, spare, spare_end)

        # What lies before the anchor in its unit closes the circle.
        lead = anchor - begins[unit]
        if begins[unit] <= spare < anchor:
            lead -= spare_size
        if circle - lead < budget:
            _walk(selected, atoms, begins[unit], entry, circle - lead, budget, spare, spare_end)
    return selected


@compiled
def take_coins(units, atoms, maskable, ranks, offsets, ratio, at_least_one):
    """Selected positions, bool (N,): each unit by a coin of its own, of the given ratio.

    With `at_least_one` the coin's chance is lowered to what, together with the spare, keeps the expected share at
    `ratio`, as long as an example has room for the spare (ratio * size >= its length).
    """
    selected = np.zeros(units.shape[0], np.bool_)
    longest = _longest_example(offsets)
    begins = np.empty(longest + 1, np.int64)
    before = np.empty(longest + 1, np.int32)
    whole = np.empty(longest + 1, np.bool_)
    for e in range(offsets.shape[0] - 1):
        first, last = offsets[e], offsets[e + 1]
        num_units, size = _list_units(units, maskable, first, last, begins, before)
        if size == 0:
            continue
        chance = ratio
        if at_least_one and ratio < 1.0 and num_units * math.log1p(-ratio) > math.log(_RARE):
            spare, spare_end = _shortest_atom(atoms, maskable, ranks, first, last, False)
            chance = _compensated(ratio, size, num_units, spare_end - spare)
        nothing = True
        for j in range(num_units):
            whole[j] = np.float64(ranks[begins[j]] >> _S11) * _TO_UNIT < chance
            nothing &= not whole[j]
        j = -1
        for i in range(begins[0], last):
            j += units[i]
            selected[i] = whole[j] & maskable[i]
        if at_least_one and nothing:
            spare, spare_end = _shortest_atom(atoms, maskable, ranks, first, last, False)
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
def _walk(selected, atoms, begin, end, reach, budget, spare, spare_end):
    """Take the atoms from begin to end that begin within the budget; return how far the circle is used up."""
    take = False
    i = begin
    while i < end:
        if i == spare:
            i = spare_end
            continue
        if atoms[i]:
            take = reach < budget
        if take:
            selected[i] = True
        reach += 1
        i += 1
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
def _shortest_atom(atoms, maskable, ranks, first, last, hashed):
    """Begin and end of the shortest atom, the first among equals by rank or by a hash of it."""
    best, best_end, best_order = first, last + 1, np.uint64(0)
    i = first
    while i < last:
        if not atoms[i]:
            i += 1
            continue
        end = i + 1
        while end < last and maskable[end] and not atoms[end]:
            end += 1
        order = mix(ranks[i] ^ _OTHER) if hashed else ranks[i]
        if end - i < best_end - best or (end - i == best_end - best and order < best_order):
            best, best_end, best_order = i, end, order
        i = end
    return best, best_end


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
def _compensated(ratio, size, num_units, spare_size):
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
