"""Where the compiler joins Triton's: a module is printed, lowered and read again before Triton's first pass.

Triton's `add_stages` is wrapped, not replaced through its inspection hook: a hook of another package, installed
before or after, goes on working. A launch only looks whether switches are set.
"""

import functools
import importlib.util
import logging
import os
import re
import sys
import warnings

import triton
from triton._C.libtriton import ir, passes
from triton.backends import backends
from triton.backends.compiler import Language
from triton.compiler import code_generator
from triton.compiler.compiler import ASTSource, CompiledKernel
from triton.runtime import jit

from . import _diagnostics, _engine, _switches, _symm, _timeouts
from ._carrier import MARK
from ._fingerprint import fingerprint
from .errors import CompileError, EngineError, SymmWarning, UntestedVersionWarning

TESTED = ((3, 6), (3, 9))
LOGGER = logging.getLogger("symm")

# What a kernel's IR is compiled to first, by the language that it is in.
FIRST_STAGES = {Language.TRITON: ("ttir",), Language.GLUON: ("glir", "ttgir")}
# The module attribute that, with this illegal value, makes Triton's printer fall back to the generic form.
LAYOUT = "llvm.data_layout"
# How many stages a launch asks for, where it is not Triton's default.
STAGES = "symm.num_stages"
# What reaches ranks whose heaps are not mapped.
ENGINE = "symm.engine"
# Torch's module that compiles a kernel to look what it writes.
ANALYSIS = "torch._higher_order_ops.triton_kernel_wrap"
# What is kept of a kernel's warnings in Triton's cache, and the kernels that have just said theirs.
WARNINGS = "symm_warnings"
SAID = set()
# Kernels that are being dumped, by name: the folder, and how many stages are there.
DUMPED = {}
# And of what its waits with a time-out are.
WAITS = "symm_waits"


def install():
    """Wraps Triton's compiler, once."""
    if getattr(install, "done", False):
        return
    install.done = True
    _check_version()
    for backend in backends.values():
        backend.compiler.add_stages = _with_stage(backend.compiler.add_stages)
        backend.compiler.hash = _with_fingerprint(backend.compiler.hash)
    sources = [ASTSource]
    if importlib.util.find_spec("triton.experimental.gluon"):
        from triton.experimental.gluon._runtime import GluonASTSource

        sources.append(GluonASTSource)
    for source in sources:
        source.make_ir = _with_our_errors(source.make_ir)
        if "hash" in vars(source):
            source.hash = _with_switches(source.hash)
    CompiledKernel._init_handles = _with_engine(CompiledKernel._init_handles)
    CompiledKernel.__init__ = _with_kept_warnings(CompiledKernel.__init__)
    jit.compute_cache_key = _switches.with_switches(jit.compute_cache_key)
    jit.JITFunction._pack_args = _switches.of_launches(jit.JITFunction._pack_args)
    # Newer versions may do without it.
    if checker := getattr(code_generator, "ContainsReturnChecker", None):
        checker.visit_Attribute = _with_hidden_globals(checker.visit_Attribute)


def _check_version():
    version = tuple(int(part) for part in re.findall(r"\d+", triton.__version__)[:2])
    first, last = (".".join(map(str, version)) for version in TESTED)
    if not TESTED[0] <= version <= TESTED[1]:
        message = f"symm is tested with Triton {first} to {last}, and this is {triton.__version__}"
        warnings.warn(message, UntestedVersionWarning, stacklevel=4)


def _with_stage(add_stages):
    @functools.wraps(add_stages)
    def wrapper(self, stages, options, language):
        add_stages(self, stages, options, language)
        if _engine.Current.name and self.target.backend == "cuda":
            _link(functools.partial(add_stages, self), stages, options, language, self.target.arch)
        # Another hook may have put a stage in front, which Triton passes over.
        first = next(name for name in FIRST_STAGES[language] if name in stages)
        stages[first] = _lowering_first(stages[first], self.target, language, options)

    return wrapper


def _link(add_stages, stages, options, language, capability):
    """Links kernels that call the engine with it."""
    plain = stages["llir"]

    def stage(module, metadata):
        if not metadata.get(_engine.LINKED):
            return plain(module, metadata)
        linked = {}
        add_stages(linked, _engine.linked(options, capability), language)
        text = linked["llir"](module, metadata)
        if _engine.STATE not in text:
            # Nothing of it is called, and there would be nothing to connect.
            del metadata[_engine.LINKED]
        return text

    stages["llir"] = stage


def _lowering_first(compile_ir, target, language, options):
    def stage(module, metadata):
        if module.get_int_attr(MARK) is not None:
            if options.num_ctas > 1:
                # Triton 3.6 has no barrier of the cluster before an atomic or after it.
                message = f"a kernel with symm ops runs in one CTA, not in clusters: num_ctas is {options.num_ctas}"
                raise CompileError(message)
            _switches.current.hash = metadata["hash"]
            module, found, waits = lower(module, target, language, _asked_stages(options))
            if _switches.current.switches.engine:
                metadata[_engine.LINKED] = _engine.Current.name
            if waits:
                metadata[WAITS] = waits
            if found:
                metadata[WARNINGS] = found
                SAID.add(metadata["hash"])
        return compile_ir(module, metadata)

    return stage


def _asked_stages(options):
    """The number of stages of a launch; None if it is the default, which may not have been requested."""
    return None if options.num_stages == type(options).num_stages else options.num_stages


def lower(module, target, language, stages=None):
    """A module without symm ops, from one with carriers; what it has been warned of: message, file, line; and what the
    tags of its waits stand for.
    """
    context = module.context
    _inline(module, language)
    if stages is not None:
        module.set_attr(STAGES, ir.builder(context).get_int32_attr(stages))
    kernel = _switches.current
    if kernel.switches.engine:
        module.set_attr(ENGINE, ir.builder(context).get_string_attr(_engine.Current.name))
    text = generic_text(module)
    name, switches = f"{kernel.name}-{kernel.hash[:8]}", kernel.switches
    asked = (switches.strict, bool(switches.dump), switches.bounds, switches.trace) if any(switches) else ()
    try:
        lowered, notes, waits, stages = _symm.lower_triton(
            text, triton.__version__, f"{target.backend}:{target.arch}", *asked
        )
    except CompileError as error:
        raise _diagnostics.translated(error, switches.strict) from None
    if switches.dump:
        texts = [(f"before-{stage}.mlir", text) for stage, text in stages[:-1]]
        _switches.write(switches.dump, name, 0, [*texts, ("lowered.mlir", stages[-1][1])])
        DUMPED[name] = switches.dump, len(stages)
    for severity, message, file, line in notes:
        if severity != "warning":
            LOGGER.info("%s:%s: %s", file, line, message)
    found = [(_diagnostics.renamed(said, *place), *place) for severity, said, *place in notes if severity == "warning"]
    _warn(found)
    return parse(lowered, context), found, waits


def _warn(found):
    for message, file, line in found:
        if file is not None:
            warnings.warn_explicit(message, SymmWarning, file, line)
        else:
            warnings.warn(message, SymmWarning, stacklevel=3)


def _inline(module, language):
    """Makes functions of a kernel one: what the compiler hoists, it hoists out of the caller's loops too. Those that
    are not to be inlined are, too: Triton's pipeliner moves loads above calls.
    """
    functions = []

    def look(op):
        if op.get_name() == "tt.func" and op.get_str_attr("symm.carrier") is None:
            functions.append(op.get_str_attr("sym_name"))

    module.walk(look)
    if len(functions) < 2:
        return
    for name in functions:
        module.get_function(name).set_attr("noinline", ir.builder(module.context).get_bool_attr(False))
    manager = ir.pass_manager(module.context)
    (passes.gluon if language is Language.GLUON else passes.common).add_inliner(manager)
    manager.run(module, "symm_inline")


def generic_text(module):
    """A module in MLIR's generic form, with locations. The compiler takes the attributes that it has for that off."""
    builder = ir.builder(module.context)
    module.set_attr(LAYOUT, builder.get_string_attr("!"))
    try:
        text = module.str()
    finally:
        module.set_attr(LAYOUT, builder.get_string_attr(""))
    if '"builtin.module"()' not in text:
        raise CompileError(f"Triton {triton.__version__} does not print its IR in generic form: symm cannot read it")
    return text


def parse(module, context):
    """A Triton module, from bytecode or text."""
    file = os.memfd_create("symm.mlir")
    try:
        data = memoryview(module)
        while data:
            data = data[os.write(file, data) :]
        module = ir.parse_mlir_module(f"/proc/self/fd/{file}", context)
    finally:
        os.close(file)
    module.context = context
    return module


def _with_fingerprint(backend_hash):
    @functools.wraps(backend_hash)
    def wrapper(self):
        return f"{backend_hash(self)}-{fingerprint()}"

    return wrapper


def _with_kept_warnings(init):
    """A kernel from Triton's cache warns of what it was compiled with; and what its waits are is known again."""

    @functools.wraps(init)
    def wrapper(self, src, metadata_group, hash, *args, **kwargs):
        init(self, src, metadata_group, hash, *args, **kwargs)
        _dump(self, f"{getattr(src, 'name', '')}-{hash[:8]}")
        _timeouts.learn(getattr(self.metadata, WAITS, ""))
        if hash in SAID:
            SAID.discard(hash)
        else:
            _warn(getattr(self.metadata, WARNINGS, ()))

    return wrapper


def _with_engine(init_handles):
    """Connects a kernel's module with the engine after each load."""

    @functools.wraps(init_handles)
    def wrapper(self):
        is_new = self.module is None
        init_handles(self)
        if is_new and self.module is not None and getattr(self.metadata, _engine.LINKED, ""):
            try:
                _engine.loaded(self.module)
            except EngineError:
                # The next launch loads it again, and connects it.
                self.module = self.function = self._run = None
                raise

    return wrapper


def _dump(kernel, name):
    """Writes what Triton has made of a kernel whose stages have just been written."""
    folder, number = DUMPED.pop(name, (None, 0))
    if folder is not None:
        texts = [(f"triton.{kind}", text) for kind, text in kernel.asm.items() if isinstance(text, str)]
        _switches.write(folder, name, number, texts)


def _with_switches(source_hash):
    @functools.wraps(source_hash)
    def wrapper(self):
        key = _switches.hashed(self).key()
        return f"{source_hash(self)}-{key}" if key else source_hash(self)

    return wrapper


def _with_our_errors(make_ir):
    """Triton wraps what a builtin raises, once for each function on the way; the user gets what it raised."""

    @functools.wraps(make_ir)
    def wrapper(*args, **kwargs):
        source = args[0]
        _switches.current.name, _switches.current.switches = source.name, _switches.kept(source)
        _switches.current.is_analysed = sys._getframe(1).f_globals.get("__name__") == ANALYSIS
        try:
            return make_ir(*args, **kwargs)
        except Exception as error:
            cause = error
            while cause is not None and not isinstance(cause, CompileError):
                cause = cause.__cause__
            if cause is None:
                raise
            raise CompileError(*cause.args) from error

    return wrapper


def _with_hidden_globals(visit_attribute):
    """Where an `if` calls `ctx.store(…)`, Triton looks for `return` in `store` of a global `ctx`, even if the kernel
    has a variable of that name, and fails if there is none. What a method holds is not returned from the kernel.
    """

    @functools.wraps(visit_attribute)
    def wrapper(self, node):
        try:
            return visit_attribute(self, node)
        except AttributeError:
            return False

    return wrapper
