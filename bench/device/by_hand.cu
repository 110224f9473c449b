// The best that is known to be written by hand, for bench/device/measure.py. Bytes in flight decide over the link:
// about 64 KiB an SM.

typedef unsigned long long u64;

__device__ void part(u64 count, u64 each, u64 &first, u64 &mine) {
  first = blockIdx.x * each;
  u64 left = count > first ? count - first : 0;
  mine = left < each ? left : each;
}

// 16 bytes a thread, DEEP at a time; `count` and `each` are units of 16 bytes.
template <int DEEP> __device__ void copy(uint4 *dst, const uint4 *src, u64 count, u64 tid, u64 n) {
  u64 i = tid;
  for (; i + (DEEP - 1) * n < count; i += DEEP * n) {
    uint4 v[DEEP];
#pragma unroll
    for (int k = 0; k < DEEP; ++k) v[k] = src[i + k * n];
#pragma unroll
    for (int k = 0; k < DEEP; ++k) dst[i + k * n] = v[k];
  }
  for (; i < count; i += n) dst[i] = src[i];
}

template <int DEEP> __device__ void copy_part(uint4 *dst, const uint4 *src, u64 count, u64 each) {
  u64 first, mine;
  part(count, each, first, mine);
  copy<DEEP>(dst + first, src + first, mine, threadIdx.x, blockDim.x);
}

extern "C" __global__ void __launch_bounds__(1024) copy4(uint4 *dst, const uint4 *src, u64 count, u64 each) {
  copy_part<4>(dst, src, count, each);
}

extern "C" __global__ void __launch_bounds__(1024) copy8(uint4 *dst, const uint4 *src, u64 count, u64 each) {
  copy_part<8>(dst, src, count, each);
}

// All blocks stride through the whole together.
extern "C" __global__ void __launch_bounds__(1024) strided8(uint4 *dst, const uint4 *src, u64 count, u64) {
  copy<8>(dst, src, count, u64(blockIdx.x) * blockDim.x + threadIdx.x, u64(gridDim.x) * blockDim.x);
}

// One thread a block drives the bulk copy engine through 12 stages of 16 KiB in shared memory.
extern "C" __global__ void engine(char *dst, const char *src, u64 count, u64 each) {
  const unsigned STAGES = 12, BYTES = 16384;
  extern __shared__ __align__(128) char shared[];
  if (threadIdx.x != 0) return;
  u64 first, mine;
  part(count, each, first, mine);
  src += first * 16, dst += first * 16, mine *= 16;
  unsigned base = (unsigned)__cvta_generic_to_shared(shared), buffers = base + 128;
  u64 chunks = (mine + BYTES - 1) / BYTES;
  for (unsigned s = 0; s < STAGES; ++s) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(base + 8 * s));
  asm volatile("fence.proxy.async;" ::: "memory");
  auto fill = [&](u64 c, unsigned s) {
    unsigned size = (unsigned)(mine - c * BYTES < BYTES ? mine - c * BYTES : BYTES);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(base + 8 * s), "r"(size) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     buffers + s * BYTES),
                 "l"(src + c * BYTES), "r"(size), "r"(base + 8 * s)
                 : "memory");
  };
  for (unsigned c = 0; c < STAGES && c < chunks; ++c) fill(c, c);
  unsigned stage = 0, parity = 0;
  for (u64 c = 0; c < chunks; ++c) {
    unsigned full = 0;
    while (!full)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(full)
                   : "r"(base + 8 * stage), "r"(parity)
                   : "memory");
    unsigned size = (unsigned)(mine - c * BYTES < BYTES ? mine - c * BYTES : BYTES);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst + c * BYTES),
                 "r"(buffers + stage * BYTES), "r"(size)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    // The stage written out before this one is filled again once it has been read.
    if (c > 0 && c - 1 + STAGES < chunks) {
      asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
      fill(c - 1 + STAGES, stage == 0 ? STAGES - 1 : stage - 1);
    }
    if (++stage == STAGES) stage = 0, parity ^= 1;
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ void release(long long *flag, long long value) {
  asm volatile("st.release.sys.global.s64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
}

__device__ void acquire(long long *flag, long long value) {
  long long seen;
  do asm volatile("ld.acquire.sys.global.s64 %0, [%1];" : "=l"(seen) : "l"(flag) : "memory");
  while (seen < value);
}

extern "C" __global__ void ping(int rank, long long *mine, long long *theirs, long long start, long long rounds) {
  for (long long v = start + 1; v <= start + rounds; ++v) {
    if (rank == 0) release(theirs, v);
    acquire(mine, v);
    if (rank == 1) release(theirs, v);
  }
}

// The same with relaxed polls and one fence, which is what symm.wait does.
extern "C" __global__ void ping_fence(int rank, long long *mine, long long *theirs, long long start, long long rounds) {
  for (long long v = start + 1; v <= start + rounds; ++v) {
    if (rank == 0) release(theirs, v);
    long long seen;
    do asm volatile("ld.relaxed.sys.global.s64 %0, [%1];" : "=l"(seen) : "l"(mine) : "memory");
    while (seen < v);
    asm volatile("fence.acq_rel.sys;" ::: "memory");
    if (rank == 1) release(theirs, v);
  }
}

extern "C" __global__ void __launch_bounds__(1024)
    put_signal(int rank, const int *src, int *dst, long long count, long long *mine, long long *theirs, long long start,
               long long rounds) {
  for (long long v = start + 1; v <= start + rounds; ++v) {
    for (int turn = 0; turn < 2; ++turn) {
      if (turn == rank) {
        copy<8>((uint4 *)dst, (const uint4 *)src, count / 4, threadIdx.x, blockDim.x);
        for (long long i = count / 4 * 4 + threadIdx.x; i < count; i += blockDim.x) dst[i] = src[i];
        __syncthreads();
        if (threadIdx.x == 0) release(theirs, v);
      } else {
        if (threadIdx.x == 0) acquire(mine, v);
        __syncthreads();
      }
    }
  }
}

// Flag r of a rank is rank r's; thread r tells rank r and waits for it.
extern "C" __global__ void barrier(int rank, int ranks, long long *const *flags, long long start, long long rounds) {
  for (long long v = start + 1; v <= start + rounds; ++v) {
    __syncthreads();
    if ((int)threadIdx.x < ranks) {
      release(flags[threadIdx.x] + rank, v);
      acquire(flags[rank] + threadIdx.x, v);
    }
    __syncthreads();
  }
}

extern "C" __global__ void empty(int *out) { *out = 1; }
