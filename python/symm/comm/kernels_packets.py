"""Small messages as packets: every word carries the number of its call, so that no signal and no barrier is needed.

A message is words of 8 bytes, each in a line of 16. Lines have two buffers, used in turn by the calls: who has what a
peer sent in call e - 1 knows that it has taken what came in call e - 2. A rank that sends without receiving asks first,
with flags that grow, as in kernels_exchange.py.
"""

import triton
import triton.language as tl

from .. import triton as st
from .kernels_parts import FLAG_WORDS, await_all, combine, narrowed, rank_of, tell_all

# Of the lines of a program.
PACKET_BUFFERS = tl.constexpr(2)


@triton.jit
def element_of(words, which: tl.constexpr, TYPE: tl.constexpr):
    """An element of each word."""
    BITS: tl.constexpr = TYPE.primitive_bitwidth
    if BITS == 64:
        return words.to(TYPE, bitcast=True)
    elif BITS == 32:
        return (words >> (32 * which)).to(tl.int32).to(TYPE, bitcast=True)
    elif BITS == 16:
        return (words >> (16 * which)).to(tl.int16).to(TYPE, bitcast=True)
    else:
        return (words >> (8 * which)).to(tl.int8).to(TYPE, bitcast=True)


@triton.jit
def word_of(element, which: tl.constexpr):
    """A word that is an element at its place, and zero elsewhere."""
    BITS: tl.constexpr = element.dtype.primitive_bitwidth
    if BITS == 64:
        return element.to(tl.int64, bitcast=True)
    elif BITS == 32:
        bits = element.to(tl.int32, bitcast=True).to(tl.int64) & 0xFFFFFFFF
    elif BITS == 16:
        bits = element.to(tl.int16, bitcast=True).to(tl.int64) & 0xFFFF
    else:
        bits = element.to(tl.int8, bitcast=True).to(tl.int64) & 0xFF
    return bits << (BITS * which)


@triton.jit
def load_words(source, first, count, WHOLE: tl.constexpr, BLOCK: tl.constexpr):
    """Words `first` and on of a message of `count` elements at `source`."""
    TYPE: tl.constexpr = source.dtype.element_ty
    EACH: tl.constexpr = 64 // TYPE.primitive_bitwidth
    at = first + tl.arange(0, BLOCK)
    if WHOLE:
        return tl.load(source.to(tl.pointer_type(tl.int64), bitcast=True) + at, at < count // EACH, other=0)
    else:
        words = tl.zeros((BLOCK,), tl.int64)
        for which in tl.static_range(EACH):
            elements = tl.load(source + at * EACH + which, at * EACH + which < count)
            elements = tl.where(at * EACH + which < count, elements, tl.zeros((BLOCK,), tl.int64).to(TYPE))
            words |= word_of(elements, which)
        return words


@triton.jit
def store_words(target, first, count, words, WHOLE: tl.constexpr, BLOCK: tl.constexpr):
    TYPE: tl.constexpr = target.dtype.element_ty
    EACH: tl.constexpr = 64 // TYPE.primitive_bitwidth
    at = first + tl.arange(0, BLOCK)
    if WHOLE:
        tl.store(target.to(tl.pointer_type(tl.int64), bitcast=True) + at, words, at < count // EACH)
    else:
        for which in tl.static_range(EACH):
            tl.store(target + at * EACH + which, element_of(words, which, TYPE), at * EACH + which < count)
