// Stands in for NVSHMEM's host library: memory of all ranks is one file of rank 0's, found by its number, and
// collective calls wait for all ranks, even for one that never comes. STAND_IN_NEAR ranks at a time see each other's
// memory; by default none does. The rank STAND_IN_DIES dies in the call STAND_IN_DIES_IN: init, align, free or
// finalize; with STAND_IN_HANGS it stays in it.

#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { UNIT = 2 << 20, RANKS = 128 };
struct id { int version; char path[124]; };
struct attributes {
  int version;
  void *communicator;
  int arguments, padding, id_version;
  const struct id *id;
  int rank, ranks;
};
struct meeting { _Atomic int arrived, generation; };

static struct meeting *meeting;
// Threads in a collective call.
static _Atomic int inside;
static int file = -1, rank, ranks;
static size_t heap_bytes;
static char *views[RANKS];

static int number(const char *name, int otherwise) {
  const char *value = getenv(name);
  return value ? atoi(value) : otherwise;
}

static void may_die(const char *call) {
  const char *in = getenv("STAND_IN_DIES_IN");
  if (rank == number("STAND_IN_DIES", -1) && !strcmp(in ? in : "init", call))
    getenv("STAND_IN_HANGS") ? pause() : raise(SIGKILL);
}

static void meet(void) {
  int generation = meeting->generation;
  if (++meeting->arrived == ranks) {
    meeting->arrived = 0;
    meeting->generation++;
  }
  inside++;
  while (meeting->generation == generation) usleep(100);
  inside--;
}

// The library's own would fail.
__attribute__((destructor)) static void look(void) {
  if (inside) fprintf(stderr, "stand-in: the library's destructors ran while a thread was in a call\n");
}

void nvshmemx_vendor_get_version_info(int *major, int *minor, int *patch) { *major = 3, *minor = 4, *patch = 5; }

int nvshmemx_get_uniqueid(struct id *id) {
  // Ranks on several hosts do not meet on one host's loopback.
  if (getenv("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME")) return 7;
  int made = memfd_create("stand-in", 0);
  snprintf(id->path, sizeof id->path, "/proc/%d/fd/%d", getpid(), made);
  return ftruncate(made, (off_t)1 << 40);
}

int nvshmemx_set_attr_uniqueid_args(int me, int of, const struct id *id, struct attributes *attributes) {
  attributes->rank = me, attributes->ranks = of, attributes->id = id;
  return 0;
}

int nvshmemx_hostlib_init_attr(unsigned flags, struct attributes *attributes) {
  rank = attributes->rank, ranks = attributes->ranks;
  if (flags != 8) return 2;
  may_die("init");
  file = open(attributes->id->path, O_RDWR | O_CLOEXEC);
  if (file < 0) return 1;
  meeting = mmap(0, UNIT, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  meet();
  return 0;
}

static char *view(int of) {
  if (views[of]) return views[of];
  char *all = mmap(0, heap_bytes + UNIT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  all += -(uintptr_t)all % UNIT;
  return views[of] = mmap(all, heap_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                          UNIT + (off_t)of * (off_t)heap_bytes);
}

void *nvshmem_align(size_t alignment, size_t bytes) {
  may_die("align");
  if (alignment != UNIT) return 0;
  heap_bytes = (bytes + UNIT - 1) / UNIT * UNIT;
  meet();
  return view(rank);
}

void *nvshmem_ptr(const void *at, int of) {
  int near = number("STAND_IN_NEAR", 1);
  return at == views[rank] && of / near == rank / near ? view(of) : 0;
}

int nvshmemx_cumodule_init(void *module) { return !module; }
void nvshmem_free(void *at) { may_die("free"); munmap(at, heap_bytes); meet(); }

void nvshmemx_hostlib_finalize(void) {
  may_die("finalize");
  meet();
  for (int of = 0; of < RANKS; of++) views[of] = 0;
  munmap(meeting, UNIT);
  close(file);
}
