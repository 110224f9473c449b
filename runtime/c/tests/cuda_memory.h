// Memory: heaps, handles that other processes open, and the host's. A part of cuda.c.

struct properties { int type, handles, place, device; void *windows; unsigned char flags[8]; };

int cuMemCreate(struct memory **memory, size_t bytes, const struct properties *p, unsigned long long flags) {
  CHECK(p->type == 1 && p->handles == 1 && p->place == 1 && p->device == current->device, INVALID_VALUE);
  CHECK(!flags && bytes && bytes % UNIT == 0, INVALID_VALUE);
  *memory = make(sizeof **memory);
  (*memory)->fd = memfd_create("stand-in", MFD_CLOEXEC);
  return ftruncate((*memory)->fd, (off_t)bytes) ? INVALID_VALUE : 0;
}

int cuMemExportToShareableHandle(int *fd, struct memory *memory, int kind, unsigned long long flags) {
  CHECK(kind == 1 && !flags, INVALID_VALUE);
  *fd = fcntl(memory->fd, F_DUPFD_CLOEXEC, 0);
  return 0;
}

int cuMemImportFromShareableHandle(struct memory **memory, void *handle, int kind) {
  int copy = fcntl((int)(intptr_t)handle, F_DUPFD_CLOEXEC, 0);
  CHECK(kind == 1 && copy >= 0, INVALID_VALUE);
  *memory = make(sizeof **memory);
  (*memory)->fd = copy;
  return 0;
}

int cuMemRelease(struct memory *memory) { close(memory->fd); return end(memory); }

static char *addresses(size_t bytes) {
  char *all = mmap(0, bytes + UNIT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return all + -(uintptr_t)all % UNIT;
}

int cuMemAddressReserve(char **start, size_t bytes, size_t align, void *wish, unsigned long long flags) {
  CHECK(bytes && bytes % UNIT == 0 && align == UNIT && !wish && !flags, INVALID_VALUE);
  *start = addresses(bytes);
  live++;
  return 0;
}

int cuMemAddressFree(void *start, size_t bytes) { munmap(start, bytes); live--; return 0; }

int cuMemMap(void *at, size_t bytes, size_t offset, struct memory *memory, unsigned long long flags) {
  CHECK(!offset && !flags && bytes % UNIT == 0, INVALID_VALUE);
  live++;
  return mmap(at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->fd, 0) == MAP_FAILED ? INVALID_VALUE : 0;
}

struct access { int place, device, flags; };

int cuMemSetAccess(void *at, size_t bytes, const struct access *access, size_t count) {
  for (size_t i = 0; i < count; i++) CHECK(access[i].place == 1 && access[i].flags == 3, INVALID_VALUE);
  return !count || mprotect(at, bytes, PROT_READ | PROT_WRITE) ? INVALID_VALUE : 0;
}

int cuMemUnmap(void *at, size_t bytes) {
  mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  live--;
  return 0;
}

// An allocation's size, descriptor and process are in its last bytes, after what was asked for.
struct tail { size_t bytes; int fd, process; };

static int place(void **memory, int fd, size_t bytes) {
  char *at = addresses(bytes + UNIT);
  at = mmap(at, bytes + UNIT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  *memory = at;
  live++;
  return at == MAP_FAILED ? INVALID_VALUE : 0;
}

int cuMemAlloc_v2(void **memory, size_t bytes) {
  int fd = memfd_create("stand-in", 0);
  struct tail tail = {bytes, fd, getpid()};
  CHECK(current && bytes % UNIT == 0 && !ftruncate(fd, (off_t)(bytes + UNIT)), INVALID_VALUE);
  int status = place(memory, fd, bytes);
  memcpy((char *)*memory + bytes, &tail, sizeof tail);
  return status;
}

// Mapped until the process ends.
int cuMemFree_v2(void *memory) { live--; return memory ? 0 : INVALID_VALUE; }

int cuIpcGetMemHandle(char handle[64], char *memory) {
  // Only heaps are asked for, which all have one size here.
  size_t bytes = 64 << 20;
  struct tail tail;
  memcpy(&tail, memory + bytes, sizeof tail);
  CHECK(tail.bytes == bytes, INVALID_VALUE);
  snprintf(handle, 64, "%zu /proc/%d/fd/%d", bytes, tail.process, tail.fd);
  return 0;
}

struct handle { char text[64]; };

int cuIpcOpenMemHandle_v2(void **memory, struct handle handle, unsigned flags) {
  size_t bytes;
  char path[64], own[32];
  CHECK(flags == 1 && sscanf(handle.text, "%zu %63s", &bytes, path) == 2, INVALID_VALUE);
  snprintf(own, sizeof own, "/proc/%d/", getpid());
  CHECK(strncmp(path, own, strlen(own)), INVALID_CONTEXT);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0, INVALID_HANDLE);
  return place(memory, fd, bytes);
}

int cuIpcCloseMemHandle(void *memory) { return cuMemFree_v2(memory); }

int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  *memory = make(bytes);
  return flags == 3 ? 0 : INVALID_VALUE;
}

int cuMemFreeHost(void *memory) { return end(memory); }

int cuMemAllocAsync(void **memory, size_t bytes, struct stream *stream) {
  CHECK(!misplaced(stream), INVALID_HANDLE);
  *memory = make(bytes);
  return 0;
}

int cuMemFreeAsync(void *memory, struct stream *stream) {
  CHECK(!misplaced(stream), INVALID_HANDLE);
  return end(memory);
}
