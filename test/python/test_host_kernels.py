"""The kernels that the host launches for itself, compiled for both targets, with and without a time-out."""

import re
from unittest import mock

import pytest
from compiling import compile_for, machine_text
from symm import _host_kernels, _timeouts
from symm._symm import DEADLINE_RECORD

FLAG = {"world": "*i64", "flag": "*i32", "value": "i32"}
KERNELS = {
    "stream_signal": ({**FLAG, "rank": "i32"}, {"OP": "add"}),
    "stream_wait": (FLAG, {"COMPARE": "ge"}),
    "team_barrier": ({"team": "*i64", "words": "*i64"}, {}),
    "group_barrier": ({"world": "*i64", "words": "*i64", "low": "i32", "high": "i64"}, {}),
}
RELEASE = {"sm_90": r"(?:st|atom|red)\.\S*release\S*|fence\.acq_rel\.sys", "gfx942": r"buffer_wbl2 sc0 sc1"}
ACQUIRE = {"sm_90": r"ld\.acquire\.sys", "gfx942": r"buffer_inv sc0 sc1"}


@pytest.mark.parametrize("words", ["*i64", "*u64"])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("target", RELEASE)
def test_kernels_of_the_host(target, name, words):
    signature, constants = KERNELS[name]
    context = next(iter(signature))
    compiled = compile_for(
        target, getattr(_host_kernels, name), {**signature, context: words}, options={"num_warps": 1}, **constants
    )
    text = machine_text(compiled)
    assert name == "stream_wait" or re.search(RELEASE[target], text), text
    assert name == "stream_signal" or re.search(ACQUIRE[target], text), text
    # A signal has nothing to wait for; a wait with a time-out looks at the clock.
    clock = re.search(r"globaltimer|s_memrealtime", text) is not None
    assert clock == (words == "*u64" and name != "stream_signal"), text


@pytest.mark.parametrize(
    ("owner", "name", "call"),
    [
        ("World", "stream_wait", "World.wait"),
        ("Team", "stream_wait", "Team.wait"),
        ("Team", "team_barrier", "Team.barrier"),
        ("World", "group_barrier", "Iris.device_barrier"),
    ],
)
@pytest.mark.parametrize("target", RELEASE)
def test_a_time_out_names_the_call_and_not_its_kernel(target, owner, name, call):
    signature, constants = KERNELS[name]
    signature = {**signature, next(iter(signature)): "*u64"}
    members = {"get_num_ranks": lambda _: 2, "flag_at": lambda _, offset: f"the flag at {offset}"}
    watching = object.__new__(_timeouts.Timeouts)
    watching.world = type(owner, (), members)()
    with mock.patch.dict(_timeouts.waits, clear=True):
        compile_for(target, getattr(_host_kernels, name), signature, options={"num_warps": 1}, **constants)
        [tag] = _timeouts.waits
        found = {"tag": tag, "base": 0x1000, "address": 0x1010, "expected": 7, "seen": 6, "program": 0}
        words = [0] * DEADLINE_RECORD["logged_words"]
        for field, value in {**found, "limit": 2_000_000_000}.items():
            words[DEADLINE_RECORD[field]] = value
        message, file, line, kernel, rank, *_, said = watching._described(1, words, [(0, {**found, "rank": 0})])
    assert message.startswith(f"{call}: rank 1 has waited 2 s for the flag at 16 >= 7: it is 6. "), message
    assert said == (f"rank 0: {call}: the flag at 16 >= 7: it is 6",) and said[0] in message
    # A line of symm itself says nothing to the user.
    assert (file, line, kernel, rank) == (None, None, call, 1)
