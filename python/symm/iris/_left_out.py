"""Iris' names that are not here, and what to use instead: docs/iris.md has them, too, with the reasons."""

COPIES = "there are no copy engines: the host's copies are put and get of an Iris' world"
TRACES = "symm.trace makes timelines, of Iris' kernels too"
LOOP = "write the loop, as in examples/python/all_gather_matmul.py"

# Of the module `iris`.
OF_THE_MODULE = {
    "AllReduceConfig": "call all_reduce_one_shot or all_reduce_two_shot of a context, or all_reduce of an Iris' ccl",
    "CUDAArrayInterface": "call tensor_from_ptr",
    "TraceEvent": TRACES,
    "USE_COPY_ENGINE": COPIES,
    "allocators": "tensors are made by an Iris: zeros, empty and so on",
    "bench": "call do_bench, or triton.testing.do_bench",
    "device": "the functions for kernels are names of symm.iris itself, contexts of symm.iris.context",
    "hip": "call get_device, get_device_id and get_cu_count of an Iris, or functions of torch.cuda",
    "host": "what it has for users are names of symm.iris itself",
    "kernel_artifacts": "SYMM_DUMP=FOLDER writes what the compiler made of each kernel",
    "mem": "the functions for kernels are names of symm.iris itself, contexts of symm.iris.context",
    "ops": LOOP,
    "put_tile": COPIES,
    "quiet": COPIES,
    "tensor_creation": "tensors are made by an Iris: zeros, full, randn and so on",
    "tracing": TRACES,
    "x": "collectives in kernels are methods of a context: all_gather, all_reduce_one_shot and so on",
}

# Of an `Iris`.
OF_AN_IRIS = {
    "comm": "call get_rank and get_num_ranks, barrier and broadcast; torch.distributed is as the program has left it",
    "ops": LOOP,
    "put": COPIES,
    "put_tile": COPIES,
    "put_tiles": COPIES,
    "quiet": COPIES,
    "tracing": TRACES,
}

# Of its `heap`.
NAMES = ("allocate", "allocator", "as_symmetric", "get_heap_bases", "is_symmetric", "on_symmetric_heap")
OF_A_HEAP = dict.fromkeys(
    (*NAMES, "refresh_peer_access"),
    "it has heap_bases; an Iris makes tensors (zeros, empty and so on), and has as_symmetric and is_symmetric",
)


def missing(name, names, whose):
    """The error for a name that is not there; `whose` is what lacks it."""
    if name in names:
        return AttributeError(f"{whose} has no {name}: {names[name]} (docs/iris.md, What is missing)", name=name)
    return AttributeError(f"{whose} has no attribute {name!r}", name=name)
