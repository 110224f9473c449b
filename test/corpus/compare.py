"""What a kernel's machine code is with and without a symm op."""

import pathlib

import triton
from compilation import TARGETS, Compilation, with_query
from remote import remote_results


class Skipped(Exception):
    """Triton does not compile this kernel with anything that was guessed."""


def outcomes(kernel, sites, keep):
    """For each target: what differs. Raises Skipped where nothing can be said."""
    types, constants, options = first_that_compiles(kernel)
    pointers = [name for name, kind in types.items() if kind[0] == "*"]
    if not pointers:
        raise Skipped("has no pointer")
    if sites:
        return [
            result
            for target in TARGETS
            for result in remote_results(kernel.function, pointers[0], (types, constants, options), target, sites)
        ]
    return [same_or_not(kernel, pointers[0], (types, constants, options), target, keep) for target in TARGETS]


def first_that_compiles(kernel):
    """The first guess that Triton's front end takes."""
    reason = "no guess"
    for guess in kernel.guesses():
        try:
            Compilation(kernel.function, *guess, "sm_90")
            return guess
        except Exception as error:
            reason = root(error)
    raise Skipped(reason)


def root(error):
    """What an error that others were raised from says, in one line."""
    while error.__cause__:
        error = error.__cause__
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[-1]}"[:160]


def same_or_not(kernel, pointer, guess, target, keep):
    """The machine code as it is, against that with a query that nothing uses."""
    plain = Compilation(kernel.function, *guess, target)
    noinline = "noinline = true" in plain.module.str()
    try:
        before = plain.machine_text()
    except Exception as error:
        return {"target": target, "outcome": "skipped", "detail": root(error)}
    try:
        after = Compilation(with_query(kernel.function, pointer), *guess, target).machine_text()
    except Exception as error:
        return {"target": target, "outcome": "refused", "detail": root(error)}
    if before == after:
        return {"target": target, "outcome": "same", "detail": ""}
    if noinline:
        return {"target": target, "outcome": "inlined", "detail": "a noinline function, which symm inlines"}
    stem = pathlib.Path(keep, f"{kernel.name}.{target}.{triton.__version__}")
    stem.parent.mkdir(parents=True, exist_ok=True)
    for ending, text in ("plain", before), ("seam", after):
        pathlib.Path(f"{stem}.{ending}").write_text(text)
    return {"target": target, "outcome": "differs", "detail": first_difference(before, after)}


def first_difference(before, after):
    """The first lines that are not the same."""
    pairs = zip(before.splitlines() + [""], after.splitlines() + [""], strict=False)
    line, other = next((pair for pair in pairs if pair[0] != pair[1]), ("", "more lines"))
    return f"`{line.strip()}` became `{other.strip()}`"
