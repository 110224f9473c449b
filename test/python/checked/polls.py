"""Loops that poll and change variables: which ones `symm.check` takes to poll in vain, and what it says of them."""

import re

import pytest
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl
from symm.check import _loops

# Of each loop in a function what only counts.
LOOPS = {
    "while poll(): n += 1": "n",
    "while poll(): n = n + 2 * m; m = -n": "m n",
    "while poll() and n < 5: n += 1": "",
    "while poll():\n  n += 1\n  if n > 5: break": "",
    "while poll():\n  n += 1\n  late = n > 5\n  if late: break": "",
    "while poll(): n += 1; m = n > 5": "m n",
    "while poll(): n += 1; use(n)": "",
    "while poll(): n += 1; m = use(n)": "",
    "while poll(): n += 1; m = 1 // n": "",
    "while poll(): n += 1; m //= n": "",
    "while poll(): n += 1; m: int = n": "m n",
    "while poll(): n += 1; box[0] = n": "",
    "while poll(): n += 1; m = [n]": "",
    "while poll(): n, m = m, n": "",
    "while poll(): n += 1; assert n < 5": "",
    "while poll(): n += 1; yield n": "",
    "for n in box:\n  while poll(): m += 1": "m",
    "for n in box:\n  while poll(): m += 1\n  use(m)": "",
    "while poll(): n += 1\nuse(n)": "n",
    "def other(): return n\nwhile poll(): n += 1": "",
    "global n\nwhile poll(): n += 1": "",
}


@pytest.mark.parametrize("loop", LOOPS)
def test_what_only_counts(loop, tmp_path):
    file, last = tmp_path / "loop.py", loop.splitlines()
    body = "".join(f"  {line}\n" for line in last)
    file.write_text(f"def function(poll, use, box):\n{body}")
    made = {}
    exec(compile(file.read_text(), str(file), "exec"), made)
    line = 2 + next(at for at, text in enumerate(last) if "poll()" in text)
    code = made["function"].__code__
    assert sorted(_loops.counters(code, line)) == LOOPS[loop].split()
    assert _loops.polls(code, line)


def test_what_may_poll(tmp_path):
    file = tmp_path / "loop.py"
    function = "def function():\n  for i in (1, 2):\n    i\n  while i:\n    i\n  i\n"
    file.write_text(f"{function}while 0:\n  0\n[0 for i in '']\n")
    module = compile(file.read_text(), str(file), "exec")
    function, *_ = (part for part in module.co_consts if hasattr(part, "co_name"))
    assert [_loops.polls(function, line) for line in (3, 4, 5, 6)] == [False, True, True, False]
    assert [_loops.polls(module, line) for line in (8, 9)] == [True, False]
    # Of a lambda one knows that it is no loop, and of a function without a source nothing.
    assert not _loops.polls((lambda: 0).__code__, 1)
    exec("def unknown(): pass", made := {})
    assert _loops.polls(made["unknown"].__code__, 1) and _loops.counters(made["unknown"].__code__, 1) == frozenset()


def checked(kernel, *more, **options):
    def arguments(world):
        return world, *(world.zeros(2, dtype=torch.int32) for _ in range(2)), *more

    return symm.check.run(kernel, grid=(1,), args=arguments, heap_size=1 << 24, **{"schedules": 1, **options})


@triton.jit
def counts(world, flag, out):
    tries = 0
    if st.rank(world) == 1:
        while tl.atomic_or(flag, 0, sem="acquire", scope="sys") == 0:
            tries += 1
    tl.store(out, tries)


@triton.jit
def gives_up(world, flag, out, TRIES: tl.constexpr = 1000):
    tries = 0
    if st.rank(world) == 1:
        while (tl.atomic_or(flag, 0, sem="acquire", scope="sys") == 0) & (tries < TRIES):
            tries += 1
    tl.store(out, tries)


@triton.jit
def reads_one_place_again_and_again(world, flag, out):
    total = 0
    for _ in range(200):
        total += tl.load(flag)
    tl.store(out, total)


@triton.jit
def counts_until_it_is_signalled(world, flag, out):
    tries = 0
    if st.rank(world) == 1:
        while tl.atomic_or(flag, 0, sem="acquire", scope="sys") < 1:
            tries += 1
    else:
        st.signal(world, flag, 1, 1)
    tl.store(out, tries)


@triton.jit
def sums_all_flags(world, flag, out):
    """A loop of several looks, of which each has other variables than the one before it."""
    seen = 0
    while seen < 3:
        seen = 0
        for at in range(2):
            seen += tl.atomic_or(flag + at, 0, sem="acquire", scope="sys")
    tl.store(out, seen)


@triton.jit
def looks_at_one_flag_more_often(world, flag, out, TRIES: tl.constexpr):
    if st.rank(world) == 0:
        st.signal(world, flag + 1, 1, 1)
    else:
        tries, seen = 0, 0
        while (seen == 0) & (tries < TRIES):
            for _ in range(3):
                tl.atomic_or(flag, 0, sem="acquire", scope="sys")
            seen = tl.atomic_or(flag + 1, 0, sem="acquire", scope="sys")
            if TRIES < 1000:
                tries += 1
        tl.store(out, seen)


def test_all_places_of_a_loop_are_polled():
    report = checked(sums_all_flags, polls=100)
    [finding] = report.findings
    assert finding.kind == "deadlock" and "raise polls" not in finding.help and report.given_up == 0
    assert all(" polls 2 places in vain, the first is " in f" {place.what}" for place in finding.places)
    # What ends the loop is at a place that is read less often, and comes last.
    for tries in (999, 1000):
        report = checked(looks_at_one_flag_more_often, tries, polls=8, schedules=10)
        assert report.findings == (), report


@pytest.mark.parametrize("exhaustive", [False, True])
def test_a_loop_that_only_counts_polls_in_vain(exhaustive):
    how = {"exhaustive": True} if exhaustive else {}
    options = {"grid": (1,), "heap_size": 1 << 24, "steps": 100, **how}
    with symm.check.raises("never-signalled") as caught:
        symm.check(counts, args=lambda world: (world, *(world.zeros(1, dtype=torch.int32),) * 2), **options)
    assert caught.report.given_up == 0 and "raise polls" not in str(caught.report)
    assert checked(counts_until_it_is_signalled, polls=100).findings == ()


def test_a_loop_that_gives_up_may_poll_as_often_as_it_is_allowed_to():
    report = checked(gives_up, polls=100)
    [finding] = report.findings
    assert finding.kind == "never-signalled" and report.given_up == 0
    said = r"; \S+polls.py:\d+:16 has looked 100 times: if it gives up after more, raise polls$"
    assert re.search(said, finding.help), finding.help
    assert checked(gives_up, polls=2000).findings == ()
    assert checked(reads_one_place_again_and_again, polls=100).findings == ()
