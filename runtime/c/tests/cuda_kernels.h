// The kernels, and the threads that run them. A part of cuda.c.

typedef _Atomic uint64_t word;

static void wait_for(const word *flag, uint64_t value) {
  while (atomic_load(flag) < value) sched_yield();
}

static char *remote(const int64_t *ctx, void *mine, int64_t rank) {
  return (char *)mine - ctx[2 + ctx[0]] + ctx[2 + rank];
}

// A barrier with the words of `slot` in the signal pad.
static void meet_at(const int64_t *ctx, uint64_t slot) {
  int64_t me = ctx[0], ranks = ctx[1];
  word *own = (word *)ctx[2 + me] + slot * (uint64_t)(ranks + 1);
  uint64_t epoch = ++*own;
  for (int64_t rank = 0; rank < ranks; rank++) *(word *)remote(ctx, own + 1 + me, rank) = epoch;
  for (int64_t rank = 0; rank < ranks; rank++) wait_for(own + 1 + rank, epoch);
}

// Those of test/conformance/epochs.mlir.
static void ring(const int64_t *ctx, const uint64_t *values, unsigned blocks) {
  int64_t *inbox = (int64_t *)values[2], *epochs = (int64_t *)values[17];
  word *set = (word *)values[7], *added = (word *)values[12], *wrong = (word *)values[22];
  int64_t me = ctx[0], ranks = ctx[1], next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
  for (unsigned block = 0; block < blocks; block++) {
    int64_t epoch = epochs[block] + 1, *at = inbox + 64 * block;
    int64_t *there = (int64_t *)remote(ctx, at, next);
    for (int i = 0; i < 64; i++) there[i] = epoch * 1000000 + me * 1000 + i;
    atomic_store((word *)remote(ctx, set + block, next), (uint64_t)epoch);
    atomic_fetch_add((word *)remote(ctx, added + block, next), 1);
    wait_for(set + block, (uint64_t)epoch);
    wait_for(added + block, (uint64_t)epoch);
    for (int i = 0; i < 64; i++) *wrong += at[i] != epoch * 1000000 + before * 1000 + i;
    epochs[block] = epoch;
  }
}

static void meet(const int64_t *ctx, const uint64_t *values, unsigned blocks) {
  int64_t *board = (int64_t *)values[2], *epochs = (int64_t *)values[7], me = ctx[0], ranks = ctx[1];
  word *wrong = (word *)values[12];
  for (unsigned block = 0; block < blocks; block++) {
    int64_t value = ++epochs[block] * 1000, *at = board + block * ranks;
    for (int64_t rank = 0; rank < ranks; rank++) *(int64_t *)remote(ctx, at + me, rank) = value + me;
    meet_at(ctx, block);
    for (int64_t rank = 0; rank < ranks; rank++) *wrong += at[rank] != value + rank;
  }
}

static void execute(const struct step *step, int device) {
  if (step->event) {
    atomic_store(&step->event->recorded, 1);
    return;
  }
  if (!step->function) {
    // Slow, so that who does not wait for it shows.
    usleep(device ? 300 : 0);
    if (step->from) memmove(step->to, step->from, step->bytes);
    else memset(step->to, 0, step->bytes);
    return;
  }
  const int64_t *ctx = (const int64_t *)step->values[0];
  if (!strcmp(step->function->name, "ring")) ring(ctx, step->values, step->blocks);
  else if (!strcmp(step->function->name, "meet")) meet(ctx, step->values, step->blocks);
  else if (!strcmp(step->function->name, "hang")) for (;;) pause();
  else meet_at(ctx, PAD_WORDS / (uint64_t)(ctx[1] + 1) - 1);
}

static void *work(void *of) {
  struct stream *stream = of;
  pthread_mutex_lock(&stream->lock);
  for (;;) {
    struct step *step = stream->first;
    if (!step && stream->ends) return NULL;
    if (!step) {
      pthread_cond_wait(&stream->more, &stream->lock);
      continue;
    }
    pthread_mutex_unlock(&stream->lock);
    execute(step, stream->device);
    pthread_mutex_lock(&stream->lock);
    stream->first = step->next;
    if (!stream->first) stream->last = &stream->first;
    free(step);
  }
}

static void enqueue(struct stream *stream, const struct step *step) {
  struct step *copy = memcpy(malloc(sizeof *copy), step, sizeof *copy);
  copy->next = NULL;
  pthread_mutex_lock(&stream->lock);
  *stream->last = copy;
  stream->last = &copy->next;
  pthread_cond_signal(&stream->more);
  pthread_mutex_unlock(&stream->lock);
}

static int give(struct stream *stream, const struct step *step) {
  CHECK(!misplaced(stream), INVALID_HANDLE);
  if (!stream->records) {
    enqueue(stream, step);
    return 0;
  }
  CHECK(stream->records->count < MAX_STEPS, INVALID_VALUE);
  stream->records->steps[stream->records->count++] = *step;
  return 0;
}
