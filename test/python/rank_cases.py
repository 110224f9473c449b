"""The cases of programs in ranks/, and the tutorials, for whoever runs them."""

from pathlib import Path

#: Scripts of examples/python that need no torch of their own: what stands in for it will do.
TUTORIALS = sorted(
    file
    for file in (Path(__file__).parents[2] / "examples/python").glob("*.py")
    if "from symm.comm import" not in file.read_text()
)

#: What two ranks and more wait for in vain (ranks/timeouts.py), each with what else is in the environment.
TIMEOUTS = {"waiting": {}, "impatient": {}, "meeting": {"SYMM_TIMEOUT": "0.5"}, "receiving": {}, "in_a_helper": {},
            "several": {}, "one_of": {}, "locked": {}, "testing": {}, "asking": {}, "put_signalled": {}, "spinning": {},
            "spinning_there": {}, "trying": {}, "trying_several": {}, "trying_floats": {},
            "beside_a_poll": {}}  # fmt: skip
#: What is not to end by a time-out, and time-outs that are none.
IN_TIME = ["slow", "again", "wrong"]
