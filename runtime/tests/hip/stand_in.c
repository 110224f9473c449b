// Stands in for AMD's libamdhip64.so: devices are memory of this process, heaps are memfds, and a "code object" is a
// text with a line for each kernel: its name and the sizes of its parameters. Written against the header that
// src/driver/gpu/hip/library.rs names, and apart from it, so that the two check each other.

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, INVALID_IMAGE = 200, INVALID_HANDLE = 400 };
enum { NOT_FOUND = 500, NOT_READY = 600, ALREADY_ENABLED = 704, LAUNCH_FAILURE = 719 };
enum { NOT_IN_CAPTURE = 900, NO_CAPTURE = 903 };
enum { MAX_LAUNCHES = 64, MAX_VALUES = 24, MAX_STEPS = 16, UNIT = 2 << 20 };

// What exists: memory, exported or imported; addresses; mappings; host memory; device memory; streams; modules;
// events; graphs, recorded or made to be launched; memory that can be opened; memory that was.
enum { MEMORY, ADDRESSES, MAPPINGS, HOST, DEVICE, STREAMS, MODULES, EVENTS, GRAPHS, PLAIN, OPENED, KINDS };

struct launch {
  char name[32];
  uint32_t device, cooperative, grid[3], block[3], shared, count;
  // Parameters, extended with zeros.
  uint64_t values[MAX_VALUES];
  // The first words of the context table that the first parameter points to.
  int64_t table[5];
};

// Read and set by the tests, which have the same declaration.
struct state {
  int32_t devices, version, peers, uncached, maps, resident, gfx90a;
  // The number that device 0 of this process has on the machine; the others follow, around.
  int32_t first;
  // How long it takes to close memory of another process, in microseconds.
  int32_t slow_close;
  // Which test this is: threads of a run that has failed may still launch something.
  int32_t test;
  // What all of a device's streams answer after a kernel has brought it down.
  int32_t down[3];
  // The function that is to fail, on which device (-1: on all), after how many calls that succeed, and with what.
  char refuse[64];
  int32_t refuse_on, refuse_after, status;
  int64_t live[KINDS];
  // Bits of the devices that got access, and kinds of memory asked for.
  uint32_t access, kind;
  // Modules that were loaded, and bits of the pairs of devices of which the first got access to the second.
  uint32_t loaded, pairs;
  uint32_t launches;
  struct launch launch[MAX_LAUNCHES];
} stand_in = {.devices = 2, .version = 70151831, .peers = 1, .uncached = 1, .maps = 1, .resident = 2, .refuse_on = -1};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int current;

struct memory { int fd; };
struct event { int device, recorded; };
struct graph;
struct stream { int test, device, pending, status, hangs, busy; int64_t fails_at; struct graph *records; };
struct kernel { char name[32]; int count, size[MAX_VALUES], device; };
struct module { int device, count; struct kernel kernels[16]; char *sites; size_t sites_bytes; };
// A copy if there is no kernel.
struct step { const struct kernel *kernel; struct launch launch; void *to; const void *from; size_t bytes; };
struct graph { int count, device; struct step steps[MAX_STEPS]; };

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

// Each device's clock starts elsewhere, and is fast.
static int64_t device_now(int device) { return (device + 1) * 1000000000000000 + now() + now() / 8 * (device + 1); }

static void count(int kind, int by) { __atomic_add_fetch(&stand_in.live[kind], by, __ATOMIC_SEQ_CST); }

static int refused(const char *function, int device) {
  if (strcmp(stand_in.refuse, function) || (stand_in.refuse_on >= 0 && stand_in.refuse_on != device)) return 0;
  return __atomic_fetch_sub(&stand_in.refuse_after, 1, __ATOMIC_SEQ_CST) > 0 ? 0 : stand_in.status;
}

#define REFUSE_ON(device) do { int status = refused(__func__, device); if (status) return status; } while (0)
#define REFUSE() REFUSE_ON(current)

int hipInit(unsigned flags) { REFUSE(); return flags ? INVALID_VALUE : 0; }
int hipRuntimeGetVersion(int *version) { REFUSE(); *version = stand_in.version; return 0; }
int hipGetDeviceCount(int *devices) { REFUSE(); *devices = stand_in.devices; return 0; }

int hipGetDevice(int *device) { REFUSE(); *device = current; return 0; }

int hipSetDevice(int device) {
  REFUSE_ON(device);
  if (device < 0 || device >= stand_in.devices) return INVALID_DEVICE;
  current = device;
  return 0;
}

// hipDeviceProp_tR0600 up to what is asked for, field by field.
struct properties {
  char name[256], uuid[16], luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, until_arch[192];
  char gcnArchName[256];
};
_Static_assert(offsetof(struct properties, gcnArchName) == 1160, "the header's offset");

int hipGetDevicePropertiesR0600(struct properties *properties, int device) {
  REFUSE_ON(device);
  memset(properties, 0xa5, 1472);
  snprintf(properties->name, sizeof properties->name, "Stand-in %d", device);
  memset(properties->uuid, 1 + (device + stand_in.first) % stand_in.devices, sizeof properties->uuid);
  strcpy(properties->gcnArchName, stand_in.gfx90a ? "gfx90a:sramecc+:xnack-" : "gfx942:sramecc+:xnack-");
  properties->multiProcessorCount = 4;
  return 0;
}

int hipDeviceGetAttribute(int *value, int attribute, int device) {
  REFUSE_ON(device);
  if (attribute != 89) return INVALID_VALUE;
  *value = stand_in.maps;
  return 0;
}

int hipDeviceCanAccessPeer(int *can, int from, int to) {
  REFUSE_ON(from);
  *can = from != to && stand_in.peers;
  return 0;
}

#include "stand_in_memory.h"

static int misplaced(const struct stream *stream) { return !stream || stream->device != current; }

int hipMallocAsync(void **memory, size_t bytes, struct stream *stream) {
  REFUSE();
  if (misplaced(stream)) return INVALID_HANDLE;
  *memory = malloc(bytes);
  count(DEVICE, 1);
  return 0;
}

int hipFreeAsync(void *memory, struct stream *stream) {
  REFUSE();
  if (misplaced(stream)) return INVALID_HANDLE;
  free(memory);
  count(DEVICE, -1);
  return 0;
}

int hipStreamCreateWithFlags(struct stream **stream, unsigned flags) {
  REFUSE();
  *stream = calloc(1, sizeof **stream);
  (*stream)->test = stand_in.test;
  (*stream)->device = current;
  count(STREAMS, 1);
  return flags != 1 ? INVALID_VALUE : 0;
}

int hipStreamDestroy(struct stream *stream) {
  REFUSE();
  while (stream->hangs || __atomic_load_n(&stream->busy, __ATOMIC_ACQUIRE)) sched_yield();
  free(stream);
  count(STREAMS, -1);
  return 0;
}

// Work is done when it is asked for; that it is not done when it is first asked about makes the driver ask again.
int hipStreamQuery(struct stream *stream) {
  REFUSE();
  if (stream->records) return NOT_IN_CAPTURE;
  if (stand_in.down[stream->device] && !stream->hangs) return stand_in.down[stream->device];
  if (stream->fails_at && now() >= stream->fails_at) return stand_in.down[stream->device] = LAUNCH_FAILURE;
  if (stream->hangs || stream->fails_at || __atomic_load_n(&stream->busy, __ATOMIC_ACQUIRE)) return NOT_READY;
  if (stream->pending) {
    stream->pending = 0;
    return NOT_READY;
  }
  return stream->status;
}

int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, struct stream *stream) {
  REFUSE();
  if (misplaced(stream) || kind != 4) return INVALID_HANDLE;
  if (stream->records) {
    stream->records->steps[stream->records->count++] = (struct step){.to = to, .from = from, .bytes = bytes};
    return 0;
  }
  memmove(to, from, bytes);
  stream->pending = 1;
  return 0;
}

int hipEventCreateWithFlags(struct event **event, unsigned flags) {
  REFUSE();
  *event = calloc(1, sizeof **event);
  (*event)->device = current;
  count(EVENTS, 1);
  return flags ? INVALID_VALUE : 0;
}

int hipEventDestroy(struct event *event) { REFUSE(); free(event); count(EVENTS, -1); return 0; }

int hipEventRecord(struct event *event, struct stream *stream) {
  REFUSE();
  if (misplaced(stream) || event->device != current) return INVALID_HANDLE;
  event->recorded++;
  return 0;
}

int hipEventQuery(struct event *event) { REFUSE(); return event->recorded ? 0 : NOT_READY; }

int hipEventElapsedTime(float *time, struct event *from, struct event *to) {
  REFUSE();
  *time = 1.5;
  return from->recorded && to->recorded ? 0 : INVALID_HANDLE;
}

int hipStreamWaitEvent(struct stream *stream, struct event *event, unsigned flags) {
  REFUSE();
  return misplaced(stream) || !event->recorded || flags ? INVALID_HANDLE : 0;
}

int hipStreamBeginCapture(struct stream *stream, int mode) {
  REFUSE();
  if (misplaced(stream) || stream->records || mode != 1) return INVALID_VALUE;
  stream->records = calloc(1, sizeof *stream->records);
  stream->records->device = current;
  count(GRAPHS, 1);
  return 0;
}

int hipStreamEndCapture(struct stream *stream, struct graph **graph) {
  REFUSE();
  *graph = stream->records;
  stream->records = 0;
  return *graph ? 0 : NO_CAPTURE;
}

int hipGraphInstantiateWithFlags(struct graph **made, const struct graph *graph, unsigned long long flags) {
  REFUSE();
  *made = memcpy(malloc(sizeof *graph), graph, sizeof *graph);
  count(GRAPHS, 1);
  return flags ? INVALID_VALUE : 0;
}

int hipGraphDestroy(struct graph *graph) { REFUSE(); free(graph); count(GRAPHS, -1); return 0; }
int hipGraphExecDestroy(struct graph *graph) { REFUSE(); free(graph); count(GRAPHS, -1); return 0; }

int hipMemsetD8Async(void *at, unsigned char value, size_t bytes, struct stream *stream) {
  REFUSE();
  if (misplaced(stream)) return INVALID_HANDLE;
  memset(at, value, bytes);
  stream->pending = 1;
  return 0;
}

// Lines `name size size …`, an empty line, the name _symm_sites, then its texts, which end with an empty text.
int hipModuleLoadData(struct module **module, const char *image) {
  REFUSE();
  // What symm compiles for AMD GPUs comes as far as this.
  if (!strncmp(image, "\177ELF", 4)) return INVALID_IMAGE;
  struct module *m = *module = calloc(1, sizeof *m);
  m->device = current;
  count(MODULES, 1);
  __atomic_add_fetch(&stand_in.loaded, 1, __ATOMIC_SEQ_CST);
  while (*image && *image != '\n') {
    struct kernel *kernel = &m->kernels[m->count++];
    int used = 0, size;
    if (sscanf(image, "%31s%n", kernel->name, &used) != 1) return INVALID_VALUE;
    for (image += used; *image == ' ' && sscanf(image, "%d%n", &size, &used) == 1; image += used)
      kernel->size[kernel->count++] = size;
    kernel->device = current;
    image += *image == '\n';
  }
  if (*image) {
    const char *start = strchr(++image, '\n') + 1;
    image = start;
    while (*image) image += strlen(image) + 1;
    m->sites_bytes = image - start;
    m->sites = memcpy(malloc(m->sites_bytes + 1), start, m->sites_bytes);
  }
  return 0;
}

int hipModuleUnload(struct module *module) {
  REFUSE();
  if (module->device != current) return INVALID_HANDLE;
  free(module->sites);
  free(module);
  count(MODULES, -1);
  return 0;
}

int hipModuleGetFunction(struct kernel **kernel, struct module *module, const char *name) {
  REFUSE();
  for (int i = 0; i < module->count; i++)
    if (!strcmp((*kernel = &module->kernels[i])->name, name)) return 0;
  return NOT_FOUND;
}

int hipModuleGetGlobal(void **at, size_t *bytes, struct module *module, const char *name) {
  REFUSE();
  if (strcmp(name, "_symm_sites") || !module->sites_bytes) return NOT_FOUND;
  *at = module->sites;
  *bytes = module->sites_bytes;
  return 0;
}

// The most threads of a block of a kernel, 256 of `hungry`, or the registers that each takes.
int hipFuncGetAttribute(int *value, int which, struct kernel *kernel) {
  REFUSE();
  int hungry = !strcmp(kernel->name, "hungry");
  *value = which == 0 ? (hungry ? 256 : 1024) : which == 4 ? (hungry ? 255 : 64) : -1;
  return *value < 0 ? INVALID_VALUE : 0;
}

int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, struct kernel *kernel, int threads, size_t shared) {
  REFUSE();
  *blocks = stand_in.resident;
  return !kernel || threads < 1 || shared > 65536 ? INVALID_VALUE : 0;
}

#include "stand_in_kernels.h"

int hipGraphLaunch(struct graph *graph, struct stream *stream) {
  REFUSE();
  if (misplaced(stream) || graph->device != current) return INVALID_HANDLE;
  for (struct step *step = graph->steps; step < graph->steps + graph->count; step++) {
    int status = step->kernel ? run(step->kernel, &step->launch, stream) : 0;
    if (status) return status;
    if (!step->kernel) memmove(step->to, step->from, step->bytes);
  }
  stream->pending = 1;
  return 0;
}

int hipModuleLaunchKernel(struct kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, struct stream *stream, void **parameters, void **extra) {
  REFUSE();
  const unsigned dims[] = {gx, gy, gz, bx, by, bz, shared};
  return extra ? INVALID_VALUE : start(kernel, dims, stream, parameters, 0);
}

int hipModuleLaunchCooperativeKernel(struct kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                     unsigned by, unsigned bz, unsigned shared, struct stream *stream,
                                     void **parameters) {
  REFUSE();
  const unsigned dims[] = {gx, gy, gz, bx, by, bz, shared};
  return start(kernel, dims, stream, parameters, 1);
}

static const struct { int status; const char *name, *text; } errors[] = {
    {INVALID_VALUE, "hipErrorInvalidValue", "invalid argument"},
    {OUT_OF_MEMORY, "hipErrorOutOfMemory", "out of memory"},
    {INVALID_DEVICE, "hipErrorInvalidDevice", "invalid device ordinal"},
    {INVALID_IMAGE, "hipErrorInvalidImage", "device kernel image is invalid"},
    {INVALID_HANDLE, "hipErrorInvalidHandle", "invalid resource handle"},
    {NOT_FOUND, "hipErrorNotFound", "named symbol not found"},
    {NOT_IN_CAPTURE, "hipErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {LAUNCH_FAILURE, "hipErrorLaunchFailure", "unspecified launch failure"},
};

const char *hipGetErrorName(int status) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].status == status) return errors[i].name;
  return 0;
}

const char *hipGetErrorString(int status) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].status == status) return errors[i].text;
  return 0;
}
