// Stands in for NVIDIA's libcuda.so, for test/device/graphs.c and devices.c: devices are memory of this process, heaps
// are memfds, streams are threads, and the kernels are those below. What it is given is checked; what is left at the
// end of a process that went well makes it one that did not. With STAND_IN_LOADS_NOTHING it takes no code.

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { INVALID_VALUE = 1, INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600 };
enum { PEER_ALREADY_ENABLED = 704, NOT_IN_CAPTURE = 900, DEVICES = 2, UNIT = 2 << 20, MAX_STEPS = 512 };
enum { PAD_WORDS = UNIT / 8 };
#define CHECK(condition, status) do { if (!(condition)) { complain(__func__, #condition); return status; } } while (0)

struct context { int device; unsigned peers; } contexts[DEVICES] = {{0, 0}, {1, 0}};
struct memory { int fd; };
struct module { int device; char *image; };
struct function { int device; const char *name; int parameters, loaded; };
struct event { int device; _Atomic int recorded; };
// A launch, an event, a copy, or from nothing: zeros.
struct step {
  const struct function *function;
  uint64_t values[32];
  unsigned blocks;
  struct event *event;
  void *to;
  const void *from;
  size_t bytes;
  struct step *next;
};
struct graph { int count, device; struct step steps[MAX_STEPS]; };
struct stream {
  int device, ends;
  struct graph *records;
  pthread_t worker;
  pthread_mutex_t lock;
  pthread_cond_t more;
  // What is to be done, the first of which is being done.
  struct step *first, **last;
};

static _Thread_local struct context *current;
static _Atomic int live;

static void complain(const char *function, const char *what) {
  fprintf(stderr, "stand-in: %s: not %s\n", function, what);
}

static void *make(size_t bytes) { live++; return calloc(1, bytes); }
static int end(void *object) { live--; free(object); return 0; }
static int misplaced(const struct stream *stream) { return !stream || !current || stream->device != current->device; }

__attribute__((destructor)) static void look(void) {
  if (!live) return;
  fprintf(stderr, "stand-in: %d objects are left\n", live);
  _exit(3);
}

// The driver looks at its environment here and never again: a kernel that is loaded when it is first launched would
// wait for those that wait for it.
int cuInit(unsigned flags) {
  const char *loading = getenv("CUDA_MODULE_LOADING");
  CHECK(loading && !strcmp(loading, "EAGER"), INVALID_VALUE);
  return flags;
}

int cuDriverGetVersion(int *version) { *version = 12080; return 0; }
int cuDeviceGetCount(int *count) { *count = DEVICES; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int bytes, int device) { snprintf(name, bytes, "Stand-in %d", device); return 0; }

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  switch (attribute) {
  case 16: *value = 4; return 0;
  case 75: *value = 9; return 0;
  case 76: *value = 0; return 0;
  case 102: case 103: *value = 1; return 0;
  }
  CHECK(!"an attribute that is known", INVALID_VALUE);
}

int cuDevicePrimaryCtxRetain(struct context **context, int device) { *context = &contexts[device]; return 0; }
int cuCtxSetCurrent(struct context *context) { current = context; return 0; }
int cuCtxGetCurrent(struct context **context) { *context = current; return 0; }

int cuDeviceGetUuid_v2(char uuid[16], int device) { memset(uuid, 1 + device, 16); return 0; }
int cuDeviceCanAccessPeer(int *can, int from, int to) { *can = from != to; return 0; }

int cuCtxEnablePeerAccess(struct context *peer, unsigned flags) {
  CHECK(current && peer != current && !flags, INVALID_CONTEXT);
  unsigned bit = 1u << peer->device, before = current->peers;
  current->peers |= bit;
  return before & bit ? PEER_ALREADY_ENABLED : 0;
}

#include "cuda_memory.h"

#include "cuda_kernels.h"

// ---- Code and launches ----

static struct function functions[DEVICES][4] = {
    {{0, "ring", 26, 0}, {0, "meet", 16, 0}, {0, "symm_barrier", 1, 0}, {0, "hang", 1, 0}},
    {{1, "ring", 26, 0}, {1, "meet", 16, 0}, {1, "symm_barrier", 1, 0}, {1, "hang", 1, 0}},
};

int cuModuleLoadDataEx(struct module **module, const char *image, unsigned count, int *options, void **values) {
  CHECK(count == 2 && options && values && current, INVALID_VALUE);
  if (getenv("STAND_IN_LOADS_NOTHING")) return INVALID_VALUE;
  *module = make(sizeof **module);
  (*module)->device = current->device;
  (*module)->image = strdup(image);
  return 0;
}

int cuModuleUnload(struct module *module) { free(module->image); return end(module); }

int cuModuleGetFunction(struct function **function, struct module *module, const char *name) {
  char entry[64];
  snprintf(entry, sizeof entry, ".visible .entry %s(", name);
  CHECK(strstr(module->image, entry), NOT_FOUND);
  for (int i = 0; i < 4; i++)
    if (!strcmp((*function = &functions[module->device][i])->name, name)) return 0;
  return NOT_FOUND;
}

int cuModuleGetGlobal_v2(void **at, size_t *bytes, struct module *module, const char *name) {
  (void)at, (void)bytes, (void)module, (void)name;
  return NOT_FOUND;
}

// Somebody else has started CUDA before, without eager loading.
int cuFuncLoad(struct function *function) { CHECK(current, INVALID_CONTEXT); function->loaded = 1; return 0; }

int cuFuncSetAttribute(struct function *function, int attribute, int value) {
  return function && attribute == 8 && value ? 0 : INVALID_VALUE;
}

// The most threads of a block, and the registers that each takes.
int cuFuncGetAttribute(int *value, int attribute, struct function *function) {
  *value = attribute == 0 ? 1024 : 32;
  return function && function->loaded && (attribute == 0 || attribute == 4) ? 0 : INVALID_VALUE;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, struct function *function, int threads, size_t shared) {
  *blocks = 8;
  return function && threads > 0 && !shared ? 0 : INVALID_VALUE;
}

static int launch(struct function *function, const unsigned *dims, struct stream *stream, void **parameters) {
  for (int i = 0; i < 6; i++) CHECK(dims[i] == 1 || i % 3 == 0, INVALID_VALUE);
  CHECK(function->device == current->device, INVALID_HANDLE);
  // Loading waits for what runs, which may wait for this.
  CHECK(function->loaded, NOT_FOUND);
  struct step step = {.function = function, .blocks = dims[0]};
  for (int i = 0; i < function->parameters; i++) memcpy(&step.values[i], parameters[i], 8);
  return give(stream, &step);
}

int cuLaunchKernel(struct function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, struct stream *stream, void **parameters, void **extra) {
  const unsigned dims[] = {gx, gy, gz, bx, by, bz};
  CHECK(!shared && !extra, INVALID_VALUE);
  if (!strcmp(function->name, "symm_barrier")) {
    const int64_t *ctx = **(const int64_t ***)parameters;
    CHECK(gx == 1 && bx == ctx[1], INVALID_VALUE);
  }
  return launch(function, dims, stream, parameters);
}

int cuLaunchCooperativeKernel(struct function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared, struct stream *stream, void **parameters) {
  const unsigned dims[] = {gx, gy, gz, bx, by, bz};
  CHECK(!shared && strcmp(function->name, "symm_barrier"), INVALID_VALUE);
  return launch(function, dims, stream, parameters);
}

// ---- Streams, events, graphs ----

int cuStreamCreate(struct stream **stream, unsigned flags) {
  CHECK(flags == 1 && current, INVALID_VALUE);
  *stream = make(sizeof **stream);
  (*stream)->device = current->device;
  (*stream)->last = &(*stream)->first;
  pthread_mutex_init(&(*stream)->lock, NULL);
  pthread_cond_init(&(*stream)->more, NULL);
  return pthread_create(&(*stream)->worker, NULL, work, *stream) ? INVALID_VALUE : 0;
}

int cuStreamDestroy_v2(struct stream *stream) {
  pthread_mutex_lock(&stream->lock);
  stream->ends = 1;
  pthread_cond_signal(&stream->more);
  pthread_mutex_unlock(&stream->lock);
  pthread_join(stream->worker, NULL);
  return end(stream);
}

int cuStreamQuery(struct stream *stream) {
  CHECK(!stream->records, NOT_IN_CAPTURE);
  pthread_mutex_lock(&stream->lock);
  int status = stream->first ? NOT_READY : 0;
  pthread_mutex_unlock(&stream->lock);
  return status;
}

int cuMemcpyAsync(void *to, const void *from, size_t bytes, struct stream *stream) {
  struct step step = {.to = to, .from = from, .bytes = bytes};
  return give(stream, &step);
}

int cuMemsetD8Async(void *at, unsigned char value, size_t bytes, struct stream *stream) {
  struct step step = {.to = at, .bytes = bytes};
  CHECK(!value && !stream->records, INVALID_VALUE);
  return give(stream, &step);
}

int cuEventCreate(struct event **event, unsigned flags) {
  CHECK(!flags && current, INVALID_VALUE);
  *event = make(sizeof **event);
  (*event)->device = current->device;
  return 0;
}

int cuEventDestroy_v2(struct event *event) { return end(event); }

int cuEventRecord(struct event *event, struct stream *stream) {
  struct step step = {.event = event};
  CHECK(event->device == current->device && !stream->records, INVALID_HANDLE);
  return give(stream, &step);
}

int cuEventQuery(struct event *event) { return event->recorded ? 0 : NOT_READY; }

int cuStreamWaitEvent(struct stream *stream, struct event *event, unsigned flags) {
  return misplaced(stream) || !event || flags ? INVALID_HANDLE : 0;
}

int cuEventElapsedTime(float *time, struct event *from, struct event *to) {
  CHECK(from->recorded && to->recorded, INVALID_HANDLE);
  *time = 1.5;
  return 0;
}

int cuStreamBeginCapture_v2(struct stream *stream, int mode) {
  CHECK(!misplaced(stream) && !stream->records && mode == 1, INVALID_VALUE);
  stream->records = make(sizeof *stream->records);
  stream->records->device = current->device;
  return 0;
}

int cuStreamEndCapture(struct stream *stream, struct graph **graph) {
  CHECK(stream->records, INVALID_HANDLE);
  *graph = stream->records;
  stream->records = 0;
  return 0;
}

int cuGraphInstantiateWithFlags(struct graph **made, const struct graph *graph, unsigned long long flags) {
  CHECK(!flags, INVALID_VALUE);
  *made = memcpy(make(sizeof *graph), graph, sizeof *graph);
  return 0;
}

int cuGraphLaunch(struct graph *graph, struct stream *stream) {
  CHECK(!misplaced(stream) && graph->device == current->device, INVALID_HANDLE);
  for (int i = 0; i < graph->count; i++) enqueue(stream, &graph->steps[i]);
  return 0;
}

int cuGraphDestroy(struct graph *graph) { return end(graph); }
int cuGraphExecDestroy(struct graph *graph) { return end(graph); }

int cuGetErrorName(int status, const char **name) { *name = 0; return status ? INVALID_VALUE : 0; }
int cuGetErrorString(int status, const char **text) { *text = 0; return status ? INVALID_VALUE : 0; }
