// Calls of NVSHMEM's device functions as written by hand, for bench/device/nvshmem.py: what symm's far path is compared
// with. Each is a launch of `rounds` of them.

#include <nvshmem.h>
#include <nvshmemx.h>

typedef unsigned long long u64;

// 8 bytes, by one thread, that have arrived before the next ones go.
extern "C" __global__ void store(u64 *to, u64 rounds, int rank) {
  for (u64 i = 0; i < rounds; ++i) {
    nvshmem_uint64_p((uint64_t *)to, i, rank);
    nvshmem_quiet();
  }
}

// A part of `each` bytes by each block, in pieces that have arrived before the next ones go.
extern "C" __global__ void __launch_bounds__(1024)
    put(char *to, const char *from, u64 bytes, u64 each, u64 piece, int rank) {
  u64 first = blockIdx.x * each, end = first + each < bytes ? first + each : bytes;
  for (u64 at = first; at < end; at += piece) {
    nvshmemx_putmem_block(to + at, from + at, end - at < piece ? end - at : piece, rank);
    __syncthreads();
    if (threadIdx.x == 0) nvshmem_quiet();
    __syncthreads();
  }
}

// Values after `start`, `rounds` of them, go to the peer and back. Rank 0 begins.
extern "C" __global__ void ping(u64 *flag, u64 start, u64 rounds, int me, int rank) {
  for (u64 v = start + 1; v <= start + rounds; ++v) {
    if (me == 0) nvshmemx_signal_op((uint64_t *)flag, v, NVSHMEM_SIGNAL_SET, rank);
    nvshmem_uint64_wait_until((uint64_t *)flag, NVSHMEM_CMP_GE, v);
    if (me != 0) nvshmemx_signal_op((uint64_t *)flag, v, NVSHMEM_SIGNAL_SET, rank);
  }
}

// Likewise signals that release what was written before them, and have arrived before anything else goes (O1, N3).
__device__ void release(u64 *flag, u64 value, int rank) {
  __threadfence_system();
  nvshmemx_signal_op((uint64_t *)flag, value, NVSHMEM_SIGNAL_SET, rank);
  nvshmem_quiet();
}

extern "C" __global__ void ping_released(u64 *flag, u64 start, u64 rounds, int me, int rank) {
  for (u64 v = start + 1; v <= start + rounds; ++v) {
    if (me == 0) release(flag, v, rank);
    nvshmem_uint64_wait_until((uint64_t *)flag, NVSHMEM_CMP_GE, v);
    if (me != 0) release(flag, v, rank);
  }
}
