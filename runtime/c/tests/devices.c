/* On cuda.c in place of CUDA: the device that was current on a caller's thread stays so, and calls that wait for a
 * device end although a kernel there does not. */

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symm.h"

enum { RANKS = 2 };

#define MUST(condition)                                                                                                \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: not %s; %s\n", __FILE__, __LINE__, #condition, symm_last_error());                       \
      _exit(1);                                                                                                        \
    }                                                                                                                  \
  } while (0)
#define OK(call) MUST((call) == SYMM_OK)

static const char CODE[] = ".visible .entry hang(\n";
static int (*get)(void **), (*set)(void *), (*retain)(void **, int);
/* Whether one of the kernels is to be launched. */
static int hangs;

static void *current(void) {
  void *context = NULL;
  MUST(!get(&context));
  return context;
}

static void *context_of(uint32_t device) {
  void *context = NULL;
  MUST(!retain(&context, (int)device));
  return context;
}

static void every_call(symm_rank *rank, void *mine) {
  void *data;
  char bytes[64] = {0};
  symm_module *module;
  symm_kernel *kernel;
  symm_stream *stream;
  symm_event *event;
  OK(symm_alloc(rank, sizeof bytes, 0, &data));
  OK(symm_write(rank, data, bytes, sizeof bytes));
  OK(symm_read(rank, data, bytes, sizeof bytes));
  OK(symm_module_load(rank, "kernels", CODE, sizeof CODE, &module));
  OK(symm_module_kernel(module, "hang", &kernel));
  OK(symm_stream_create(rank, &stream));
  OK(symm_event_create(rank, &event));
  OK(symm_event_record(event, stream));
  OK(symm_stream_barrier(stream));
  OK(symm_stream_synchronize(stream));
  MUST(current() == mine);
  symm_event_destroy(event);
  symm_stream_destroy(stream);
  symm_kernel_destroy(kernel);
  symm_module_destroy(module);
  MUST(current() == mine);
  OK(symm_free(rank, data));
  OK(symm_leave(rank));
  MUST(current() == mine);
}

/* Rank 0's kernel does not end: every rank's next call says so. */
static void after_a_kernel_that_hangs(symm_rank *rank, const symm_rank_info *me) {
  symm_stream *stream;
  symm_module *module;
  symm_kernel *kernel;
  OK(symm_stream_own(rank, &stream));
  OK(symm_module_load(rank, "kernels", CODE, sizeof CODE, &module));
  OK(symm_module_kernel(module, "hang", &kernel));
  const symm_grid grid = {.blocks = {1, 1, 1}, .threads = {32, 1, 1}, .waits = 1};
  const void *const args[] = {&me->device_ctx};
  if (me->rank == 0) OK(symm_launch(stream, kernel, &grid, args, 1));
  void *data;
  MUST(symm_alloc(rank, 64, 0, &data) == SYMM_STOPPED);
  MUST(strstr(symm_last_error(), "rank 0: waits for its device"));
  MUST(strstr(symm_last_error(), "not finished after 2s"));
  MUST(symm_stream_synchronize(stream) == SYMM_STOPPED);
}

static void *work(void *handle) {
  symm_rank *rank = handle;
  symm_rank_info me;
  OK(symm_get_info(rank, &me));
  void *other = context_of(RANKS - 1 - me.rank);
  MUST(!set(other));
  if (hangs) after_a_kernel_that_hangs(rank, &me);
  else every_call(rank, other);
  return NULL;
}

int main(int argc, char **argv) {
  alarm(60); /* a call that hangs */
  (void)argv;
  hangs = argc > 1;
  void *library = dlopen("libcuda.so", RTLD_NOW);
  MUST(library);
  *(void **)&get = dlsym(library, "cuCtxGetCurrent");
  *(void **)&set = dlsym(library, "cuCtxSetCurrent");
  *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
  MUST(get && set && retain && !set(context_of(1)));
  const symm_options options = {.driver = SYMM_CUDA, .timeout = hangs ? 2 : 20};
  symm_rank *ranks[RANKS];
  OK(symm_join_threads(&options, RANKS, ranks));
  MUST(current() == context_of(1));
  pthread_t threads[RANKS];
  for (int i = 0; i < RANKS; i++) MUST(!pthread_create(&threads[i], NULL, work, ranks[i]));
  for (int i = 0; i < RANKS; i++) MUST(!pthread_join(threads[i], NULL));
  puts("ended");
  fflush(stdout);
  /* What hangs is left as it is. */
  if (hangs) _exit(0);
  return 0;
}
