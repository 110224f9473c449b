"""What symm and Triton's interpreter use of torch, on numpy: for tests where torch is not installed."""

import types

import numpy as np

cuda = types.SimpleNamespace(is_available=lambda: False)
version = types.SimpleNamespace(hip=None)
strided = "torch.strided"


class dtype:
    def __init__(self, name, stored):
        self.name, self.stored = name, np.dtype(stored)

    def __repr__(self):
        return f"torch.{self.name}"

    @property
    def is_floating_point(self):
        return "float" in self.name


class device:
    def __init__(self, name, index=None):
        self.type = name.type if isinstance(name, device) else name
        self.index = index

    __repr__ = __str__ = lambda self: self.type


DTYPES = [
    dtype(name, name)
    for name in ("uint8", "int8", "int16", "int32", "int64", "uint64", "float16", "float32", "float64")
]
DTYPES += [dtype("bool", "bool"), dtype("bfloat16", "uint16")]
globals().update({each.name: each for each in DTYPES})


class Storage:
    def __init__(self, array):
        base = array
        while base is not None:
            if isinstance(base, np.ndarray):
                self.array = base
            # Between an array and the one that it is a strided view of, numpy puts something else.
            base = getattr(base, "base", None)

    def data_ptr(self):
        return self.array.ctypes.data

    def nbytes(self):
        return self.array.nbytes

    def cpu(self):
        return self

    def copy_(self, other):
        assert other.data_ptr() == self.data_ptr()


class Tensor:
    def __init__(self, array, kind=None, where="cpu"):
        self.array, self.device = array, device(where)
        self.dtype = kind or next(each for each in DTYPES if each.stored == array.dtype)

    shape = property(lambda self: self.array.shape)
    requires_grad = False
    layout = strided
    is_conj = is_neg = lambda self: False

    def size(self):
        return self.shape

    def stride(self):
        return tuple(stride // self.array.itemsize for stride in self.array.strides)

    def numel(self):
        return self.array.size

    def is_contiguous(self):
        return self.array.flags.c_contiguous

    def element_size(self):
        return self.array.itemsize

    def data_ptr(self):
        return self.array.ctypes.data if self.array.size else 0

    def untyped_storage(self):
        return Storage(self.array)

    def storage_offset(self):
        return (self.data_ptr() - self.untyped_storage().data_ptr()) // self.element_size()

    def new_empty(self, size, device):
        return Tensor(np.empty(size, self.dtype.stored), self.dtype)

    def set_(self, storage, offset, size, stride):
        whole = storage.array.view(np.uint8)[offset * self.array.itemsize :].view(self.array.dtype)
        self.array = Tensor(whole, self.dtype).as_strided(size, stride).array

    def view(self, to):
        array = self.array.view(to.stored) if isinstance(to, dtype) else self.array.reshape(to)
        return Tensor(array, to if isinstance(to, dtype) else self.dtype)

    def as_strided(self, shape, strides):
        strides = [stride * self.array.itemsize for stride in strides]
        return Tensor(np.lib.stride_tricks.as_strided(self.array, shape, strides), self.dtype)

    def __getitem__(self, key):
        return Tensor(self.array[key], self.dtype)

    def __iadd__(self, value):
        self.array += value
        return self

    def __sub__(self, other):
        return Tensor(self.array - other.array)

    def abs(self):
        return Tensor(np.abs(self.array))

    def max(self):
        return Tensor(self.array.max())

    def item(self):
        return self.array.item()

    def fill_(self, value):
        self.array[...] = value
        return self

    def copy_(self, other):
        self.array[...] = other.array
        return self

    def uniform_(self, low, high):
        self.array[...] = np.random.uniform(low, high, self.shape)
        return self

    def requires_grad_(self, wanted):
        self.requires_grad = wanted
        return self

    def detach(self):
        return self

    def cpu(self):
        return self

    def float(self):
        wide = self.array.astype(np.uint32) << 16
        return Tensor(wide.view(np.float32) if self.dtype.name == "bfloat16" else self.array.astype(np.float32))

    def to(self, where):
        return Tensor(self.array.astype(where.stored), where) if isinstance(where, dtype) else self

    def numpy(self):
        return self.array

    def tolist(self):
        return self.array.tolist()

    def t(self):
        return Tensor(self.array.T, self.dtype)


def frombuffer(buffer, dtype):
    return Tensor(np.frombuffer(buffer, dtype.stored), dtype)


def from_numpy(array):
    return Tensor(array)


def tensor(values, dtype=None, device="cpu", requires_grad=False):
    array = np.array(values, dtype and dtype.stored)
    usual = (
        {"float64": float32, "int64": int64, "bool": globals()["bool"]}[array.dtype.name] if dtype is None else dtype
    )
    return Tensor(array.astype(usual.stored), usual, device)


def matmul(a, b):
    return Tensor(np.matmul(a.array, b.array, dtype=np.float32).astype(a.array.dtype))


def maker(make, usual="float32"):
    """A function that takes a shape, as one argument or several."""

    def function(*size, dtype=None, device="cpu", requires_grad=False):
        shape = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
        kind = dtype or globals()[usual]
        return Tensor(make(shape).astype(kind.stored), kind, device)

    return function


empty = zeros = maker(np.zeros)
ones = maker(np.ones)
rand = maker(lambda shape: np.random.random(shape))
randn = maker(lambda shape: np.random.standard_normal(shape))


def full(size, value, **keywords):
    if isinstance(size, int):
        raise TypeError("full() received an invalid combination of arguments - got (int, ...)")
    usual = "int64" if isinstance(value, int) else "float32"
    return maker(lambda shape: np.full(shape, value), usual)(size, **keywords)


def zeros_like(other, dtype=None, **keywords):
    return zeros(other.shape, dtype=dtype or other.dtype, **keywords)


empty_like = zeros_like


def arange(*range, dtype=None, **keywords):
    return maker(lambda _: np.arange(*range), "int64")((), dtype=dtype, **keywords)


def linspace(*range, **keywords):
    return maker(lambda _: np.linspace(*range))((), **keywords)


def randint(*arguments, **keywords):
    *limits, size = arguments
    return maker(lambda shape: np.random.randint(*limits, shape), "int64")(size, **keywords)
