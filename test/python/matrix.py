"""Which cells of a compile matrix run: one of each kind, those that cover it, or all."""

import itertools

import pytest
from compiling import VERSION


def ways(number, *factors):
    """Every combination of the factors' values, for the kind of this number, each with the marks of its cell.

    The first one always runs, with `--cover` those in which every two values of two factors come together, with
    `--all` every one. From kind to kind and from one version of Triton to the other they are other ones.
    """
    every = [*itertools.product(*factors)]
    turn = (number + VERSION[1]) * 5 % len(every)
    every = every[turn:] + every[:turn]
    covering = cover(every)
    for way in every:
        if way == covering[0]:
            yield way, ()
        else:
            yield way, pytest.mark.covering if way in covering else pytest.mark.rare


def halves(*factors):
    """Every combination of the factors' values; every other one is for the other version of Triton, or `--all`.

    Such a test is not `in_turn`, too: half of its cells would run with no version.
    """
    for at in itertools.product(*(range(len(values)) for values in factors)):
        way = [values[each] for values, each in zip(factors, at, strict=True)]
        # Versions that are tested are an odd number apart.
        yield pytest.param(*way, marks=pytest.mark.rare if (sum(at) + VERSION[1]) % 2 else ())


def cover(every):
    """Some of these combinations, in which any two values come together that do so in any of them."""
    missing, chosen = {pair for way in every for pair in pairs(way)}, []
    while missing:
        chosen.append(max(every, key=lambda way: len(missing & pairs(way))))
        missing -= pairs(chosen[-1])
    return chosen


def pairs(way):
    return {*itertools.combinations(enumerate(way), 2)}
