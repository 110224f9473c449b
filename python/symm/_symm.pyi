"""The compiler, in Rust (the crate `symm-python`)."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

__version__: str

# The most ranks of a run.
MAX_RANKS: int
# The name of the engine that reaches far ranks on GPUs.
NVSHMEM: str
TABLE_REACH: int
# The words of a context table before the bases of the heaps.
TABLE_HEADER_WORDS: int
# The bytes at the start of a heap that no allocation has, and where the context table starts in them.
RESERVED_BYTES: int
TABLE_OFFSET: int
# Heaps from this number on are memory of one rank alone, to the checker.
PRIVATE_HEAPS: int
BARRIERS: int
# What the checker finds: the kinds, and whether one is a note.
CHECK_KINDS: dict[str, bool]
# Where a rank's own record of a deadline starts, in bytes from the start of its heap, and the words of such a record:
# "limit" (ns), "state", "tag", "address", "expected", "seen", "host", "base", and how many there are: "words".
DEADLINE_OFFSET: int
DEADLINE_RECORD: dict[str, int]
# The states of a record: "good"; "broken", a wait of this rank has given up; from "told" on, a wait of the
# rank whose number is less by that has. A limit longer than any run, "for_ever"; and the address that a record has of
# the first flag that is missing where a mask leaves out all, "nowhere".
DEADLINE_NUMBERS: dict[str, int]
# Where the word is that holds the address of a rank's trace buffer, or zero, in bytes from the start of its heap; and the
# words of the buffer, "asked" and "room" (records), and of a record: "tag", "begin", "end", "values", "table", "program",
# and how many there are: "words".
TRACE_OFFSET: int
TRACE_RECORD: dict[str, int]
# Bytes of a line of packets or of floats, and where the epochs of a line of packets lie in it.
PACKET_LINE_BYTES: int
PACKET_EPOCHS: list[int]
# For each op of the dialect the operands that point to what it writes.
WRITTEN: dict[str, list[str]]

def max_barrier_blocks(num_ranks: int) -> int:
    """How many programs of a kernel may use the device barrier."""

def far_library(nvshmem: bytes) -> bytes:
    """What kernels are linked with to reach far ranks, as bitcode, from NVSHMEM's device library.

    Raises ValueError if that is no bitcode, or has not all that is called.
    """

def far_is_whole(library: bytes) -> bool:
    """Whether what `far_library` returned is whole still."""

def far_sends_from_gpu() -> bool:
    """Whether the environment has NVSHMEM send from the GPU. If not, `far_library` leaves the code for it out."""

def lower_triton(
    text: str,
    version: str,
    target: str,
    strict: bool = False,
    stages: bool = False,
    bounds_checks: bool = False,
    trace: bool = False,
) -> tuple[bytes, list[tuple[str, str, str | None, int]], str, list[tuple[str, str]]]:
    """Lowers the symm ops in a Triton module, in MLIR's generic form with locations.

    `version` is Triton's ("3.9.0"), `target` "cuda:90" or "hip:gfx942". Returns the module, as bytecode or as text in generic form, and
    what the compiler has to say: (severity, message, file, line) each, severity "warning" or "remark"; and for each wait with
    a time-out, access that is looked at, or record of a timeline, a line with its tag, the kernel, the file, the line and what it does, after tabs; and with `stages` each pass
    and the module's text before it, "lowered" last. With `strict`, an error where it would repair and warn;
    with `bounds_checks` accesses that leave their tensors are left out, and recorded; with `trace` programs record when
    they and their ops begin and end.
    Raises `symm.CompileError` where an op cannot be lowered.
    """

def join_run(
    heap_size: int, device: str, timeout: float | None, place: str, reached_by: tuple[str | None, int | None]
) -> Rank:
    """Joins the run that the environment describes, or one of a single rank.

    `device` is "cpu", "cuda" or "hip", `timeout` the longest time in seconds that a call may wait. In all of these,
    `place` is where the user calls from ("train.py:41"), and what goes wrong raises an exception of `symm.errors`.
    `reached_by` is the engine's name, and how many ranks count as one node; all ranks say the same.
    """

def decline_run(reason: str) -> None:
    """Tells the other ranks why this one does not join the run that the environment describes; at most 5 seconds."""

def on_look(look: Callable[[], bool]) -> None:
    """Has threads that wait for other ranks call `look` at most 20 times a second; what it raises ends the wait and the
    run. True where a rank that is waited for elsewhere leaves a run: it waits no longer.
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
    def barrier(self, place: str, call: str = "World.barrier") -> None: ...
    def stream_barrier(self, stream: int, place: str) -> None: ...
    def broadcast(self, root: int, bytes: bytes, call: str, place: str) -> bytes: ...
    def leave(self, place: str) -> None: ...
    def leave_at_exit(self, leaves: int) -> None:
        """Leaves when Python has ended, if the process's exit status is then 0; else ends the run, and says so.

        `leaves` is the address of a word that becomes 1 when it leaves, or 0.
        """

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

# Lines of floats of so many bits, 16 bytes each.
def sent_floats(data: bytes, bits: int) -> bytes: ...
def put_floats(pointers: bytes, data: bytes, mask: bytes) -> None: ...
def await_floats(pointers: bytes, bits: int, mask: bytes, seconds: float) -> bytes | None: ...
def try_floats(pointers: bytes, bits: int, mask: bytes) -> tuple[bytes, bytes]: ...

def check_program(
    program: Any,
    ranks: int,
    schedules: tuple[str, int],
    seed: int,
    changes: int,
    replay: str,
    limits: tuple[int, int | None, int],
    allow: tuple[str, str] | None,
    draws: bool,
) -> tuple[str, str]:
    """Runs a `symm.check._program.Program` on the checker's schedules; its report, as JSON (docs/checking.md).

    `schedules` are "in turn", "random", "exhaustive" or "replay", and how many executions at most; `limits` are the
    most steps of one, how many programs of a rank fit on its device, and how often a loop looks before it is taken to
    poll in vain; `allow` is the name and the text of a file. With `draws`, the pictures of what was found and of what
    is allowed come with it, as JSON. Raises what a call of `program` raises, and ValueError for an op that is none,
    with its place, a `replay` that is no schedule, or an `allow` that allows nothing.
    """

def check_page(page: str) -> str:
    """A report's page, as HTML, from what it says as JSON: checker/src/report/page.rs."""

# Tensors on workers. What goes wrong raises an exception of `symm.errors`; times are in seconds.
#
# An argument of an operation is None, a bool, int, float, complex, str, bytes, a torch dtype, layout, memory
# format or device, a tensor, a GeneratorId, or a list, tuple or dict (with str keys) of them. A device of the remote
# backend or "meta" is the worker's own; of this process's tensors, only those on the CPU without dimensions can be
# sent. TypeError, ValueError (too large) and RuntimeError (a tensor elsewhere) are raised before anything is queued.
#
# `place` is any object: what errors have as their `place`. `outputs` are ids for the tensors in the result, in order,
# None for one that is not kept.

def remote_secrets(folder: str | os.PathLike[str]) -> tuple[Path, Path, Path]:
    """The files of a folder with a worker's secrets: token, certificate, key. Makes folder and files if need be."""

def remote_configure(tensor_class: type) -> None:
    """Says which class remote tensors have. An instance has a Handle in `_handle`, and in `_meta` an object with
    `number`.
    """

def reserve_ids(count: int) -> int:
    """The first of that many ids in a row, which no tensor of this process has had."""

class Handle:
    """A tensor on a worker, which drops it when this goes. `worker` has the link in `link`; the id is a new one."""

    def __init__(self, worker: Any, id: int | None = None) -> None: ...
    id: int
    worker: Any
    link: Any

class Spec:
    """What an operation returns on one worker.

    `metas` has an entry for each tensor among the results, depth first: metadata for a new one, None for one that is an
    argument or nothing. `build` makes the result from the list of new tensors, the arguments, and those by name; None:
    it is the first. `changed` are the arguments whose metadata the operation changes. `parts` has for each new tensor
    the arguments of the function that makes it, and is None where a tensor needs more than that.
    """

    def __init__(
        self, metas: list[Any], build: Callable[..., Any] | None, changed: list[Any], parts: list[tuple | None] | None
    ) -> None: ...
    metas: list[Any]
    build: Callable[..., Any] | None
    changed: list[Any]

def remote_key(
    number: int, by_type: bool, args: tuple, kwargs: dict[str, Any] | None
) -> tuple[bytes | None, Any]:
    """What the results of an operation depend on, and the worker of its first tensor.

    `number` stands for the operation; if `by_type`, its results depend on the types of its numbers only. The key is
    None where an argument cannot be sent.
    """

class DeviceKind:
    """Gives `kind` when it is called. An exception that is under way then is kept:
    torch asks for it where none may be.
    """

    def __init__(self, kind: Any) -> None: ...
    def __call__(self) -> Any: ...
    def take(self) -> BaseException | None:
        """The first exception that was kept since the last call."""

class Untraced:
    """A function whose Python code torch.compile does not look at, nor that of what it calls."""

    def __init__(self, function: Callable[..., Any]) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class Dispatcher:
    """`__torch_dispatch__` of remote tensors: sends an operation whose Spec is in its link's `specs`.

    `make` makes a tensor of the arguments in specs, `place` gives the place, `other` does all other operations.
    """

    def __init__(self, make: Callable[..., Any], place: Callable[[], object], other: Callable[..., Any]) -> None: ...
    def __call__(
        self, cls: type, func: Any, types: tuple, args: tuple, kwargs: dict[str, Any] | None = None
    ) -> Any: ...
    def add(self, func: Any, name: str, number: int, by_type: bool) -> None:
        """Says that an operation is sent as it is called. `number` and `by_type` are those of `remote_key`."""

class TensorId:
    """A tensor on a worker, as an argument."""

    def __init__(self, id: int) -> None: ...

class GeneratorId:
    """A generator of random numbers on a worker, as an argument."""

    def __init__(self, id: int) -> None: ...

class SymmContext:
    """Stands for the context of the worker's rank, as an argument of a kernel."""

class Meta:
    """A tensor on a worker."""

    id: int | None
    dtype: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

class Link:
    """A connection to a worker, which does what it is told in order. Ids are the client's, and private to the link.

    What is asynchronous returns at once; it waits only while 8 MiB are unsent. What waits for the worker ends with
    DeadlineError when its time is over, or with what a signal's handler raises, and the link stays usable. Before it
    gives its own result, it raises the first failure of an operation that nobody has waited for. What reads a tensor
    that a failed operation should have made raises that operation's error.
    """

    @staticmethod
    def connect(
        address: str,
        token: str | None = None,
        certificate: str | os.PathLike[str] | None = None,
        deadline: float = 10.0,
        inside: str | None = None,
    ) -> Link:
        """Connects to `unix:PATH` or `tcp:HOST:PORT`; `certificate` is a PEM file with the worker's own.

        `inside` is where other workers reach this one, if that is another address.
        """
    address: str
    inside: str
    device: str
    pid: int
    host: str
    torch: str
    rank: int | None
    num_ranks: int | None
    alive: bool
    # The longest wait where a call has no deadline of its own.
    deadline: float
    # What operations on this worker return, by `remote_key`: a Spec, or what else a Dispatcher leaves alone.
    specs: dict[bytes, Any]

    # Asynchronous.
    def call(
        self, op: str, args: tuple, kwargs: dict[str, Any] | None, outputs: Sequence[int | None], place: object
    ) -> None:
        """Runs `namespace::op.overload`. With other than `len(outputs)` tensors in its result it fails,
        if not empty.
        """
    def drop(self, ids: int | list[int]) -> None:
        """Frees tensors. Never raises, and never waits."""
    def flush(self) -> None: ...
    def seed(self, seed: int, generator: int | None = None) -> None: ...
    def new_generator(self, id: int, seed: int) -> None: ...
    def drop_generator(self, id: int) -> None: ...
    def set_generator_state(self, state: bytes, generator: int | None = None) -> None: ...
    def copy(self, id: int, target: Link, new_id: int, place: object) -> None:
        """Copies a tensor to another worker, directly. What `target` is told next waits for it there."""
    def launch(
        self, name: str, kernel: str, grid: tuple[int, ...], args: tuple, kwargs: dict[str, Any] | None, place: object
    ) -> None:
        """Launches a Triton kernel from a module of `define_source` or of the worker's `--module`."""
    def join_start(self, heap_size: int | None, place: object) -> None: ...
    def zeros(self, id: int, shape: tuple[int, ...], dtype: Any, place: object) -> None:
        """Makes a symmetric tensor. Collective, as are `barrier`, `leave` and `join`."""
    def barrier(self, place: object) -> None: ...
    def leave(self, place: object) -> None: ...
    def collective(
        self, name: str, args: tuple, kwargs: dict[str, Any], outputs: Sequence[int | None], place: object
    ) -> None:
        """Calls this method of a `symm.comm.Communicator` of all ranks, which the worker makes for the first one."""

    # They wait for the worker.
    def sync(self, deadline: float | None = None) -> None:
        """Waits for everything before, on the device too."""
    def ask(
        self,
        op: str,
        args: tuple,
        kwargs: dict[str, Any] | None,
        outputs: Sequence[int | None],
        place: object,
        deadline: float | None = None,
    ) -> Any:
        """As `call`, and returns the result, with a Meta for each tensor. `outputs` may be longer than needed."""
    def meta(self, id: int, deadline: float | None = None) -> Meta: ...
    def fetch(
        self,
        id: int,
        into: Any,
        deadline: float | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        """Receives a tensor's bytes into a contiguous one on the CPU of the same dtype and shape.

        `progress` is given the bytes that have come and all of them, every 0.1 s and at the end.
        """
    def upload(
        self,
        id: int,
        tensor: Any,
        deadline: float | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        """Sends a contiguous tensor on the CPU. Waits until its memory has been read; raises no earlier failures."""
    def generator_state(self, generator: int | None = None) -> bytes: ...
    def run_function(
        self,
        module: str,
        name: str,
        args: tuple,
        kwargs: dict[str, Any] | None,
        first_id: int,
        place: object,
        deadline: float | None = None,
    ) -> Any:
        """Runs a remote function of a module that the worker was started with; tensors get ids from `first_id` on."""
    def define_source(self, name: str, source: str, deadline: float | None = None) -> None:
        """Makes a module on the worker; RefusedError if it was started without `--allow-code`."""
    def join(self, heap_size: int | None = None, deadline: float | None = None) -> None: ...
    def close(self) -> None:
        """Sends what is queued and ends the connection. The worker frees all tensors of this link."""

class Worker:
    """A worker that listens, on threads of its own. `verbs` is a `symm._worker_verbs.Verbs`."""

    def __init__(
        self,
        listen: str,
        verbs: Any,
        token_file: str | None = None,
        certificate: str | None = None,
        key: str | None = None,
    ) -> None: ...
    address: str
    # How many clients have come and gone.
    served: int
    connections: int
    def stop(self) -> None: ...
