/* Captures kernels that signal, wait and meet in a CUDA graph and replays it, on the kernels of
 * test/conformance/epochs.mlir, through symm.h. test/device/graphs.py builds and runs it.
 *
 *     symm-graphs KERNELS.ptx [--ranks N] [--replays N] [--without-barrier]
 *
 * With --ranks the ranks are threads of this process; else it is one rank, as torchrun would start it. The graph is
 * ring, barrier, meet, copy, barrier. First every replay is waited for and each word that the host then reads is
 * compared; then all are launched at once, and the kernels' own count of wrong words is. --without-barrier leaves the
 * barriers of the stream out, to see that they are needed: then wrong words are counted and no failure. */

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symm.h"

enum { BLOCKS = 8, THREADS = 64, WORDS = 64, MOST_RANKS = 128 };

static struct {
  const char *kernels;
  uint32_t ranks, replays;
  int barrier;
} args = {.replays = 1000, .barrier = 1};

#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    if ((call) != SYMM_OK) {                                                                                           \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, symm_last_error());                                \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* A memref of one dimension, whose fields are five parameters of a kernel. */
struct memref {
  void *allocated, *aligned;
  int64_t offset, size, stride;
};

static struct memref words(symm_rank *rank, int64_t count) {
  struct memref memref = {.size = count, .stride = 1};
  OK(symm_alloc(rank, (uint64_t)count * 8, 0, &memref.aligned));
  memref.allocated = memref.aligned;
  return memref;
}

/* The pointers to a kernel's arguments: the context and memrefs. */
struct arguments {
  const void *values[1 + 5 * 5];
  uint32_t count;
};

static struct arguments pack(const symm_rank_info *me, const struct memref *const *memrefs, int count) {
  struct arguments packed = {.values = {&me->device_ctx}, .count = 1};
  for (int i = 0; i < count; i++) {
    const void *fields[] = {&memrefs[i]->allocated, &memrefs[i]->aligned, &memrefs[i]->offset, &memrefs[i]->size,
                            &memrefs[i]->stride};
    for (int field = 0; field < 5; field++) packed.values[packed.count++] = fields[field];
  }
  return packed;
}

static void *file(const char *path, size_t *bytes) {
  FILE *from = fopen(path, "rb");
  char *text = calloc(1, 1 << 22);
  if (!from || !text) {
    perror(path);
    exit(1);
  }
  *bytes = fread(text, 1, 1 << 22, from);
  fclose(from);
  return text;
}

/* How many words that rank `from` sent in `epoch` are not there. */
static uint64_t compare(const int64_t *seen, int64_t from, int64_t epoch) {
  uint64_t wrong = 0;
  for (int i = 0; i < BLOCKS * WORDS; i++) wrong += seen[i] != epoch * 1000000 + from * 1000 + i % WORDS;
  return wrong;
}

/* Microseconds that a barrier in the order of a stream takes, one after the other in a graph. */
static double barrier_time(symm_rank *rank, symm_stream *stream, symm_event *start, symm_event *end) {
  enum { IN_GRAPH = 100, TIMES = 20 };
  symm_graph *graph;
  float milliseconds;
  OK(symm_capture_begin(stream));
  for (int i = 0; i < IN_GRAPH; i++) OK(symm_stream_barrier(stream));
  OK(symm_capture_end(stream, &graph));
  OK(symm_barrier(rank));
  OK(symm_graph_launch(graph, stream));
  OK(symm_event_record(start, stream));
  for (int i = 0; i < TIMES; i++) OK(symm_graph_launch(graph, stream));
  OK(symm_event_record(end, stream));
  OK(symm_stream_synchronize(stream));
  OK(symm_event_milliseconds(start, end, &milliseconds));
  OK(symm_barrier(rank));
  symm_graph_destroy(graph);
  return 1000.0 * milliseconds / (IN_GRAPH * TIMES);
}

/* What one rank works with. */
struct work {
  symm_rank *rank;
  symm_rank_info me;
  symm_module *module;
  symm_kernel *ring, *meet;
  struct memref inbox, seen, set, added, rings, meets, board, wrong;
  symm_stream *stream;
  symm_event *start, *end;
  symm_graph *graph;
};

static struct work begin(symm_rank *rank) {
  struct work work = {.rank = rank};
  OK(symm_get_info(rank, &work.me));
  size_t bytes;
  void *code = file(args.kernels, &bytes);
  OK(symm_module_load(rank, "kernels", code, bytes, &work.module));
  OK(symm_module_kernel(work.module, "ring", &work.ring));
  OK(symm_module_kernel(work.module, "meet", &work.meet));
  free(code);
  work.inbox = words(rank, BLOCKS * WORDS);
  work.seen = words(rank, BLOCKS * WORDS);
  work.set = words(rank, BLOCKS);
  work.added = words(rank, BLOCKS);
  work.rings = words(rank, BLOCKS);
  work.meets = words(rank, BLOCKS);
  work.board = words(rank, BLOCKS * work.me.num_ranks);
  work.wrong = words(rank, 1);
  OK(symm_stream_create(rank, &work.stream));
  OK(symm_event_create(rank, &work.start));
  OK(symm_event_create(rank, &work.end));
  return work;
}

static void capture(struct work *work) {
  const struct memref *const of_ring[] = {&work->inbox, &work->set, &work->added, &work->rings, &work->wrong};
  const struct memref *const of_meet[] = {&work->board, &work->meets, &work->wrong};
  const struct arguments ring_args = pack(&work->me, of_ring, 5), meet_args = pack(&work->me, of_meet, 3);
  symm_grid grid = {.blocks = {BLOCKS, 1, 1}, .threads = {THREADS, 1, 1}, .waits = 1};
  symm_stream *stream = work->stream;
  OK(symm_capture_begin(stream));
  OK(symm_launch(stream, work->ring, &grid, ring_args.values, ring_args.count));
  if (args.barrier) OK(symm_stream_barrier(stream));
  grid.barrier = 1;
  OK(symm_launch(stream, work->meet, &grid, meet_args.values, meet_args.count));
  OK(symm_stream_copy(stream, work->seen.aligned, work->inbox.aligned, BLOCKS * WORDS * 8));
  /* The next replay of a neighbour writes what was just copied. */
  if (args.barrier) OK(symm_stream_barrier(stream));
  OK(symm_capture_end(stream, &work->graph));
}

/* Replays the graph twice as often as asked for; how many words the host finds wrong. */
static uint64_t replay(const struct work *work) {
  static int64_t host[MOST_RANKS][BLOCKS * WORDS];
  const symm_rank_info *me = &work->me;
  const int64_t before = (me->rank + me->num_ranks - 1) % me->num_ranks, replays = args.replays;
  int64_t *got = host[me->rank], epochs[BLOCKS];
  uint64_t different = 0;
  /* What is made for a device may wait for the kernels of another rank that uses it too. */
  OK(symm_barrier(work->rank));
  for (int64_t epoch = 1; epoch <= replays; epoch++) {
    OK(symm_graph_launch(work->graph, work->stream));
    OK(symm_stream_synchronize(work->stream));
    OK(symm_read(work->rank, work->seen.aligned, got, sizeof host[0]));
    different += compare(got, before, epoch);
  }
  OK(symm_barrier(work->rank));
  OK(symm_event_record(work->start, work->stream));
  for (int64_t replay = 0; replay < replays; replay++) OK(symm_graph_launch(work->graph, work->stream));
  OK(symm_event_record(work->end, work->stream));
  OK(symm_stream_synchronize(work->stream));
  OK(symm_read(work->rank, work->seen.aligned, got, sizeof host[0]));
  different += compare(got, before, 2 * replays);
  OK(symm_read(work->rank, work->rings.aligned, epochs, sizeof epochs));
  for (int block = 0; block < BLOCKS; block++) different += epochs[block] != 2 * replays;
  return different;
}

static void finish(const struct work *work) {
  symm_graph_destroy(work->graph);
  symm_event_destroy(work->start);
  symm_event_destroy(work->end);
  symm_stream_destroy(work->stream);
  symm_kernel_destroy(work->ring);
  symm_kernel_destroy(work->meet);
  symm_module_destroy(work->module);
  OK(symm_leave(work->rank));
}

static void *run(void *rank) {
  struct work work = begin(rank);
  capture(&work);
  const uint64_t different = replay(&work);
  float time;
  int32_t counted;
  OK(symm_event_milliseconds(work.start, work.end, &time));
  OK(symm_read(rank, work.wrong.aligned, &counted, sizeof counted));
  printf("rank %" PRIu32 " of %" PRIu32 ": %" PRId64 " replays, %" PRIu64 " words wrong on the host, %" PRId32
         " on the device, %.2f us each; a barrier alone %.2f us\n", work.me.rank, work.me.num_ranks,
         2 * (int64_t)args.replays, different, counted, 1000.0 * time / (double)args.replays,
         barrier_time(rank, work.stream, work.start, work.end));
  finish(&work);
  return (void *)(uintptr_t)(args.barrier && (different || counted));
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--ranks") && i + 1 < argc) args.ranks = (uint32_t)atoi(argv[++i]);
    else if (!strcmp(argv[i], "--replays") && i + 1 < argc) args.replays = (uint32_t)atoi(argv[++i]);
    else if (!strcmp(argv[i], "--without-barrier")) args.barrier = 0;
    else args.kernels = argv[i];
  }
  if (!args.kernels || args.ranks > MOST_RANKS) {
    fprintf(stderr, "usage: %s KERNELS.ptx [--ranks N] [--replays N] [--without-barrier]\n", argv[0]);
    return 2;
  }
  symm_options options = {.driver = SYMM_CUDA, .timeout = 30};
  symm_rank *ranks[MOST_RANKS];
  if (!args.ranks) {
    OK(symm_join(&options, ranks));
    return run(ranks[0]) != NULL;
  }
  pthread_t threads[MOST_RANKS];
  OK(symm_join_threads(&options, args.ranks, ranks));
  for (uint32_t i = 0; i < args.ranks; i++) {
    if (pthread_create(&threads[i], NULL, run, ranks[i])) return 1;
  }
  int failed = 0;
  for (uint32_t i = 0; i < args.ranks; i++) {
    void *wrong = NULL;
    failed |= pthread_join(threads[i], &wrong) || wrong;
  }
  return failed;
}
