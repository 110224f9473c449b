"""The kernels that the host launches for itself, compiled for both targets, with and without a time-out."""

import re

import pytest
from compiling import compile_for, machine_text
from symm import _host_kernels

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
