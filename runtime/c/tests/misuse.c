/* Calls that nobody should make: each is answered with an error, and none crashes or hangs. */

#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symm.h"

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition, symm_last_error());               \
      _exit(1);                                                                                                        \
    }                                                                                                                  \
  } while (0)
#define OK(call) CHECK((call) == SYMM_OK)
#define FAILS(call, status, text) CHECK((call) == (status) && strstr(symm_last_error(), text))

static const symm_options OPTIONS = {.heap_size = 8 << 20, .timeout = 20, .deadline = 20};

/* What a program has of one rank. */
struct all {
  symm_rank *rank;
  symm_stream *stream;
  symm_event *event;
  symm_graph *graph;
  symm_module *module;
  symm_kernel *kernel;
};

static void nothing(const void *const *args, const symm_coords *at) { (void)args, (void)at; }

/* Every function that can fail does so, in one of two ways. */
static void all_fail(struct all it, int status, int kernel_status, const char *text) {
  symm_rank_info info;
  symm_stream *stream;
  symm_event *event;
  symm_graph *graph;
  symm_module *module;
  symm_kernel *kernel;
  void *data;
  int done;
  float time;
  char bytes[8] = {0};
  const symm_grid grid = {.blocks = {1, 1, 1}, .threads = {1, 1, 1}};
  FAILS(symm_alloc(it.rank, 8, 0, &data), status, text);
  FAILS(symm_free(it.rank, bytes), status, text);
  FAILS(symm_as_remote(it.rank, bytes, 0, &data), status, text);
  FAILS(symm_read(it.rank, bytes, bytes, 8), status, text);
  FAILS(symm_write(it.rank, bytes, bytes, 8), status, text);
  FAILS(symm_barrier(it.rank), status, text);
  FAILS(symm_broadcast(it.rank, 0, bytes, 8), status, text);
  FAILS(symm_stream_create(it.rank, &stream), status, text);
  FAILS(symm_event_create(it.rank, &event), status, text);
  FAILS(symm_module_load(it.rank, "m", bytes, 8, &module), status, text);
  FAILS(symm_stream_synchronize(it.stream), status, text);
  FAILS(symm_stream_is_done(it.stream, &done), status, text);
  FAILS(symm_stream_barrier(it.stream), status, text);
  FAILS(symm_stream_copy(it.stream, bytes, bytes, 8), status, text);
  FAILS(symm_event_record(it.event, it.stream), status, text);
  FAILS(symm_event_await(it.event, it.stream), status, text);
  FAILS(symm_event_has_happened(it.event, &done), status, text);
  FAILS(symm_event_milliseconds(it.event, it.event, &time), status, text);
  FAILS(symm_capture_begin(it.stream), status, text);
  FAILS(symm_capture_end(it.stream, &graph), status, text);
  FAILS(symm_launch(it.stream, it.kernel, &grid, NULL, 0), kernel_status, text);
  /* What asks for something that is known already answers for a rank that is there. */
  if (status == SYMM_INVALID && !strstr(text, "forked")) {
    FAILS(symm_get_info(it.rank, &info), status, text);
    FAILS(symm_stream_own(it.rank, &stream), status, text);
    FAILS(symm_stream_borrow(it.rank, NULL, &stream), status, text);
    FAILS(symm_graph_launch(it.graph, it.stream), status, "");
    FAILS(symm_module_kernel(it.module, "k", &kernel), status, text);
    FAILS(symm_leave(it.rank), status, text);
    CHECK(!symm_is_symmetric(it.rank, bytes) && !symm_stream_handle(it.stream));
    symm_abandon(it.rank);
    symm_stream_destroy(it.stream);
    symm_event_destroy(it.event);
    symm_graph_destroy(it.graph);
    symm_module_destroy(it.module);
    symm_kernel_destroy(it.kernel);
  }
}

static struct all of(symm_rank *rank) {
  struct all it = {.rank = rank};
  OK(symm_stream_create(rank, &it.stream));
  OK(symm_event_create(rank, &it.event));
  OK(symm_event_record(it.event, it.stream));
  OK(symm_kernel_host("nothing", nothing, &it.kernel));
  return it;
}

static symm_rank *join_alone(void) {
  symm_rank *rank;
  OK(symm_join_threads(&OPTIONS, 1, &rank));
  return rank;
}

/* Null, what was never a handle, and one of something else. */
static void no_handles(void) {
  all_fail((struct all){0}, SYMM_INVALID, SYMM_INVALID, "is null");
  for (int i = 0; i < 4; i++) {
    void *no = (void *[]){(void *)1, (void *)0x10000000, (void *)-16, &i}[i];
    all_fail((struct all){no, no, no, no, no, no}, SYMM_INVALID, SYMM_INVALID, "is gone, or its handle is one of");
  }
  struct all it = of(join_alone());
  FAILS(symm_barrier((symm_rank *)it.stream), SYMM_INVALID, "the rank is gone, or its handle is one of something else");
  FAILS(symm_stream_barrier((symm_stream *)it.rank), SYMM_INVALID, "the stream is gone");
  FAILS(symm_leave((symm_rank *)it.event), SYMM_INVALID, "the rank is gone");
  symm_abandon((symm_rank *)it.stream);
  symm_stream_destroy((symm_stream *)it.event);
  OK(symm_event_await(it.event, it.stream));
  OK(symm_leave(it.rank));
}

/* Places for results, and pointers to what is read. */
static void no_places(void) {
  struct all it = of(join_alone());
  const symm_grid grid = {.blocks = {1, 1, 1}, .threads = {1, 1, 1}};
  symm_module *module;
  symm_kernel *kernel;
  const char *place = "is null";
  FAILS(symm_join(&OPTIONS, NULL), SYMM_INVALID, place);
  FAILS(symm_join_threads(&OPTIONS, 1, NULL), SYMM_INVALID, place);
  FAILS(symm_get_info(it.rank, NULL), SYMM_INVALID, place);
  FAILS(symm_alloc(it.rank, 8, 0, NULL), SYMM_INVALID, place);
  void *data;
  OK(symm_alloc(it.rank, 8, 0, &data));
  FAILS(symm_as_remote(it.rank, data, 0, NULL), SYMM_INVALID, place);
  FAILS(symm_read(it.rank, data, NULL, 8), SYMM_INVALID, place);
  FAILS(symm_read(it.rank, NULL, &data, 8), SYMM_INVALID, "not in one rank's heap");
  FAILS(symm_write(it.rank, data, NULL, 8), SYMM_INVALID, place);
  FAILS(symm_broadcast(it.rank, 0, NULL, 8), SYMM_INVALID, place);
  FAILS(symm_stream_own(it.rank, NULL), SYMM_INVALID, place);
  FAILS(symm_stream_create(it.rank, NULL), SYMM_INVALID, place);
  FAILS(symm_stream_borrow(it.rank, NULL, NULL), SYMM_INVALID, place);
  FAILS(symm_stream_is_done(it.stream, NULL), SYMM_INVALID, place);
  FAILS(symm_event_create(it.rank, NULL), SYMM_INVALID, place);
  FAILS(symm_event_has_happened(it.event, NULL), SYMM_INVALID, place);
  FAILS(symm_event_milliseconds(it.event, it.event, NULL), SYMM_INVALID, place);
  FAILS(symm_event_milliseconds(NULL, it.event, NULL), SYMM_INVALID, place);
  FAILS(symm_module_load(it.rank, NULL, "x", 1, &module), SYMM_INVALID, place);
  FAILS(symm_module_load(it.rank, "m", NULL, 1, &module), SYMM_INVALID, place);
  FAILS(symm_kernel_host(NULL, nothing, &kernel), SYMM_INVALID, place);
  FAILS(symm_kernel_host("\xff", nothing, &kernel), SYMM_INVALID, "not in UTF-8");
  FAILS(symm_kernel_host("k", nothing, NULL), SYMM_INVALID, place);
  FAILS(symm_set_call_site("\xff"), SYMM_INVALID, "not in UTF-8");
  FAILS(symm_launch(it.stream, NULL, &grid, NULL, 0), SYMM_INVALID, place);
  FAILS(symm_launch(it.stream, it.kernel, NULL, NULL, 0), SYMM_INVALID, place);
  FAILS(symm_launch(it.stream, it.kernel, &grid, NULL, 1), SYMM_INVALID, place);
  OK(symm_leave(it.rank));
}

static void sizes(void) {
  struct all it = of(join_alone());
  symm_module *module;
  symm_rank *ranks[1];
  void *data;
  char bytes[8];
  OK(symm_alloc(it.rank, 64, 0, &data));
  for (int i = 0; i < 3; i++) {
    const size_t many = (const size_t[]){SIZE_MAX, (size_t)PTRDIFF_MAX + 1, SIZE_MAX - 4095}[i];
    FAILS(symm_alloc(it.rank, many, 0, &data), SYMM_OUT_OF_MEMORY, "asked for");
    FAILS(symm_alloc(it.rank, 8, many, &data), SYMM_INVALID, "alignment");
    FAILS(symm_read(it.rank, data, bytes, many), SYMM_INVALID, "bytes");
    FAILS(symm_write(it.rank, data, bytes, many), SYMM_INVALID, "bytes");
    FAILS(symm_broadcast(it.rank, 0, bytes, many), SYMM_INVALID, "bytes");
    FAILS(symm_stream_copy(it.stream, data, bytes, many), SYMM_INVALID, "bytes");
    FAILS(symm_module_load(it.rank, "m", bytes, many, &module), SYMM_INVALID, "bytes");
    symm_options options = OPTIONS;
    options.heap_size = many;
    CHECK(symm_join_threads(&options, 1, ranks) != SYMM_OK);
  }
  FAILS(symm_read(it.rank, data, bytes, 8 << 20), SYMM_INVALID, "not in one rank's heap");
  FAILS(symm_as_remote(it.rank, data, UINT32_MAX, &data), SYMM_INVALID, "rank 4294967295 out of range");
  FAILS(symm_broadcast(it.rank, UINT32_MAX, bytes, 8), SYMM_INVALID, "rank 4294967295 out of range");
  FAILS(symm_join_threads(&OPTIONS, UINT32_MAX, ranks), SYMM_INVALID, "4294967295 ranks");
  symm_options options = OPTIONS;
  options.timeout = NAN;
  FAILS(symm_join_threads(&options, 1, ranks), SYMM_INVALID, "a timeout of NaN seconds");
  symm_grid grid = {.blocks = {0, 1, 1}, .threads = {1, 1, 1}};
  FAILS(symm_launch(it.stream, it.kernel, &grid, NULL, 0), SYMM_INVALID, "grid [");
  for (int i = 0; i < 3; i++) grid.blocks[i] = UINT32_MAX;
  FAILS(symm_launch(it.stream, it.kernel, &grid, NULL, 0), SYMM_INVALID, "grid [");
  grid = (symm_grid){.blocks = {1, 1, 1}, .threads = {UINT32_MAX, UINT32_MAX, UINT32_MAX}};
  FAILS(symm_launch(it.stream, it.kernel, &grid, NULL, 0), SYMM_INVALID, "threads");
  grid.threads[0] = grid.threads[1] = grid.threads[2] = 1;
  const void *const args[1] = {&data};
  FAILS(symm_launch(it.stream, it.kernel, &grid, args, UINT32_MAX), SYMM_INVALID, "4294967295 arguments");
  OK(symm_launch(it.stream, it.kernel, &grid, args, 1));
  OK(symm_leave(it.rank));
}

static void after_the_end(void) {
  struct all it = of(join_alone());
  OK(symm_leave(it.rank));
  /* Its stream is still there; the rank is not. */
  FAILS(symm_stream_barrier(it.stream), SYMM_INVALID, "rank 0 has left the run");
  FAILS(symm_event_record(it.event, it.stream), SYMM_INVALID, "rank 0 has left the run");
  symm_stream_destroy(it.stream);
  symm_event_destroy(it.event);
  symm_kernel_destroy(it.kernel);
  /* Those of a second run are others. */
  struct all next = of(join_alone());
  it.graph = (symm_graph *)it.rank, it.module = (symm_module *)it.rank;
  all_fail(it, SYMM_INVALID, SYMM_INVALID, "is gone");
  OK(symm_barrier(next.rank));
  symm_abandon(next.rank);
  symm_abandon(next.rank);
  FAILS(symm_stream_barrier(next.stream), SYMM_STOPPED, "rank 0 was dropped without leaving the run");
}

static void after_a_failure(void) {
  symm_rank *ranks[2];
  OK(symm_join_threads(&OPTIONS, 2, ranks));
  struct all it = of(ranks[0]);
  symm_abandon(ranks[1]);
  all_fail(it, SYMM_STOPPED, SYMM_STOPPED, "rank 1 was dropped without leaving the run");
  symm_rank_info info;
  OK(symm_get_info(it.rank, &info));
  CHECK(info.num_ranks == 2);
  FAILS(symm_leave(it.rank), SYMM_STOPPED, "rank 1 was dropped");
  FAILS(symm_leave(it.rank), SYMM_INVALID, "the rank is gone");
  symm_stream_destroy(it.stream);
  symm_event_destroy(it.event);
  symm_kernel_destroy(it.kernel);
}

static void *meet(void *rank) { return (void *)(intptr_t)symm_barrier(rank); }

static void *leave(void *rank) { return (void *)(intptr_t)symm_leave(rank); }

static int met(pthread_t thread) {
  void *status;
  CHECK(!pthread_join(thread, &status));
  return (int)(intptr_t)status;
}

/* While one thread waits for rank 1, another makes calls for the same rank. */
static void on_two_threads(void) {
  symm_rank *ranks[2];
  pthread_t waits, other;
  OK(symm_join_threads(&OPTIONS, 2, ranks));
  CHECK(!pthread_create(&waits, NULL, meet, ranks[0]));
  usleep(200000);
  FAILS(symm_leave(ranks[0]), SYMM_INVALID, "the rank is in another call");
  FAILS(symm_barrier(ranks[0]), SYMM_INVALID, "another thread");
  OK(symm_barrier(ranks[1]));
  CHECK(met(waits) == SYMM_OK);
  CHECK(!pthread_create(&waits, NULL, meet, ranks[0]));
  usleep(200000);
  symm_abandon(ranks[0]);
  CHECK(met(waits) == SYMM_STOPPED);
  FAILS(symm_barrier(ranks[0]), SYMM_INVALID, "the rank is gone");
  FAILS(symm_leave(ranks[1]), SYMM_STOPPED, "rank 0 was dropped");

  /* Both leave at once: one of them does. */
  OK(symm_join_threads(&OPTIONS, 1, ranks));
  CHECK(!pthread_create(&other, NULL, leave, ranks[0]));
  int mine = symm_leave(ranks[0]), theirs = met(other);
  CHECK(mine + theirs == SYMM_INVALID && mine * theirs == 0);
}

/* A call that waits asks the program, which makes calls itself. */
static symm_rank *asker;
static atomic_int answers;
static int asks(void) {
  if (atomic_load(&answers)) return 0;
  FAILS(symm_barrier(asker), SYMM_INVALID, "is already in a call for rank");
  FAILS(symm_leave(asker), SYMM_INVALID, "the rank is in another call");
  symm_rank_info info;
  OK(symm_get_info(asker, &info));
  atomic_store(&answers, 1);
  return 0;
}

static void within_a_call(void) {
  symm_rank *ranks[2];
  pthread_t waits;
  OK(symm_join_threads(&OPTIONS, 2, ranks));
  asker = ranks[0];
  symm_set_interrupt(asks);
  CHECK(!pthread_create(&waits, NULL, meet, ranks[0]));
  while (!atomic_load(&answers)) usleep(1000);
  symm_set_interrupt(NULL);
  OK(symm_barrier(ranks[1]));
  CHECK(met(waits) == SYMM_OK);
  symm_abandon(ranks[0]);
  symm_abandon(ranks[1]);
}

/* A kernel that makes calls for the rank that waits for it. */
static void calls(const void *const *args, const symm_coords *at) {
  symm_rank *rank = *(symm_rank *const *)args[0];
  (void)at;
  FAILS(symm_barrier(rank), SYMM_INVALID, "is already in a call for rank");
  FAILS(symm_leave(rank), SYMM_INVALID, "is already in a call for rank");
}

static void within_a_kernel(void) {
  struct all it = of(join_alone());
  const symm_grid grid = {.blocks = {1, 1, 1}, .threads = {1, 1, 1}};
  const void *const args[1] = {&it.rank};
  symm_kernel *kernel;
  OK(symm_kernel_host("calls", calls, &kernel));
  OK(symm_launch(it.stream, kernel, &grid, args, 1));
  OK(symm_barrier(it.rank));
  OK(symm_leave(it.rank));
}

static atomic_int over;
static void *makes_handles(void *rank) {
  while (!atomic_load(&over)) {
    symm_stream *stream;
    OK(symm_stream_own(rank, &stream));
    symm_stream_destroy(stream);
  }
  return NULL;
}

/* Children of a process whose other thread is in the middle of something. */
static void forked(void) {
  enum { CHILDREN = 200 };
  struct all it = of(join_alone());
  pthread_t maker;
  CHECK(!pthread_create(&maker, NULL, makes_handles, it.rank));
  for (int i = 0; i < CHILDREN; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      all_fail(it, SYMM_INVALID, SYMM_INVALID, "this process was forked from rank 0");
      symm_stream_destroy(it.stream);
      if (i % 2) symm_abandon(it.rank); else OK(symm_leave(it.rank));
      FAILS(symm_barrier(it.rank), SYMM_INVALID, "the rank is gone");
      _exit(0);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  }
  atomic_store(&over, 1);
  CHECK(!pthread_join(maker, NULL));
  OK(symm_barrier(it.rank));
  OK(symm_leave(it.rank));
}

/* At the end of a thread, and of the process: a handle that is gone, and ranks of a run that has failed. */
static symm_rank *ranks_at_the_end[2];

static void at_an_end(void *unused) {
  (void)unused;
  struct all none = {0};
  all_fail(none, SYMM_INVALID, SYMM_INVALID, "is null");
  FAILS(symm_barrier(ranks_at_the_end[1]), SYMM_INVALID, "the rank is gone");
  FAILS(symm_barrier(ranks_at_the_end[0]), SYMM_STOPPED, "rank 1 was dropped without leaving the run");
}

static void at_the_end(void) {
  at_an_end(NULL);
  FAILS(symm_leave(ranks_at_the_end[0]), SYMM_STOPPED, "rank 1 was dropped");
  FAILS(symm_leave(ranks_at_the_end[0]), SYMM_INVALID, "the rank is gone");
  printf("ended\n");
}

static pthread_key_t key;
static void *ends(void *unused) {
  CHECK(!pthread_setspecific(key, &key));
  return unused;
}

static void prepare_the_end(void) {
  pthread_t thread;
  CHECK(!atexit(at_the_end) && !pthread_key_create(&key, at_an_end));
  OK(symm_join_threads(&OPTIONS, 2, ranks_at_the_end));
  symm_abandon(ranks_at_the_end[1]);
  CHECK(!pthread_create(&thread, NULL, ends, NULL) && !pthread_join(thread, NULL));
}

int main(void) {
  alarm(60); /* a call that hangs */
  CHECK(symm_last_error() && !*symm_last_error());
  no_handles();
  no_places();
  sizes();
  after_the_end();
  after_a_failure();
  on_two_threads();
  within_a_call();
  within_a_kernel();
  forked();
  prepare_the_end();
  return 0;
}
