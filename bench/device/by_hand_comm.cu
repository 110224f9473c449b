// All-reduce of bfloat16 on two ranks, written by hand, for bench/device/by_hand_comm.py: what collectives are measured
// against. Epochs are counted in device memory, one for each block; slots have two buffers, used in turn by the calls.
// All pointers are aligned to 16 bytes, and sizes are multiples of 16 bytes. It is compiled after by_hand.cu.

typedef unsigned int u32;

__device__ u32 add(u32 a, u32 b) {
  u32 sum;
  asm("add.rn.bf16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}

__device__ uint4 add(uint4 a, uint4 b) {
  return make_uint4(add(a.x, b.x), add(a.y, b.y), add(a.z, b.z), add(a.w, b.w));
}

__device__ uint2 add(uint2 a, uint2 b) { return make_uint2(add(a.x, b.x), add(a.y, b.y)); }

__device__ void put(uint4 *line, uint4 v) {
  asm volatile("st.relaxed.sys.global.v4.b32 [%0], {%1,%2,%3,%4};" ::"l"(line), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

__device__ uint4 look(const uint4 *line) {
  uint4 v;
  asm volatile("ld.relaxed.sys.global.v4.b32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(line)
               : "memory");
  return v;
}

// A kernel of a function for messages of words of 8 bytes.
#define ALL_REDUCE(NAME, FUNCTION)                                                                                    \
  extern "C" __global__ void __launch_bounds__(1024)                                                                  \
      NAME(const uint2 *in, uint2 *out, uint4 *mine, uint4 *theirs, u32 *epochs, u64 count, u64 room) {               \
    FUNCTION(in, out, mine, theirs, epochs, count, room);                                                             \
  }

// 16-byte lines {data, epoch, data, epoch}: a word of 8 bytes each, DEEP of them a thread at once.
template <int DEEP>
__device__ void packets(const uint2 *in, uint2 *out, uint4 *mine, uint4 *theirs, u32 *epochs, u64 count, u64 room) {
  u32 epoch = epochs[blockIdx.x] + 1;
  mine += (epoch & 1) * room, theirs += (epoch & 1) * room;
  u64 n = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += DEEP * n) {
    uint2 own[DEEP];
#pragma unroll
    for (int k = 0; k < DEEP; ++k)
      if (i + k * n < count) own[k] = in[i + k * n];
#pragma unroll
    for (int k = 0; k < DEEP; ++k)
      if (i + k * n < count) put(theirs + i + k * n, make_uint4(own[k].x, epoch, own[k].y, epoch));
#pragma unroll
    for (int k = 0; k < DEEP; ++k) {
      if (i + k * n >= count) continue;
      uint4 came = look(mine + i + k * n);
      while (came.y != epoch || came.w != epoch) came = look(mine + i + k * n);
      out[i + k * n] = add(own[k], make_uint2(came.x, came.z));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) epochs[blockIdx.x] = epoch;
}

ALL_REDUCE(packet1, packets<1>)
ALL_REDUCE(packet4, packets<4>)

// Lines of 128 bytes, written by 8 threads, of which the last 8 bytes are the flag: 15 words of data. The link keeps
// them whole.
template <int DEEP>
__device__ void lines(const uint2 *in, uint2 *out, uint4 *mine, uint4 *theirs, u32 *epochs, u64 count, u64 room) {
  u32 epoch = epochs[blockIdx.x] + 1;
  mine += (epoch & 1) * room, theirs += (epoch & 1) * room;
  u64 n = u64(gridDim.x) * blockDim.x, all = (count + 14) / 15 * 8;
  bool flags = threadIdx.x % 8 == 7;
  // All threads of a warp stay together.
  u64 first = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  for (u64 i = first; i - threadIdx.x % 32 < all; i += DEEP * n) {
    uint2 own[DEEP][2];
#pragma unroll
    for (int k = 0; k < DEEP; ++k) {
      u64 line = (i + k * n) / 8, word = line * 15 + (i + k * n) % 8 * 2;
      own[k][0] = word < count ? in[word] : make_uint2(0, 0);
      own[k][1] = flags ? make_uint2(epoch, epoch) : (word + 1 < count ? in[word + 1] : make_uint2(0, 0));
    }
#pragma unroll
    for (int k = 0; k < DEEP; ++k)
      if (i + k * n < all)
        put(theirs + i + k * n, make_uint4(own[k][0].x, own[k][0].y, own[k][1].x, own[k][1].y));
#pragma unroll
    for (int k = 0; k < DEEP; ++k) {
      bool here = i + k * n < all;
      uint4 came;
      do {
        came = here ? look(mine + i + k * n) : make_uint4(0, 0, epoch, epoch);
      } while (__any_sync(~0u, flags && (came.z != epoch || came.w != epoch)));
      u64 line = (i + k * n) / 8, word = line * 15 + (i + k * n) % 8 * 2;
      if (here && word < count) out[word] = add(own[k][0], make_uint2(came.x, came.y));
      if (here && !flags && word + 1 < count) out[word + 1] = add(own[k][1], make_uint2(came.z, came.w));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) epochs[blockIdx.x] = epoch;
}

ALL_REDUCE(line1, lines<1>)
ALL_REDUCE(line4, lines<4>)

// Plain stores, then a signal of each block. The flags of the blocks lie before the slots, 128 bytes apart.
const int DEEP = 4, FLAG = 8;

extern "C" __global__ void __launch_bounds__(1024)
    put_and_signal(const uint4 *in, uint4 *out, uint4 *mine, uint4 *theirs, u32 *epochs, u64 count, u64 room) {
  u32 epoch = epochs[blockIdx.x] + 1;
  u32 *flag = (u32 *)(theirs + blockIdx.x * FLAG), *told = (u32 *)(mine + blockIdx.x * FLAG);
  mine += gridDim.x * FLAG + (epoch & 1) * room, theirs += gridDim.x * FLAG + (epoch & 1) * room;
  u64 first, here, n = blockDim.x;
  part(count, (count + gridDim.x - 1) / gridDim.x, first, here);
  in += first, out += first, mine += first, theirs += first;
  copy<DEEP>(theirs, in, here, threadIdx.x, n);
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("st.release.sys.global.b32 [%0], %1;" ::"l"(flag), "r"(epoch) : "memory");
    u32 seen;
    do {
      asm volatile("ld.acquire.sys.global.b32 %0, [%1];" : "=r"(seen) : "l"(told) : "memory");
    } while (seen != epoch);
  }
  __syncthreads();
  u64 i = threadIdx.x;
  for (; i + (DEEP - 1) * n < here; i += DEEP * n) {
    uint4 v[DEEP], w[DEEP];
#pragma unroll
    for (int k = 0; k < DEEP; ++k) v[k] = in[i + k * n], w[k] = mine[i + k * n];
#pragma unroll
    for (int k = 0; k < DEEP; ++k) out[i + k * n] = add(v[k], w[k]);
  }
  for (; i < here; i += n) out[i] = add(in[i], mine[i]);
  if (threadIdx.x == 0) epochs[blockIdx.x] = epoch;
}
