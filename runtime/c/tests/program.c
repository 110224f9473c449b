/* Uses every function of symm.h on two ranks, as threads (argument "threads") or as this process's one rank. */

#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symm.h"

enum { RANKS = 2, BLOCKS = 3, ROUNDS = 50, WORDS = 8 };

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition, symm_last_error());               \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)
#define OK(call) CHECK((call) == SYMM_OK)
/* A call that has to fail in this way, and to say so. */
#define FAILS(call, status, text) CHECK((call) == (status) && strstr(symm_last_error(), text))

/* Counts to ROUNDS with the same block of the next rank, each by signalling the other. */
static void count(const void *const *args, const symm_coords *at) {
  const int64_t *ctx = *(const int64_t *const *)args[0];
  _Atomic uint64_t *flag = *(_Atomic uint64_t *const *)args[1] + at->block[0];
  const uint32_t step = *(const uint32_t *)args[2];
  const int64_t me = ctx[0], ranks = ctx[1];
  const int64_t distance = ctx[2 + (me + 1) % ranks] - ctx[2 + me];
  _Atomic uint64_t *next = (_Atomic uint64_t *)((char *)flag + distance);
  for (uint64_t round = step; round <= ROUNDS * step; round += step) {
    atomic_store_explicit(next, round, memory_order_release);
    while (atomic_load_explicit(flag, memory_order_acquire) < round) sched_yield();
  }
}

static void addresses(symm_rank *rank, const symm_rank_info *me) {
  void *data, *again, *remote;
  FAILS(symm_alloc(rank, (uint64_t)1 << 40, 0, &data), SYMM_OUT_OF_MEMORY, "asked for 1099511627776 bytes");
  FAILS(symm_alloc(rank, 8, 3, &data), SYMM_INVALID, "alignment 3");
  CHECK(!strstr(symm_last_error(), ".rs") && strstr(symm_last_error(), "rank ") == symm_last_error());
  OK(symm_alloc(rank, WORDS * 8, 4096, &data));
  CHECK((uintptr_t)data % 4096 == 0 && symm_is_symmetric(rank, data) && !symm_is_symmetric(rank, &remote));
  OK(symm_as_remote(rank, data, 1 - me->rank, &remote));
  CHECK((char *)remote - (char *)data == me->heap_bases[1 - me->rank] - me->heap_bases[me->rank]);
  FAILS(symm_as_remote(rank, data, 2, &remote), SYMM_INVALID, "rank 2 out of range [0, 2)");
  FAILS(symm_as_remote(rank, &remote, 0, &remote), SYMM_INVALID, "not in this rank's heap");

  uint64_t words[WORDS], got[WORDS] = {0};
  for (int i = 0; i < WORDS; i++) words[i] = 100 * me->rank + i;
  OK(symm_write(rank, remote, words, sizeof words));
  OK(symm_barrier(rank));
  OK(symm_read(rank, data, got, sizeof got));
  for (int i = 0; i < WORDS; i++) CHECK(got[i] == 100 * (1 - me->rank) + i);
  FAILS(symm_read(rank, words, got, sizeof got), SYMM_INVALID, "not in one rank's heap");
  OK(symm_write(rank, remote, NULL, 0));

  OK(symm_set_call_site(me->rank ? "c.py:2" : "c.py:1"));
  FAILS(symm_alloc(rank, 8 << me->rank, 0, &again), SYMM_MISMATCH, "rank 1: alloc of 16 bytes at c.py:2");
  OK(symm_set_call_site(NULL));
  FAILS(symm_alloc(rank, 8 << me->rank, 4096, &again), SYMM_MISMATCH, "\n  rank 1: alloc of 16 bytes aligned to 4096");
  CHECK(!strstr(symm_last_error(), " at ") && !strstr(symm_last_error(), ".rs"));
  FAILS(symm_free(rank, me->rank ? data : NULL), SYMM_MISMATCH, "rank 0: free of null");
  if (me->rank) {
    FAILS(symm_leave(rank), SYMM_MISMATCH, "rank 1: leave");
  } else {
    FAILS(symm_barrier(rank), SYMM_MISMATCH, "rank 0: barrier_all");
  }
  OK(symm_barrier(rank));
  OK(symm_broadcast(rank, 1, words, sizeof words));
  CHECK(words[3] == 103);
  FAILS(symm_broadcast(rank, 7, words, sizeof words), SYMM_INVALID, "rank 7 out of range");
  OK(symm_free(rank, data));
  FAILS(symm_free(rank, data), SYMM_INVALID, "where no allocation starts");
  OK(symm_free(rank, NULL));
}

static void streams(symm_rank *rank, const symm_rank_info *me) {
  symm_stream *own, *stream, *borrowed;
  symm_event *from, *to;
  symm_graph *graph;
  uint64_t words[2] = {1, 2}, copy[2] = {0, 0};
  int done = 0, happened = 0;
  float time = -1;
  OK(symm_stream_own(rank, &own));
  OK(symm_stream_create(rank, &stream));
  OK(symm_stream_borrow(rank, symm_stream_handle(own), &borrowed));
  OK(symm_event_create(rank, &from));
  OK(symm_event_create(rank, &to));
  OK(symm_event_record(from, stream));
  OK(symm_stream_copy(stream, copy, words, sizeof words));
  OK(symm_event_record(to, stream));
  OK(symm_event_await(to, own));
  OK(symm_stream_barrier(own));
  OK(symm_stream_synchronize(stream));
  OK(symm_stream_is_done(stream, &done));
  OK(symm_event_has_happened(to, &happened));
  OK(symm_event_milliseconds(from, to, &time));
  CHECK(done == 1 && happened == 1 && time >= 0 && copy[1] == 2);
  OK(symm_event_milliseconds(to, to, &time));
  CHECK(time == 0);
  FAILS(symm_stream_copy(stream, copy, NULL, 8), SYMM_INVALID, "the memory to copy from is null");
  FAILS(symm_stream_copy(stream, NULL, words, 8), SYMM_INVALID, "the memory to copy to is null");
  OK(symm_stream_copy(stream, NULL, NULL, 0));
  FAILS(symm_capture_begin(stream), SYMM_UNSUPPORTED, "the driver cpu has no graphs");
  FAILS(symm_capture_end(stream, &graph), SYMM_UNSUPPORTED, "the driver cpu has no graphs");
  FAILS(symm_graph_launch(NULL, stream), SYMM_INVALID, "the graph is null");
  symm_graph_destroy(NULL);

  symm_module *module;
  symm_kernel *kernel;
  void *flags;
  FAILS(symm_module_load(rank, "m", "text", 4, &module), SYMM_UNSUPPORTED, "symm_kernel_host");
  FAILS(symm_module_kernel(NULL, "k", &kernel), SYMM_INVALID, "the module is null");
  symm_module_destroy(NULL);
  FAILS(symm_kernel_host("count", NULL, &kernel), SYMM_INVALID, "the function is null");
  OK(symm_kernel_host("count", count, &kernel));
  OK(symm_alloc(rank, BLOCKS * 8, 0, &flags));
  const uint32_t step = 7;
  const void *const args[] = {&me->device_ctx, &flags, &step};
  symm_grid grid = {.blocks = {BLOCKS, 1, 1}, .threads = {1, 1, 1}, .waits = 1};
  OK(symm_launch(stream, kernel, &grid, args, 3));
  OK(symm_stream_synchronize(stream));
  uint64_t last[BLOCKS];
  OK(symm_read(rank, flags, last, sizeof last));
  for (int i = 0; i < BLOCKS; i++) CHECK(last[i] == ROUNDS * step);
  const void *const missing[] = {&me->device_ctx, NULL, &step};
  FAILS(symm_launch(stream, kernel, &grid, missing, 3), SYMM_INVALID, "the pointer to argument 1 is null");
  grid.threads[0] = 2000;
  FAILS(symm_launch(stream, kernel, &grid, args, 3), SYMM_INVALID, "2000 threads");
  OK(symm_free(rank, flags));
  symm_kernel_destroy(kernel);
  symm_event_destroy(from);
  symm_event_destroy(to);
  symm_stream_destroy(borrowed);
  symm_stream_destroy(stream);
  symm_stream_destroy(own);
}

/* A child of fork() is not part of the run, and ends without a trace. */
static void children(symm_rank *rank) {
  for (int way = 0; way < 3; way++) {
    pid_t child = fork();
    if (child == 0) {
      void *data;
      FAILS(symm_barrier(rank), SYMM_INVALID, "this process was forked from rank");
      FAILS(symm_alloc(rank, 8, 0, &data), SYMM_INVALID, "this process was forked from rank");
      if (way == 1) OK(symm_leave(rank));
      if (way == 2) symm_abandon(rank);
      _exit(0);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  }
}

static void *work(void *handle) {
  symm_rank *rank = handle;
  symm_rank_info me;
  OK(symm_get_info(rank, &me));
  CHECK(me.num_ranks == RANKS && me.heap_size == 8 << 20);
  CHECK(me.ctx[0] == me.rank && me.ctx[1] == RANKS && me.ctx + 2 == me.heap_bases);
  addresses(rank, &me);
  streams(rank, &me);
  children(rank);
  OK(symm_leave(rank));
  printf("rank %u done\n", me.rank);
  return NULL;
}

/* One of two ranks goes; the other is told. */
static void *go(void *handle) {
  symm_rank_info me;
  OK(symm_get_info(handle, &me));
  OK(symm_barrier(handle));
  if (me.rank == 1) {
    symm_abandon(handle);
    return NULL;
  }
  FAILS(symm_barrier(handle), SYMM_STOPPED, "rank 1 was dropped without leaving the run");
  FAILS(symm_leave(handle), SYMM_STOPPED, "rank 1 was dropped");
  return NULL;
}

static void on_threads(const symm_options *options, void *(*body)(void *)) {
  symm_rank *ranks[RANKS];
  pthread_t threads[RANKS];
  OK(symm_join_threads(options, RANKS, ranks));
  for (int i = 0; i < RANKS; i++) CHECK(!pthread_create(&threads[i], NULL, body, ranks[i]));
  for (int i = 0; i < RANKS; i++) CHECK(!pthread_join(threads[i], NULL));
}

static symm_rank *late;

/* Leaves when the process ends: thread-local data of the main thread is gone then. */
static void leave_late(void) {
  symm_stream *stream;
  void *data, *remote;
  if (!late) return;
  alarm(20);
  OK(symm_alloc(late, 64, 0, &data));
  FAILS(symm_as_remote(late, data, 9, &remote), SYMM_INVALID, "rank 9 out of range");
  OK(symm_stream_own(late, &stream));
  OK(symm_stream_barrier(stream));
  symm_stream_destroy(stream);
  OK(symm_leave(late));
  printf("left late\n");
  fflush(stdout);
  late = NULL;
}

__attribute__((destructor)) static void at_the_end(void) { leave_late(); }

/* A call that waits is interrupted; the other rank is told. */
static atomic_int wants;
static int is_interrupted(void) { return atomic_load(&wants); }

static void *interrupt(void *handle) {
  symm_rank_info me;
  OK(symm_get_info(handle, &me));
  OK(symm_barrier(handle));
  if (me.rank == 0) {
    usleep(100000);
    atomic_store(&wants, 1);
    usleep(500000);
    FAILS(symm_barrier(handle), SYMM_STOPPED, "stopped, because rank 1 reported: interrupted");
    symm_abandon(handle);
    return NULL;
  }
  FAILS(symm_barrier(handle), SYMM_STOPPED, "interrupted\n  rank 0: host function running");
  FAILS(symm_leave(handle), SYMM_STOPPED, "interrupted");
  return NULL;
}

int main(int argc, char **argv) {
  alarm(60); /* a call that hangs */
  if (argc > 1 && !strcmp(argv[1], "atexit")) atexit(leave_late);
  symm_options options = {.heap_size = 8 << 20, .timeout = 20, .deadline = 20};
  options.fingerprint = "c";
  options.fingerprint_bytes = 1;
  symm_rank *rank;
  FAILS(symm_join_threads(NULL, 2, &rank), SYMM_INVALID, "options is null");
  options.driver = 9;
  FAILS(symm_join_threads(&options, 2, &rank), SYMM_INVALID, "no driver has the number 9");
  options.driver = SYMM_CPU;
  FAILS(symm_join_threads(&options, 0, &rank), SYMM_INVALID, "0 ranks");
  options.heap_size = 1;
  FAILS(symm_join_threads(&options, 2, &rank), SYMM_INVALID,
        "a heap of 1 bytes: its size (heap_size, --heap-size) has to be");
  options.heap_size = 8 << 20;
  for (int i = 0; i < 4; i++) {
    options.timeout = (const double[]){-1, 1e9, 1e300, INFINITY}[i];
    FAILS(symm_join_threads(&options, 2, &rank), SYMM_INVALID, "seconds: it is 0 or more, and less than 1e9");
    CHECK(strlen(symm_last_error()) < 100);
  }
  options.timeout = 20;
  FAILS(symm_leave(NULL), SYMM_INVALID, "the rank is null");
  symm_abandon(NULL);
  if (argc > 1 && !strcmp(argv[1], "threads")) {
    FAILS(symm_join(&options, &rank), SYMM_BOOTSTRAP, "RANK is not set");
    on_threads(&options, work);
    on_threads(&options, go);
    symm_set_interrupt(is_interrupted);
    on_threads(&options, interrupt);
    symm_set_interrupt(NULL);
    return 0;
  }
  if (argc > 1 && (!strcmp(argv[1], "atexit") || !strcmp(argv[1], "destructor"))) {
    OK(symm_join_threads(&options, 1, &late));
    /* What this thread has of its own is made now. */
    OK(symm_barrier(late));
    return 0;
  }
  OK(symm_join(&options, &rank));
  work(rank);
  return 0;
}
