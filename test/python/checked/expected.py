"""How a test says what symm.check is to find: `symm.check.raises`."""

import bugs
import pytest
import symm


def small(program, **options):
    return symm.check(program, heap_size=1 << 24, schedules=1, **options)


def test_expected_findings():
    program, _ = bugs.CASES["relaxed_signal"]
    with symm.check.raises("missing-release") as caught:
        small(program)
    [finding] = caught.report.findings
    assert finding.rule == "O1" and finding.places[0].kernel == "relaxed_signal"
    said = "expected deadlock, found missing-release; not found: deadlock; not expected: missing-release"
    again = "the call has ended the block; .*'again:'\n(.*\n)*  again: replay=''"
    with pytest.raises(AssertionError, match=f"{said}; {again}") as raised:
        with symm.check.raises("deadlock"):
            small(program)
            raise RuntimeError("a second call is never made")
    assert "bugs.py:" in str(raised.value)
    with pytest.raises(AssertionError, match="expected race, but no call of symm.check in the block has found an"):
        with symm.check.raises("race"):
            small(bugs.CASES["message"][0])
    with pytest.raises(symm.CheckError, match="symm.check has found something\n.*missing-release"):
        small(program)


def test_what_raises_yields_says_what_it_is():
    with symm.check.raises("missing-release") as caught:
        assert str(caught) == repr(caught) == "<symm.check.raises: expected missing-release, found nothing so far>"
        with pytest.raises(symm.ArgumentError, match="read its report after the block"):
            caught.report
        small(bugs.CASES["relaxed_signal"][0])
    assert repr(caught) == "<symm.check.raises: expected missing-release, found missing-release>"
    assert str(caught) == str(caught.report) and "error: missing-release (O1)" in str(caught)


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (("rcae",), "'rcae' is no kind of error; did you mean 'race'\\? The kinds are race, .*, fault$"),
        (("deadlock", 3), "3 is no kind of error. The kinds are race, "),
        (("never-waited",), "'never-waited' is a note, with which nothing is raised"),
    ],
)
def test_kinds_that_there_are_not(kinds, said):
    with pytest.raises(symm.ArgumentError, match=said), symm.check.raises(*kinds):
        raise AssertionError("the block is not entered")


def test_files_are_named_by_one_path():
    for name in ("allow", "html"):
        for wrong in (["a.txt"], 3, b"a.txt"):
            with pytest.raises(symm.ArgumentError, match=f"{name} must be the path of one file, not "):
                small(bugs.CASES["message"][0], **{name: wrong})


def test_a_search_that_ends_at_its_limit_is_said():
    with pytest.raises(AssertionError, match="ended at its limit, executions=1: raise it"):
        with symm.check.raises("race"):
            symm.check(bugs.CASES["message"][0], heap_size=1 << 24, exhaustive=True, executions=1)
    with pytest.raises(AssertionError, match="symm.check was not called in the block"), symm.check.raises("race"):
        pass


def test_a_report_without_errors_is_not_what_was_expected():
    said = "any error, found no error; the call has given up each of its executions .*: raise steps\nsymm.check: "
    with pytest.raises(AssertionError, match=said), symm.check.raises():
        small(bugs.CASES["message"][0], steps=10)
