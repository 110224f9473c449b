"""Switches of the compiler: for all kernels in the environment, for one by a decorator, for launches in a `with` block.

They are part of what Triton's caches of compiled kernels are asked for: that of a process, and that on the disk. A
kernel that is dumped is compiled anew in each process.
"""

from __future__ import annotations

import functools
import os
import threading
import uuid
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from triton.language import constexpr
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

from . import _engine
from ._device import ForBlocks
from ._memory import text_of
from .errors import ArgumentError

Kernel = TypeVar("Kernel")
STRICT, DUMP, BOUNDS = "SYMM_STRICT", "SYMM_DUMP", "SYMM_BOUNDS_CHECKS"
# As the environment holds them: a look at it in text takes a microsecond.
IN_ENVIRONMENT = tuple(name.encode() for name in (STRICT, DUMP, BOUNDS))
# What `options` takes, and what one may expect a launch to take, with what does it.
OPTIONS = "strict", "dump", "bounds_checks"
OF_A_BLOCK = dict.fromkeys(OPTIONS, "st.options") | {"timeout": "world.timeout"}
MENDED = "write `with st.options(…):` around the launches, or `@st.options(…)` above @triton.jit"
# What a kernel has of its own, what a source to be compiled has kept, and what no other process asks the cache for.
OWN, KEPT, THIS_PROCESS = "symm_switches", "symm_kept_switches", uuid.uuid4().hex


class Asked(NamedTuple):
    """What somebody has asked for; None is what the environment says."""

    strict: bool | None = None
    dump: str | None = None
    bounds: bool | None = None

    def over(self, other):
        """This, and another where this asks for nothing."""
        return Asked(*(theirs if mine is None else mine for mine, theirs in zip(self, other, strict=True)))


class Block(NamedTuple):
    """A `with` block of launches: what is asked for in it, and the block around it."""

    asked: Asked = Asked()
    around: Any = None


# Of this thread.
BLOCK: ContextVar[Block | None] = ContextVar("symm.options", default=None)


class Switches(NamedTuple):
    """`strict`: errors instead of repairs. `dump`: the folder for the text of each stage. `bounds`: an access outside
    of its tensor is skipped and reported. `trace`: programs record what they do. `engine`: what reaches
    far ranks.
    """

    strict: bool = False
    dump: str = ""
    bounds: bool = False
    trace: bool = False
    engine: str = ""

    def key(self):
        """What tells kernels compiled with these from others; empty with none."""
        if self == Switches():
            return ""
        more = [name for name in ("bounds", "trace") if getattr(self, name)]
        more += [f"engine={self.engine}"] if self.engine else []
        return " ".join([f"strict={self.strict}", f"dump={self.dump and f'{THIS_PROCESS} {self.dump}'}", *more])


class Tracing:
    """Whether this process makes a timeline of compiled kernels."""

    is_on = False


class Current(threading.local):
    """The kernel that this thread compiles: its name, its hash and its switches; whether torch does, to look what it
    writes.
    """

    name, hash, switches, is_analysed = "", "", Switches(), False


current = Current()


def by_name(init):
    """An error where `options` is given a switch without its name."""
    # What Python's own errors of its arguments call it.
    init.__qualname__ = "options"

    @functools.wraps(init)
    def named(self, *given, **switches):
        if any(isinstance(each, constexpr) for each in (*given, *switches.values())):
            raise ArgumentError(f"options is not for kernels: {MENDED}")
        if not given:
            return init(self, **switches)
        if isinstance(given[0], (JITFunction, InterpretedFunction)):
            raise ArgumentError("options: which? Write `@st.options(strict=True)`, say, above the kernel's @triton.jit")
        names = f"{', '.join(OPTIONS[:-1])} or {OPTIONS[-1]}"
        raise ArgumentError(f"options takes each switch by its name, {names}, and was given {text_of(given[0])}")

    return named


class options(ForBlocks):
    """Switches of the compiler: a decorator of kernels, above `@triton.jit` or `@gluon.jit`, and a `with` block.

    `with st.options(bounds_checks=True):` applies to the kernels that this thread launches in it, before the
    decorator's. With `strict`, what the compiler would repair with a warning is an error. With `dump`, a folder, the
    compiler writes its input there, the text after each pass, and that of each of Triton's stages. With `bounds_checks`
    a compiled kernel skips an access outside of its tensor, and World.check and every call that waits for the device
    raise BoundsError; an interpreted kernel raises it at the access. None means what the environment says:
    SYMM_STRICT=1, SYMM_DUMP=FOLDER, SYMM_BOUNDS_CHECKS=1. A kernel that is launched with other switches than before is
    compiled again.
    """

    _unused = "st.options", MENDED

    def __init__(
        self,
        *,
        strict: bool | None = None,
        dump: str | os.PathLike[str] | None = None,
        bounds_checks: bool | None = None,
    ):
        for name, told in {"strict": strict, "bounds_checks": bounds_checks}.items():
            if told is not None and not isinstance(told, bool):
                raise ArgumentError(f"options: {name} must be True or False, not {text_of(told)}")
        folder = os.fspath(dump) if isinstance(dump, (str, os.PathLike)) else dump
        if folder is not None and not isinstance(folder, str):
            raise ArgumentError(f"options: dump must be a folder, not {text_of(dump)}")
        self._asked = Asked(strict, folder, bounds_checks)
        self._made()

    if not TYPE_CHECKING:
        __init__ = by_name(__init__)

    def __repr__(self) -> str:
        named = zip(OPTIONS, self._asked, strict=True)
        return f"st.options({', '.join(f'{name}={told!r}' for name, told in named if told is not None)})"

    def __call__(self, kernel: Kernel) -> Kernel:
        self._is_used = True
        inner: Any = kernel
        while not isinstance(inner, (JITFunction, InterpretedFunction)) and hasattr(inner, "fn"):
            inner = inner.fn
        if not isinstance(inner, (JITFunction, InterpretedFunction)):
            raise ArgumentError(f"options: {text_of(kernel)} is not a kernel: write it above @triton.jit")
        # What is above goes before what is below.
        setattr(inner, OWN, self._asked.over(getattr(inner, OWN, Asked())))
        return kernel

    def __enter__(self) -> options:
        self._is_used = True
        block = BLOCK.get()
        BLOCK.set(Block(self._asked.over(block.asked) if block else self._asked, block))
        return self

    def __exit__(self, *_: object) -> None:
        block = BLOCK.get()
        BLOCK.set(block and block.around)


def asked_for(kernel):
    """What a launch asks for, and its kernel where the launch does not."""
    block, own = BLOCK.get(), getattr(kernel, OWN, Asked())
    return block.asked.over(own) if block else own


def of(kernel):
    """The switches of a kernel that is launched now."""
    strict, dump, bounds = asked_for(kernel)
    if bounds is None or is_ours(kernel):
        bounds = is_on(BOUNDS) and not is_ours(kernel)
    folder = os.environ.get(DUMP, "") if dump is None else dump
    return Switches(is_on(STRICT) if strict is None else strict, folder, bounds, Tracing.is_on, _engine.key())


def refuse_of_launch(keywords, parameters):
    """An error where a launch is given what is not its own to take, and no parameter of the kernel."""
    for name, block in OF_A_BLOCK.items():
        if name in keywords and name not in parameters:
            mend = f"write `with {block}({'' if name == 'timeout' else f'{name}='}{keywords[name]!r}):` around it"
            raise ArgumentError(f"a launch takes no {name}: {mend}")


def of_launches(pack):
    """Triton's function for the keywords of a launch that is compiled: those that it does not know are errors."""

    @functools.wraps(pack)
    def wrapper(self, backend, keywords, bound, *args):
        refuse_of_launch(keywords, bound)
        return pack(self, backend, keywords, bound, *args)

    return wrapper


def hashed(source):
    """The switches of a source that is to be compiled, when Triton asks for its hash.

    A thread that compiles for another one asks again, and gets what was asked for there.
    """
    thread = threading.get_ident()
    if getattr(source, KEPT, (thread, None))[0] == thread:
        setattr(source, KEPT, (thread, of(source.fn)))
    return kept(source)


def kept(source):
    """The switches of a source when its hash was asked for."""
    return getattr(source, KEPT)[1] if hasattr(source, KEPT) else of(source.fn)


def is_ours(kernel):
    """Whether a kernel comes with symm. It is right, not to be slower, and goes from its table to all of the heap."""
    return getattr(getattr(kernel, "fn", kernel), "__module__", "").startswith(f"{__package__}.")


def are_bounds_checked(kernel):
    """Whether an interpreted kernel is to keep to its tensors; symm's own are not asked to."""
    bounds = asked_for(kernel).bounds
    if is_ours(kernel):
        return False
    return is_on(BOUNDS) if bounds is None else bounds


def of_launch():
    """What tells launches of a kernel with different switches from each other: empty with none. Every launch asks."""
    # The public mapping would encode each name.
    told = os.environ._data
    strict, dump, bounds = IN_ENVIRONMENT
    is_told = strict in told or dump in told or bounds in told
    if is_told or Tracing.is_on or BLOCK.get() is not None or _engine.Current.name:
        block, others = BLOCK.get() or Block(), (Tracing.is_on, _engine.Current.name)
        return f"-{tuple(block.asked)}{is_on(STRICT), os.environ.get(DUMP, ''), is_on(BOUNDS), others}"
    return ""


def with_switches(compute_key):
    """Triton's function for the key of a launch in a kernel's cache, with the switches."""

    @functools.wraps(compute_key)
    def wrapper(*args):
        key, more = compute_key(*args), of_launch()
        return key + more if more else key

    return wrapper


def is_on(name):
    """A switch of the environment, off where nothing is said."""
    told = os.environ.get(name, "")
    if told not in ("", "0", "1"):
        raise ArgumentError(f"{name} must be 0 or 1, not {told!r}")
    return told == "1"


def are_right():
    """An error where a switch of the environment is neither on nor off."""
    for name in (STRICT, BOUNDS):
        is_on(name)


def write(folder, name, number, texts):
    """Writes texts by their names, numbered from `number`, for a kernel of this name and hash."""
    place = Path(folder) / name
    try:
        place.mkdir(parents=True, exist_ok=True)
        for index, (stage, text) in enumerate(texts, number):
            (place / f"{index:02}-{stage}").write_text(text)
    except OSError as error:
        named = DUMP if os.fspath(folder) == os.environ.get(DUMP) else "options: dump"
        raise ArgumentError(f"{named}: cannot write to {place}: {error}") from None
