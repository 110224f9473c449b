"""What making one block access of a kernel remote changes in all else: its other accesses, and its registers."""

import ast
import collections
import copy
import pathlib
import re
import subprocess
import tempfile

import symm.triton as st
import triton
from compilation import Compilation
from symm import _carrier
from triton.language import core as tl

OPS = {"load": "symm_corpus_load", "store": "symm_corpus_store"}
TABLE, TABLE_OF = "symm_corpus_table", "symm_corpus_table_of"
# Accesses that are counted, in PTX and in AMD's assembly.
ACCESS = re.compile(
    r"^\s*(?:@\S+\s+)?((?:ld|st|cp\.async|red|atom)\.[\w.:]+|(?:global|buffer|flat|scratch)_\w+)", re.MULTILINE
)
# Parameters, and heap bases: what a remote access takes besides.
OTHERS = re.compile(
    r"ld\.param|ld\.global(\.nc)?\.b64$|cp\.async\.(commit|wait)|buffer_(wbl2|inv|gl)|buffer_load_dword_format"
)
# More registers than this are named.
SLACK = 16


def is_block(pointer):
    return isinstance(pointer, tl.tensor) and pointer.type.is_block() and pointer.dtype.is_ptr()


def given(**options):
    """Those that are not the defaults: other versions of Triton do not know all of them."""
    return {name: value for name, value in options.items() if isinstance(value, tl.tensor) or value}


@_carrier.op
def table_of(emit, pointer):
    """Any pointer as the context's table."""
    return emit.semantic.cast(pointer, tl.pointer_type(tl.int64))


@_carrier.op
def load(
    emit,
    table,
    pointer,
    mask=None,
    other=None,
    boundary_check=(),
    padding_option="",
    cache_modifier="",
    eviction_policy="",
    volatile=False,
):
    """`tl.load`, of a block from rank 1."""
    place = {"_semantic": emit.semantic, "_generator": emit.generator}
    if is_block(pointer):
        return st.load(table, pointer, 1, mask, other, cache_modifier, volatile, **place)
    options = given(
        mask=mask,
        other=other,
        boundary_check=boundary_check,
        padding_option=padding_option,
        cache_modifier=cache_modifier,
        eviction_policy=eviction_policy,
        volatile=volatile,
    )
    return tl.load(pointer, **options, _semantic=emit.semantic)


@_carrier.op
def store(emit, table, pointer, value, mask=None, boundary_check=(), cache_modifier="", eviction_policy=""):
    """`tl.store`, of a block to rank 1."""
    place = {"_semantic": emit.semantic, "_generator": emit.generator}
    if is_block(pointer):
        return st.store(table, pointer, value, 1, mask, cache_modifier, **place)
    options = given(
        mask=mask, boundary_check=boundary_check, cache_modifier=cache_modifier, eviction_policy=eviction_policy
    )
    return tl.store(pointer, value, **options, _semantic=emit.semantic)


ACCESSES = {OPS["load"]: load, OPS["store"]: store}


def sites_of(function):
    """How many loads and stores a kernel's own text has."""
    return sum(map(is_access, ast.walk(function.parse())))


def is_access(node):
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in OPS
        and getattr(node.func.value, "id", "") == "tl"
    )


def with_remote(function, table, site):
    """The kernel with one of its accesses at rank 1; the pointer `table` is its context's table."""
    changed = copy.copy(function)
    function.__globals__.update(ACCESSES | {TABLE_OF: table_of})

    def parse():
        tree = function.parse()
        call = [node for node in ast.walk(tree) if is_access(node)][site]
        call.args = [named(TABLE, call)] + ([] if call.args else [call.keywords.pop(0).value]) + call.args
        call.func = named(OPS[call.func.attr], call)
        # Once, and not in a loop that the call may be in.
        body = tree.body[0].body
        made = ast.Call(named(TABLE_OF, body[0]), [named(table, body[0])], [])
        made = ast.Assign([ast.Name(TABLE, ast.Store())], made)
        body.insert(0, ast.fix_missing_locations(ast.copy_location(made, body[0])))
        return tree

    changed.parse = parse
    return changed


def named(name, place):
    return ast.copy_location(ast.Name(name, ast.Load()), place)


def remote_results(function, table, guess, target, sites):
    """For each access, up to this many: what else the machine code has more of or less of."""
    types, constants, options = guess
    # Loops over remote blocks get stages: that is another matter.
    guess = types, constants, options | {"num_stages": 1}
    try:
        before = measured(Compilation(function, *guess, target).machine_text(), target)
    except Exception as error:
        return [{"target": target, "outcome": "skipped", "detail": str(error)[:80]}]
    results = []
    for site in range(min(sites, sites_of(function))):
        try:
            compilation = Compilation(with_remote(function, table, site), *guess, target)
            if compilation.module.get_int_attr(_carrier.MARK) is None:
                continue
            after = measured(compilation.machine_text(), target)
        except Exception as error:
            results.append(
                {
                    "target": target,
                    "outcome": "refused",
                    "detail": f"access {site}: {type(error).__name__}: {str(error)[:120]}",
                }
            )
            continue
        changed = differences(before, after)
        results.append(
            {"target": target, "outcome": "differs" if changed else "same", "detail": f"access {site}: {changed}"}
        )
    return results


def measured(text, target):
    """How many accesses of each kind, and how many registers."""
    counts = collections.Counter(kind for kind in ACCESS.findall(text) if not OTHERS.search(kind))
    return counts, nvidia_registers(text) if target.startswith("sm") else amd_registers(text)


def amd_registers(text):
    return int(re.search(r"\.vgpr_count:\s*(\d+)", text)[1])


def nvidia_registers(text):
    folder = pathlib.Path(triton.__file__).parent / "backends/nvidia/bin"
    # The newer one where there are two: it reads the PTX of both.
    ptxas = max(folder.glob("ptxas*"), key=lambda path: len(path.name))
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(text)
        file.flush()
        told = subprocess.run(
            [ptxas, "-v", "--gpu-name", "sm_90a", file.name, "-o", "/dev/null"],
            capture_output=True,
            text=True,
            check=True,
        )
    return int(re.search(r"Used (\d+) registers", told.stderr)[1])


def differences(before, after):
    changes = [
        f"{kind} {before[0][kind]} to {after[0][kind]}"
        for kind in sorted({*before[0], *after[0]})
        if before[0][kind] != after[0][kind]
    ]
    if after[1] > before[1] + SLACK:
        changes.append(f"registers {before[1]} to {after[1]}")
    return ", ".join(changes)
