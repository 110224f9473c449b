// The kernels. A part of stand_in.c.

struct clock { int64_t *words, rounds; int device; struct stream *stream; };

static void *tell(void *argument) {
  struct clock clock = *(struct clock *)argument;
  free(argument);
  for (int64_t round = 1; round <= clock.rounds; round++) {
    int64_t start = now();
    while (__atomic_load_n(clock.words, __ATOMIC_ACQUIRE) < round && now() - start < 100000000) sched_yield();
    if (__atomic_load_n(clock.words, __ATOMIC_ACQUIRE) >= round)
      __atomic_store_n(clock.words + 8 + 2, device_now(clock.device), __ATOMIC_RELEASE);
  }
  __atomic_store_n(&clock.stream->busy, 0, __ATOMIC_RELEASE);
  return 0;
}

// Takes a record in the trace buffer.
static int64_t *begin(int64_t *trace, int64_t site, int64_t block, int64_t address, int64_t first, int64_t second) {
  int64_t *record = trace + 8 * ++trace[0];
  const int64_t words[] = {site + (block << 32), device_now(current), 0, address, first, second};
  return memcpy(record, words, sizeof words);
}

static void end(int64_t *record) { record[2] = device_now(current); }

// What compiled kernels record: block 0 signals its neighbour and waits for the other, block 5 does the rest.
static void record(const int64_t *bases, int64_t rank, int64_t ranks) {
  int64_t *trace = (int64_t *)bases[ranks + 1], next = (rank + 1) % ranks, flag = bases[rank] + (1 << 20);
  int64_t *block = begin(trace, 2, 0, 0, 0, 0), *put = begin(trace, 3, 0, flag + 64, next, 64);
  end(put);
  int64_t *signal = begin(trace, 4, 0, flag, next, 7);
  __atomic_store_n((int64_t *)(bases[next] + (1 << 20)), 7, __ATOMIC_RELEASE);
  end(signal);
  int64_t *wait = begin(trace, 5, 0, flag, 7, 0);
  while (__atomic_load_n((int64_t *)flag, __ATOMIC_ACQUIRE) < 7) sched_yield();
  end(wait);
  wait[6] = 7, wait[7] = 1;
  for (int site = 6; site <= 8; site++) end(begin(trace, site, 5, flag + 8, next, 1));
  end(block);
}

// Records a wait that does not end.
static void stall(const int64_t *bases, int64_t rank, int64_t ranks) {
  begin((int64_t *)bases[ranks + 1], 9, 3, bases[rank] + (1 << 20), -1, 0);
}

// What a device barrier writes: each block tells all ranks that it has come to it for the first time.
static void meet(const int64_t *bases, int64_t rank, int64_t ranks, int64_t blocks) {
  for (int64_t row = 0; row < blocks * (ranks + 1); row += ranks + 1) {
    ((int64_t *)bases[rank])[row] = 1;
    for (int64_t peer = 0; peer < ranks; peer++)
      __atomic_store_n((int64_t *)bases[peer] + row + 1 + rank, 1, __ATOMIC_RELEASE);
  }
}

// The kernels. `write(ctx, memref<?xi64>, i32)` stores the scalar plus the rank plus the index in its own memref, and
// the negative of that one word further in the next rank's. The others take only the context: `fault` leaves a record
// and traps; `sink` leaves a record, brings the device down for all others and never ends; `fail` traps; `hang` never
// ends, nor does `meet`, whose blocks are in a barrier; `record` leaves records in the trace buffer, `flood` asks for
// more than there is room, `stall` records a wait and never ends, `stall_and_fail` fails some time after; `_symm_clock`
// tells the time; `nothing` and `hungry` do nothing.
static int execute(const struct kernel *kernel, const struct launch *launch, struct stream *stream) {
  const int64_t *table = (const int64_t *)launch->values[0];
  const int64_t rank = table[0], ranks = table[1], *bases = table + 2;
  if (!strcmp(kernel->name, "write")) {
    const uint64_t *memref = launch->values + 1;
    int64_t *mine = (int64_t *)memref[1] + memref[2];
    int64_t *next = (int64_t *)((char *)mine - bases[rank] + bases[(rank + 1) % ranks]);
    int64_t value = (int32_t)launch->values[6] + rank;
    for (uint64_t i = 0; i < memref[3]; i++) {
      mine[i * memref[4]] = value + i;
      next[i * memref[4] + 1] = -value - i;
    }
  } else if (!strcmp(kernel->name, "fault") || !strcmp(kernel->name, "sink")) {
    int64_t *record = (int64_t *)bases[ranks];
    const int64_t words[] = {0, 1, rank, 5, 7, 2, -3, 8};
    if (record[0]) return INVALID_VALUE;
    memcpy(record + 1, words + 1, sizeof words - 8);
    __atomic_store_n(record, 2, __ATOMIC_RELEASE);
    stream->status = LAUNCH_FAILURE;
    stream->hangs = !strcmp(kernel->name, "sink");
    if (stream->hangs) stand_in.down[current] = LAUNCH_FAILURE;
  } else if (!strcmp(kernel->name, "fail")) {
    stream->status = LAUNCH_FAILURE;
  } else if (!strcmp(kernel->name, "hang")) {
    stream->hangs = 1;
  } else if (!strcmp(kernel->name, "meet")) {
    meet(bases, rank, ranks, launch->grid[0]);
    stream->hangs = 1;
  } else if (!strcmp(kernel->name, "record")) {
    record(bases, rank, ranks);
  } else if (!strcmp(kernel->name, "flood")) {
    *(int64_t *)bases[ranks + 1] = ((int64_t *)bases[ranks + 1])[1] + 5;
  } else if (!strcmp(kernel->name, "stall")) {
    stall(bases, rank, ranks);
    stream->hangs = 1;
  } else if (!strcmp(kernel->name, "stall_and_fail")) {
    stall(bases, rank, ranks);
    stream->fails_at = now() + 2000000000;
  } else if (!strcmp(kernel->name, "_symm_clock")) {
    struct clock clock = {(int64_t *)launch->values[1], launch->values[2], current, stream};
    pthread_t thread;
    stream->busy = 1;
    pthread_create(&thread, 0, tell, memcpy(malloc(sizeof clock), &clock, sizeof clock));
    pthread_detach(thread);
  }
  stream->pending = 1;
  return 0;
}

static int run(const struct kernel *kernel, const struct launch *launch, struct stream *stream) {
  pthread_mutex_lock(&lock);
  if (stream->test == stand_in.test) stand_in.launch[stand_in.launches++ % MAX_LAUNCHES] = *launch;
  pthread_mutex_unlock(&lock);
  return execute(kernel, launch, stream);
}

static int start(const struct kernel *kernel, const unsigned dims[7], struct stream *stream, void **parameters,
                 int cooperative) {
  if (misplaced(stream) || kernel->device != current) return INVALID_HANDLE;
  struct launch launch = {.device = current, .cooperative = cooperative, .shared = dims[6], .count = kernel->count};
  strcpy(launch.name, kernel->name);
  memcpy(launch.grid, dims, sizeof launch.grid);
  memcpy(launch.block, dims + 3, sizeof launch.block);
  for (int i = 0; i < kernel->count; i++) memcpy(&launch.values[i], parameters[i], kernel->size[i]);
  const int64_t *table = (const int64_t *)launch.values[0];
  for (int i = 0; i < 3 + table[1] && i < 5; i++) launch.table[i] = table[i];
  if (stream->records) {
    stream->records->steps[stream->records->count++] = (struct step){.kernel = kernel, .launch = launch};
    return 0;
  }
  return run(kernel, &launch, stream);
}
