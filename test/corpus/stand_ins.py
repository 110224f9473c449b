"""What a kernel's module imports and is not installed: torch and all else. Something that has every attribute stands
in for it, so that kernels are found without a GPU and without gigabytes of packages.
"""

import abc
import importlib.abc
import importlib.machinery
import importlib.metadata
import os
import sys
import types

from triton import runtime
from triton.backends.compiler import GPUTarget

# Other hardware's packages: with these a package would take kernels that are not Triton's for GPUs.
ABSENT = {"torch_npu", "torch_xla", "torch_mlu", "torch_musa", "torch_gcu", "intel_extension_for_pytorch", "mindspore"}


class Version(str):
    """New enough, also for who compares it with a tuple."""

    __hash__ = str.__hash__
    __lt__ = __le__ = lambda self, other: False
    __gt__ = __ge__ = lambda self, other: True


VERSION = Version("2.11.0")
# What most that is unpacked at import is: the GPU's.
CAPABILITY = (9, 0)


class Anything(str):
    """Has every attribute, can be called, compared and computed with, and is falsy; gives kernels and classes back."""

    __version__ = VERSION
    __name__ = "anything"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return ANYTHING

    def __call__(self, *args, **kwargs):
        kept = len(args) == 1 and not kwargs and (isinstance(args[0], type) or hasattr(args[0], "arg_names"))
        return args[0] if kept else ANYTHING

    def __mro_entries__(self, bases):
        return (Base,)

    def __instancecheck__(self, instance):
        return False

    def __iter__(self):
        return iter(CAPABILITY)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False

    def __int__(self):
        return 0

    __hash__ = str.__hash__
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = lambda self, *other: False
    __index__ = __int__


ANYTHING = Anything("anything")
for name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"):
    setattr(Anything, f"__{name}__", lambda self, other: self)
    setattr(Anything, f"__r{name}__", lambda self, other: self)
for name in ("getitem", "setitem", "neg", "invert", "abs"):
    setattr(Anything, f"__{name}__", lambda self, *operands: self)


class Meta(abc.ABCMeta):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return ANYTHING


class Base(metaclass=Meta):
    """What stands in for a class, where one is derived from it."""

    def __init_subclass__(cls, **options):
        pass


class Module(types.ModuleType):
    """A module that is not installed."""

    __version__ = VERSION
    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__") and name != "__all__":
            raise AttributeError(name)
        return [] if name == "__all__" else ANYTHING


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Comes last: finds what nothing else has found, but for parts of packages that are there."""

    def find_spec(self, name, path, target=None):
        root = name.partition(".")[0]
        if root in ABSENT or root in sys.builtin_module_names or root in sys.stdlib_module_names:
            return None
        if root != name and not isinstance(sys.modules.get(root), Module):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module):
        pass


class Driver:
    """What modules ask for the GPU while they are imported."""

    utils = ANYTHING
    get_benchmarker = get_active_torch_device = get_device_interface = lambda self: ANYTHING

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 0


def install():
    """From here on every module can be imported."""
    sys.meta_path.append(Finder())
    importlib.metadata.version = lambda name: VERSION
    os.environ["GEMS_VENDOR"] = "nvidia"
    runtime.driver.set_active(Driver())
