// Memory: what can be mapped, what can be opened, and the host's. A part of stand_in.c.

struct location { int type, id; };
struct allocation {
  int type, handle;
  struct location location;
  void *windows;
  unsigned char compression, rdma;
  unsigned short usage;
};

static int wrong(const struct allocation *p) {
  return p->handle != 1 || p->location.type != 1 || p->location.id < 0 || p->location.id >= stand_in.devices ||
         p->windows || p->compression || p->rdma || p->usage;
}

int hipMemGetAllocationGranularity(size_t *unit, const struct allocation *p, int option) {
  REFUSE_ON(p->location.id);
  *unit = UNIT;
  return wrong(p) || option != 0 ? INVALID_VALUE : 0;
}

int hipMemCreate(struct memory **memory, size_t bytes, const struct allocation *p, unsigned long long flags) {
  REFUSE_ON(p->location.id);
  int known = p->type == 1 || (p->type == 0x40000000 && stand_in.uncached);
  if (!known || wrong(p) || flags || !bytes || bytes % UNIT) return INVALID_VALUE;
  stand_in.kind = p->type;
  *memory = malloc(sizeof **memory);
  (*memory)->fd = memfd_create("stand-in", MFD_CLOEXEC);
  count(MEMORY, 1);
  return ftruncate((*memory)->fd, bytes) ? OUT_OF_MEMORY : 0;
}

int hipMemExportToShareableHandle(int *fd, struct memory *memory, int kind, unsigned long long flags) {
  REFUSE();
  *fd = fcntl(memory->fd, F_DUPFD_CLOEXEC, 0);
  return kind != 1 || flags ? INVALID_VALUE : 0;
}

int hipMemImportFromShareableHandle(struct memory **memory, void *handle, int kind) {
  REFUSE();
  // From ROCm 7.1 on the descriptor itself, before that its address.
  int fd = stand_in.version >= 70100000 ? (int)(intptr_t)handle : *(int *)handle;
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (kind != 1 || copy < 0) return INVALID_VALUE;
  *memory = malloc(sizeof **memory);
  (*memory)->fd = copy;
  count(MEMORY, 1);
  return 0;
}

int hipMemRelease(struct memory *memory) {
  REFUSE();
  close(memory->fd);
  free(memory);
  count(MEMORY, -1);
  return 0;
}

int hipMemAddressReserve(void **start, size_t bytes, size_t align, void *wish, unsigned long long flags) {
  REFUSE();
  if (!bytes || bytes % UNIT || align != UNIT || wish || flags) return INVALID_VALUE;
  char *all = mmap(0, bytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return OUT_OF_MEMORY;
  size_t before = -(uintptr_t)all % align;
  if (before) munmap(all, before);
  if (align - before) munmap(all + before + bytes, align - before);
  *start = all + before;
  count(ADDRESSES, 1);
  return 0;
}

int hipMemAddressFree(void *start, size_t bytes) {
  REFUSE();
  if (stand_in.live[MAPPINGS]) return INVALID_VALUE;
  munmap(start, bytes);
  count(ADDRESSES, -1);
  return 0;
}

int hipMemMap(void *at, size_t bytes, size_t offset, struct memory *memory, unsigned long long flags) {
  REFUSE();
  if (offset || flags || bytes % UNIT) return INVALID_VALUE;
  // Nothing can use it before hipMemSetAccess.
  if (mmap(at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->fd, 0) == MAP_FAILED) return INVALID_VALUE;
  count(MAPPINGS, 1);
  return 0;
}

struct access { struct location location; int flags; };

int hipMemSetAccess(void *at, size_t bytes, const struct access *access, size_t number) {
  REFUSE();
  if (!number) return INVALID_VALUE;
  for (size_t i = 0; i < number; i++) {
    if (access[i].location.type != 1 || access[i].flags != 3) return INVALID_VALUE;
    __atomic_or_fetch(&stand_in.access, 1u << access[i].location.id, __ATOMIC_SEQ_CST);
  }
  return mprotect(at, bytes, PROT_READ | PROT_WRITE) ? INVALID_VALUE : 0;
}

int hipMemUnmap(void *at, size_t bytes) {
  REFUSE();
  mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  count(MAPPINGS, -1);
  return 0;
}

int hipHostMalloc(void **memory, size_t bytes, unsigned flags) {
  REFUSE();
  if (flags != 0x40000003) return INVALID_VALUE;
  *memory = memset(malloc(bytes), 0xa5, bytes);
  count(HOST, 1);
  return 0;
}

int hipHostFree(void *memory) { REFUSE(); free(memory); count(HOST, -1); return 0; }

// Memory that is not mapped at the caller's addresses: a memfd that another process finds through /proc.
enum { MOST_PLAIN = 16 };
static struct plain { void *at; size_t bytes; int fd, device, opened; } plains[MOST_PLAIN];

// How many processes have opened an allocation, in its memory after what was asked for.
static int32_t *openers(void *at, size_t bytes) { return (int32_t *)((char *)at + bytes); }

static int place(int fd, size_t bytes, int opened, void **memory) {
  for (struct plain *plain = plains; plain < plains + MOST_PLAIN; plain++) {
    if (plain->at) continue;
    char *all = mmap(0, bytes + 2 * UNIT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *at = all + -(uintptr_t)all % UNIT;
    at = mmap(at, bytes + UNIT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    if (at == MAP_FAILED) return OUT_OF_MEMORY;
    if (opened) __atomic_add_fetch(openers(at, bytes), 1, __ATOMIC_SEQ_CST);
    *plain = (struct plain){.at = at, .bytes = bytes, .fd = fd, .device = current, .opened = opened};
    *memory = at;
    count(opened ? OPENED : PLAIN, 1);
    return 0;
  }
  return OUT_OF_MEMORY;
}

static int drop(void *memory, int opened) {
  for (struct plain *plain = plains; plain < plains + MOST_PLAIN; plain++) {
    if (plain->at != memory || plain->opened != opened || plain->device != current) continue;
    if (opened) usleep(stand_in.slow_close), __atomic_sub_fetch(openers(memory, plain->bytes), 1, __ATOMIC_SEQ_CST);
    // The real one says nothing: what another process does with it then is not defined.
    else if (__atomic_load_n(openers(memory, plain->bytes), __ATOMIC_SEQ_CST)) return INVALID_VALUE;
    munmap(plain->at, plain->bytes + UNIT);
    close(plain->fd);
    plain->at = 0;
    count(opened ? OPENED : PLAIN, -1);
    return 0;
  }
  return INVALID_VALUE;
}

int hipExtMallocWithFlags(void **memory, size_t bytes, unsigned flags) {
  REFUSE();
  int fd = memfd_create("stand-in", 0);
  if (flags != 3 || !bytes || bytes % UNIT) return INVALID_VALUE;
  return ftruncate(fd, bytes + UNIT) ? OUT_OF_MEMORY : place(fd, bytes, 0, memory);
}

int hipFree(void *memory) { REFUSE(); return drop(memory, 0); }

struct ipc_handle { char reserved[64]; };

int hipIpcGetMemHandle(struct ipc_handle *handle, void *memory) {
  REFUSE();
  memset(handle, 0, sizeof *handle);
  for (struct plain *plain = plains; plain < plains + MOST_PLAIN; plain++) {
    if (plain->at != memory || plain->opened) continue;
    snprintf(handle->reserved, sizeof *handle, "%zu /proc/%d/fd/%d", plain->bytes, getpid(), plain->fd);
    return 0;
  }
  return INVALID_VALUE;
}

int hipIpcOpenMemHandle(void **memory, struct ipc_handle handle, unsigned flags) {
  REFUSE();
  size_t bytes;
  char path[64], own[32];
  if (flags != 1 || sscanf(handle.reserved, "%zu %63s", &bytes, path) != 2) return INVALID_VALUE;
  snprintf(own, sizeof own, "/proc/%d/", getpid());
  // As the real one: not in the process that it comes from.
  int fd = strncmp(path, own, strlen(own)) ? open(path, O_RDWR | O_CLOEXEC) : -1;
  return fd < 0 ? INVALID_HANDLE : place(fd, bytes, 1, memory);
}

int hipIpcCloseMemHandle(void *memory) { REFUSE(); return drop(memory, 1); }

int hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  REFUSE();
  unsigned pair = 1u << (4 * current + peer);
  if (flags || peer == current) return INVALID_VALUE;
  return __atomic_fetch_or(&stand_in.pairs, pair, __ATOMIC_SEQ_CST) & pair ? ALREADY_ENABLED : 0;
}
