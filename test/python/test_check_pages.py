"""`python -m symm.check`: the report as a page, and findings that are allowed."""

import json
import re

import pytest
from test_check import RACY, checked, script

LINE = 11
pytestmark = pytest.mark.in_turn


def test_the_page_draws_both_programs(tmp_path):
    first, second = (tmp_path / name for name in ("first.html", "second.html"))
    path = script(tmp_path, RACY + "  # <b>&")
    for page in (first, second):
        done = checked(path, "--schedules=0", f"--html={page}")
        assert done.returncode == 1, done.stdout + done.stderr
    text = first.read_text()
    assert text == second.read_text()
    assert f"<h1>symm.check: {path} on 2 ranks</h1>" in text
    assert ">program 0</text>" in text and ">nothing orders the two</text>" in text
    assert "4 bytes at element 0</text>" in text and f">script.py:{LINE}</text>" in text
    store = "<mark>tl.store(st.as_remote(world, box, 0), 1 + st.rank(world))</mark>"
    assert f"{store}  # &lt;b&gt;&amp;" in text and "<b>&" not in text and "<script" not in text
    assert re.search(rf"<pre>\S*python\S* -m symm.check --ranks 2 --replay .*? {path}</pre>", text)
    assert "Drawn are" in text


def test_a_page_that_cannot_be_written(tmp_path):
    done = checked(script(tmp_path, "    pass"), "--schedules=0", f"--html={tmp_path}")
    assert done.returncode == 2 and "ArgumentError: symm.check: html: " in done.stderr
    done = checked(script(tmp_path), "--schedules=0", f"--html={tmp_path}")
    assert done.returncode == 2 and "ArgumentError: symm.check: html: " in done.stderr
    assert "error: race (O1)" in done.stdout, "what was found is said all the same"


RELAXED = """    if st.rank(world) == 0:
        st.store(world, box, 7, 1)
        st.signal(world, flag, 1, 1, sem="relaxed")
    else:
        st.wait(world, flag, 1)
        tl.store(box + 1, tl.load(box))"""


def test_what_the_compiler_would_repair_is_found_and_no_repair(tmp_path):
    page = tmp_path / "page.html"
    done = checked(script(tmp_path, RELAXED), "--schedules=0", f"--html={page}", "--json")
    assert done.returncode == 1, done.stdout + done.stderr
    [finding] = json.loads(done.stdout)["findings"]
    assert (finding["kind"], finding["severity"]) == ("missing-release", "error")
    assert not any("repair" in text.lower() for text in (done.stdout, done.stderr, page.read_text()))


def test_what_is_allowed_is_said_and_does_not_fail(tmp_path):
    allowed = tmp_path / "allowed"
    allowed.write_text(f"script.py:{LINE} race either rank may win\n*.py never-waited of nothing here\n")
    done = checked(script(tmp_path), "--schedules=0", f"--allow={allowed}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"script.py:{LINE}:5: allowed: race ({allowed}:1): either rank may win\n" in done.stdout
    assert f"{allowed}:2: allows nothing that was found\n" in done.stdout
    by_input = checked(tmp_path / "script.py", "--schedules=0", "--allow=-", given=allowed.read_text())
    assert by_input.returncode == 0, by_input.stdout + by_input.stderr
    assert f"script.py:{LINE}:5: allowed: race (-:1): either rank may win\n" in by_input.stdout
    assert "symm.check: nothing else found; 1 execution tried; 1 allowed; " in done.stdout
    report = json.loads(checked(script(tmp_path), "--schedules=0", f"--allow={allowed}", "--json").stdout)
    [each] = report["allowed"]
    assert (each["reason"], each["finding"]["kind"], report["findings"]) == ("either rank may win", "race", [])
    assert report["unused"] == [f"{allowed}:2: allows nothing that was found"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\nscript.py race", "allowed:2: the reason is missing: write after 'race'"),
        ("script.py rcae why", "allowed:1: 'rcae' is not a kind of finding"),
        ("script.py", "allowed:1: write PLACE KIND REASON"),
        (None, "No such file"),
    ],
)
def test_bad_allowances(tmp_path, text, said):
    allowed = tmp_path / "allowed"
    if text is not None:
        allowed.write_text(text)
    done = checked(script(tmp_path), "--schedules=0", f"--allow={allowed}")
    assert done.returncode == 2 and "ArgumentError: symm.check: allow: " in done.stderr and said in done.stderr


# When both ranks have written.
ASSEMBLY = """
    st.signal(world, flag, 1, 1 - st.rank(world))
    st.wait(world, flag, 1)
    tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.load(box)], dtype=tl.int32, is_pure=True, pack=1)"""
# The other rank waits in vain because this one has failed.
OUT_OF_RANGE = """
    if st.rank(world) == 0:
        st.store(world, box, 1, 5)
        st.signal(world, flag, 1, 1)
    else:
        st.wait(world, flag, 1)"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (RACY + ASSEMBLY, rf":{LINE + 3}: symm.check: rank \d, program 0, 0, 0 of kernel kernel: Triton's interp"),
        (RACY + OUT_OF_RANGE, rf":{LINE + 2}: symm store: rank 5 out of range \[0, 2\)"),
    ],
)
def test_what_was_found_before_an_exception_is_reported(tmp_path, body, said):
    page = tmp_path / "page.html"
    path = script(tmp_path, body)
    done = checked(path, "--schedules=3", f"--html={page}")
    assert done.returncode == 2 and re.search(said, done.stderr), done.stdout + done.stderr
    assert "error: race (O1)" in done.stdout and "symm.check: 1 error; 1 execution tried" in done.stdout, done.stdout
    assert "Drawn are" in (text := page.read_text()) and ">nothing orders the two</text>" in text
    done = checked(path, "--schedules=3", "--json")
    assert [found["kind"] for found in json.loads(done.stdout)["findings"]] == ["race"]


# In a later execution than the first, which has found a signal that nobody waits for.
LATE = """
with open("{times}", "a+") as times:
    times.write(".")
    if times.tell() > 2:
        raise KeyError("late")
"""


def test_what_did_not_come_in_an_execution_before_is_reported(tmp_path):
    path = script(tmp_path, "    st.signal(world, flag, 1, 1)", LATE.format(times=tmp_path / "times"))
    done = checked(path, "--schedules=3", "--json")
    assert done.returncode == 2 and "KeyError" in done.stderr, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert ([found["kind"] for found in report["findings"]], report["executions"]) == (["never-waited"], 2)


def test_a_wait_for_a_rank_that_has_failed_is_no_finding(tmp_path):
    done = checked(script(tmp_path, OUT_OF_RANGE.lstrip("\n")), "--schedules=3")
    assert done.returncode == 2 and "rank 5 out of range" in done.stderr and done.stdout == "", done.stdout
