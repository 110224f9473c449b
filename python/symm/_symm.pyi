"""The compiler, in Rust (the crate `symm-python`)."""

__version__: str

def lower_triton(text: str, version: str, target: str) -> tuple[bytes, list[tuple[str, str, str | None, int]]]:
    """Lowers the symm ops in a module of Triton's, in MLIR's generic form with locations.

    `version` is Triton's ("3.9.0"), `target` "cuda:90" or "hip:gfx942". Returns the module, as bytecode or as text in generic form, and
    what the compiler has to say: (severity, message, file, line) each, severity "warning" or "remark".
    Raises `symm.CompileError` where an op cannot be lowered.
    """

def join_run(heap_size: int, device: str, timeout: float | None, place: str) -> Rank:
    """Joins the run that the environment describes, or one of a single rank.

    `device` is "cpu", "cuda" or "hip", `timeout` the longest time in seconds that a call may wait. In all of these,
    `place` is where the user calls from ("train.py:41"), and what goes wrong raises an exception of `symm.errors`.
    """

class Rank:
    """A rank that has joined a run. Addresses are this process's; sizes are in bytes.

    What waits for other ranks ends when a signal's handler raises something, and raises that; the run is over then.
    Every other method returns at once, also while another thread waits. All raise `symm.ForkedError` in a process that
    was forked from the one that has joined, and `symm.SymmError` once it has left.

    `call` is what errors call the collective call; ranks that meet have to say the same.
    """

    rank: int
    num_ranks: int
    heap_size: int
    heap_bases: list[int]
    # The address of the context table that kernels take.
    table: int

    def is_symmetric(self, address: int) -> bool: ...
    def as_remote(self, address: int, rank: int) -> int: ...
    def alloc(self, bytes: int, call: str, place: str) -> int: ...
    def free(self, address: int, place: str) -> None: ...
    def check(self) -> None: ...
    def end(self, reason: str) -> None: ...
    def hold(self) -> Heaps: ...
    def barrier(self, place: str) -> None: ...
    def stream_barrier(self, stream: int, place: str) -> None: ...
    def broadcast(self, root: int, bytes: bytes, place: str) -> bytes: ...
    def leave(self, place: str) -> None: ...

class Heaps:
    """Keeps the heaps of a run mapped as long as it lives."""

# Under TRITON_INTERPRET=1. Blocks are the bytes of numpy's arrays, pointers int64, masks a byte for each element.
# `element` is Triton's name of a type: "int32", "bf16".

def atomic_rmw(kind: str, element: str, pointers: bytes, values: bytes, mask: bytes) -> bytes: ...
def atomic_cas(element: str, pointers: bytes, expected: bytes, desired: bytes) -> bytes: ...
def set_flag(element: str, address: int, value: int) -> None: ...
def await_flag(element: str, address: int, comparison: str, value: int, seconds: float) -> bool: ...
def full_fence() -> None: ...

# Packets: the data of each is an uint64, `epoch` an uint32. `await_packets` is None where `seconds` are over.

def put_packets(pointers: bytes, data: bytes, epoch: int, mask: bytes) -> None: ...
def await_packets(pointers: bytes, epoch: int, mask: bytes, seconds: float) -> bytes | None: ...
def try_packets(pointers: bytes, epoch: int, mask: bytes) -> tuple[bytes, bytes]: ...
