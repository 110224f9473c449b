/* symm: the symmetric heap, for C. Link with libsymm.so or libsymm.a (cargo build --release -p symm-c).
 *
 * Every rank owns a heap; what is allocated lies at the same offset in each, and every rank can address all of them.
 * A process has one rank (symm_join) or a thread for each rank (symm_join_threads).
 *
 * Every function that can fail returns SYMM_OK (0) or the kind of error; symm_last_error then describes it in
 * words. Results are stored through the last parameter, and only on success. Pointers may not be null, except where
 * it says so. Sizes are in bytes, times in seconds and below 1e9, except where the name says otherwise.
 *
 * "Collective" functions must be called on every rank, in the same order and with the same values; they return when
 * all ranks have arrived. A rank makes one call at a time: a second one is SYMM_INVALID if it could do harm. When the
 * run has failed on any rank, every call on every other returns SYMM_STOPPED, now and later, and so do later calls on
 * the rank itself: nothing hangs. Only calls that destroy something, or return what is already known, still work.
 *
 * A handle that is gone or of another kind is SYMM_INVALID; functions that destroy one ignore it.
 *
 * Calls can be made until the process ends, even in atexit handlers and destructors of statics. They leave the
 * calling thread's current device as it was.
 *
 * A child of fork() is not part of the run: its calls return SYMM_INVALID, symm_leave and symm_abandon only free the
 * handle, and other ranks notice the parent's end even while the child lives.
 *
 * With SYMM_CUDA, set CUDA_MODULE_LOADING=EAGER in a process with several threads: a kernel that is loaded when
 * it is first launched would wait for those that wait for it.
 */
#ifndef SYMM_H
#define SYMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of error, by who has to act. */
enum {
  SYMM_OK = 0,
  SYMM_INVALID = 1,       /* the caller: an argument, a launch or an address that cannot be */
  SYMM_OUT_OF_MEMORY = 2, /* the heap is full, on all ranks alike: they may go on */
  SYMM_MISMATCH = 3,      /* the caller: ranks called different collective functions; they may go on */
  SYMM_STOPPED = 4,       /* the run has failed elsewhere, or waited too long; the text is the cause */
  SYMM_BOOTSTRAP = 5,     /* whoever started the ranks: one is missing, twice there or different */
  SYMM_DEVICE = 6,        /* the device, its driver or the system refused */
  SYMM_FAULT = 7,         /* a kernel: a safety check in it has failed */
  SYMM_UNSUPPORTED = 8,   /* not on this driver; the text says what to do instead */
  SYMM_INTERNAL = 9       /* a fault of symm */
};

/* The kind of device that ranks run on. */
enum { SYMM_CPU = 0, SYMM_CUDA = 1, SYMM_HIP = 2 };

typedef struct symm_rank symm_rank;
typedef struct symm_stream symm_stream;
typedef struct symm_event symm_event;
typedef struct symm_graph symm_graph;
typedef struct symm_module symm_module;
typedef struct symm_kernel symm_kernel;

/* How to join. Zero selects every default. */
typedef struct symm_options {
  uint32_t driver;           /* SYMM_CPU, SYMM_CUDA, SYMM_HIP; rank r uses device r modulo their number */
  uint64_t heap_size;        /* bytes of each rank's heap, 2 MiB of which are symm's; 0: 64 MiB */
  double timeout;            /* the longest time that one call may take, waiting or computing; 0: for ever */
  double deadline;           /* the longest time to wait for all ranks to join; 0: 30 seconds */
  const void *fingerprint;   /* what has to be the same on all ranks, such as a hash of the program; may be null */
  size_t fingerprint_bytes;
  uint32_t helpers_signal;   /* 1 if threads that are no rank's set flags: no deadlock is reported, only timeouts */
} symm_options;

/* What a rank is. The tables live as long as the rank. */
typedef struct symm_rank_info {
  uint32_t rank, num_ranks;
  uint64_t heap_size;
  const int64_t *heap_bases; /* num_ranks addresses in this process, or of the device */
  const int64_t *ctx;        /* the context table on the host: rank, num_ranks, heap_bases … */
  uint64_t device_ctx;       /* the address of the context table that kernels take */
} symm_rank_info;

/* Blocks of threads. The CPU runs one thread of a block, each block on its own thread. */
typedef struct symm_grid {
  uint32_t blocks[3], threads[3];
  uint32_t shared_bytes;     /* dynamic shared memory of each block */
  uint32_t waits;            /* 1 if blocks wait for flags or for each other: all have to be on the device then */
  uint32_t barrier;          /* 1 if the kernel uses symm.barrier */
} symm_grid;

/* Where a block of a kernel on the CPU is. */
typedef struct symm_coords {
  int64_t block[3], grid[3];
} symm_coords;

/* A kernel on the CPU, called once for each block: args[i] points to the value of argument i. */
typedef void (*symm_host_kernel)(const void *const *args, const symm_coords *coords);

/* The message of this thread's last failed call; valid until its next failed call. Never null. */
const char *symm_last_error(void);

/* Makes waiting calls call `asked` now and then, on the waiting thread, at most 20 times a second: when it returns
 * anything but 0, the call returns SYMM_STOPPED, and the run ends on all ranks. For languages that only notice a
 * signal (Ctrl-C) after a call. Set for the whole process; null removes it. */
void symm_set_interrupt(int (*asked)(void));

/* Says where this thread's calls come from, such as "train.py:41", so that errors name it; null: unknown. The
 * text is copied and kept forever, so use one per line of code. */
int symm_set_call_site(const char *site);

/* ---- Joining and leaving ---- */

/* Joins as the rank that torchrun, an MPI or Slurm started this process as: their environment variables say.
 * Errors: SYMM_BOOTSTRAP, SYMM_DEVICE. */
int symm_join(const symm_options *options, symm_rank **rank);

/* Joins as all ranks; the caller has a thread for each: ranks[0] to ranks[num_ranks - 1]. Each handle is used
 * by one thread at a time. */
int symm_join_threads(const symm_options *options, uint32_t num_ranks, symm_rank **ranks);

/* Leaves when all ranks do. Collective. A process may leave several runs in any order: if another rank waits for it
 * in another run, this returns early, within five seconds; a failure after that is the error of its last leave,
 * which waits for all. The rank's streams must be done, and its events, streams, graphs, modules and kernels destroyed
 * before. The handle is gone, even after an error, except SYMM_MISMATCH, and SYMM_INVALID while another thread is in a
 * call for the rank: then it has not left.
 * When the last rank of the process has left, the heaps are unmapped: their addresses are invalid from then on. */
int symm_leave(symm_rank *rank);

/* Leaves without the others: the run ends with SYMM_STOPPED on all ranks, even in a call of another thread for this
 * one. The handle is gone. Null is ignored. */
void symm_abandon(symm_rank *rank);

int symm_get_info(const symm_rank *rank, symm_rank_info *info);

/* ---- Memory ---- */

/* Allocates zeroed memory at the same offset on every rank. Collective.
 * `align`: a power of two up to 2 MiB, or 0 for 256.
 * Errors: SYMM_OUT_OF_MEMORY with the bytes asked for, free, and in the largest free run. */
int symm_alloc(symm_rank *rank, uint64_t bytes, uint64_t align, void **pointer);

/* Frees it. Collective. Null frees nothing; if one rank passes null, all must. */
int symm_free(symm_rank *rank, void *pointer);

/* 1 if the address is in this rank's heap, else 0. */
int symm_is_symmetric(const symm_rank *rank, const void *pointer);

/* The counterpart on rank `peer` of an address in this rank's heap. */
int symm_as_remote(const symm_rank *rank, const void *pointer, uint32_t peer, void **remote);

/* Copies from or to one heap, any rank's, after the work in the rank's own stream; returns when it is done. */
int symm_read(symm_rank *rank, const void *from, void *into, size_t bytes);
int symm_write(symm_rank *rank, void *to, const void *from, size_t bytes);

/* ---- The other ranks, on the host ---- */

/* Waits for all ranks. Collective. */
int symm_barrier(symm_rank *rank);

/* Copies the bytes of `root` to every rank. Collective. */
int symm_broadcast(symm_rank *rank, uint32_t root, void *data, size_t bytes);

/* ---- Streams and events: work in order. On the CPU every call does its work immediately. ---- */

/* The stream that the rank has from the start; a new one; or one created elsewhere (CUstream, hipStream_t), which
 * has to outlive the handle. */
int symm_stream_own(symm_rank *rank, symm_stream **stream);
int symm_stream_create(symm_rank *rank, symm_stream **stream);
int symm_stream_borrow(symm_rank *rank, void *handle, symm_stream **stream);
void symm_stream_destroy(symm_stream *stream);

/* CUstream or hipStream_t; null on the CPU. */
void *symm_stream_handle(const symm_stream *stream);

/* Waits until all work is done. Errors: SYMM_DEVICE, SYMM_FAULT, which end the run. */
int symm_stream_synchronize(symm_stream *stream);

/* Stores 1 if all work is done, else 0. */
int symm_stream_is_done(symm_stream *stream, int *done);

/* A barrier on the device between the streams of all ranks. Collective; can be captured. */
int symm_stream_barrier(symm_stream *stream);

/* Copies between host memory, heaps and device memory, all valid until it is done. */
int symm_stream_copy(symm_stream *stream, void *to, const void *from, size_t bytes);

int symm_event_create(symm_rank *rank, symm_event **event);
void symm_event_destroy(symm_event *event);

/* Marks the end of the stream's work so far; makes its later work wait for such a mark. */
int symm_event_record(symm_event *event, symm_stream *stream);
int symm_event_await(symm_event *event, symm_stream *stream);

/* Stores 1 if it has happened, else 0. */
int symm_event_has_happened(symm_event *event, int *happened);

/* Time on the device's clock between two events that have happened. */
int symm_event_milliseconds(symm_event *from, symm_event *to, float *milliseconds);

/* ---- Graphs: work given to a stream between begin and end is recorded, and executed by each launch ---- */

int symm_capture_begin(symm_stream *stream);
int symm_capture_end(symm_stream *stream, symm_graph **graph);
int symm_graph_launch(symm_graph *graph, symm_stream *stream);
void symm_graph_destroy(symm_graph *graph);

/* ---- Kernels ---- */

/* Loads PTX or a code object; the same bytes are loaded once, and stay loaded until the run ends: kernels outlive the
 * handle. Errors use `name`. Truncated code is SYMM_INVALID. */
int symm_module_load(symm_rank *rank, const char *name, const void *image, size_t bytes, symm_module **module);
void symm_module_destroy(symm_module *module);
int symm_module_kernel(symm_module *module, const char *name, symm_kernel **kernel);

/* A function of this process, for SYMM_CPU. */
int symm_kernel_host(const char *name, symm_host_kernel function, symm_kernel **kernel);
void symm_kernel_destroy(symm_kernel *kernel);

/* Launches. args[i] points to the value of argument i, of the type that the kernel takes; after an error on the CPU
 * blocks that never end may still read them. Errors: SYMM_INVALID with the numbers. */
int symm_launch(symm_stream *stream, const symm_kernel *kernel, const symm_grid *grid, const void *const *args,
                uint32_t num_args);

#ifdef __cplusplus
}
#endif

#endif
