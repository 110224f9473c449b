"""Compiles a kernel for a GPU that need not be there: as it is, and with a rank query that nothing uses."""

import ast
import copy

import symm.triton  # noqa: F401
from symm import _carrier
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget, Language
from triton.compiler.compiler import ASTSource, make_backend
from triton.language import core as tl

TARGETS = {"sm_90": GPUTarget("cuda", 90, 32), "gfx942": GPUTarget("hip", "gfx942", 64)}
MACHINE_CODE = ("ptx", "amdgcn")
QUERY = "symm_corpus_query"


@_carrier.op
def query(emit, pointer):
    """A rank query with any pointer as the context's table: nothing uses it, so that nothing of it is left."""
    table = emit.semantic.cast(pointer, tl.pointer_type(tl.int64))
    emit.call("rank", {"ctx": emit.context(table)}, result=tl.int32)


def with_query(function, pointer):
    """The kernel with a query at the line of its first statement."""
    changed = copy.copy(function)
    function.__globals__[QUERY] = query

    def parse():
        tree = function.parse()
        body = tree.body[0].body
        call = ast.Expr(ast.Call(ast.Name(QUERY, ast.Load()), [ast.Name(pointer, ast.Load())], []))
        for node in ast.walk(call):
            ast.copy_location(node, body[0])
        body.insert(0, call)
        return tree

    changed.parse = parse
    return changed


class Compilation:
    """One compilation: the front end's module, and the machine code."""

    def __init__(self, function, types, constants, options, target):
        signature = {name: types.get(name, "constexpr") for name in function.arg_names}
        aligned = [name for name, kind in types.items() if kind[0] == "*" or kind in ("i32", "i64")]
        attributes = {(function.arg_names.index(name),): [["tt.divisibility", 16]] for name in aligned}
        source = ASTSource(function, signature, constants, attributes)
        self.target = TARGETS[target]
        self.backend = make_backend(self.target)
        self.options = self.backend.parse_options(options)
        self.context = ir.context()
        ir.load_dialects(self.context)
        self.backend.load_dialects(self.context)
        needs = self.backend.get_codegen_implementation(self.options), self.backend.get_module_map()
        self.module = source.make_ir(self.target, self.options, *needs, self.context)

    def machine_text(self):
        """What the GPU's assembler is given."""
        stages = {}
        self.backend.add_stages(stages, self.options, Language.TRITON)
        metadata = {"hash": "", "target": self.target, **vars(self.options)}
        module = self.module
        for name, stage in stages.items():
            module = stage(module, metadata)
            if name in MACHINE_CODE:
                return module
        raise AssertionError(f"no machine code among {list(stages)}")
