// What a Triton program calls for a far peer (rules N1 to N4), on top of NVSHMEM's device functions. All threads of the
// program's block call each function together. An address is one in this rank's heap; `pe` is the peer.
//
// Triton calls these for every element of a block, in each thread that holds it, and for a scalar in every thread. What
// must happen once is done by the first thread. Nothing here lies in shared memory, whose layout is Triton's.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define CALL(type, ...) extern type __VA_ARGS__ __attribute__((convergent))

CALL(void, nvshmem_uint8_p(u8 *at, u8 value, int pe));
CALL(void, nvshmem_uint16_p(u16 *at, u16 value, int pe));
CALL(void, nvshmem_uint32_p(u32 *at, u32 value, int pe));
CALL(void, nvshmem_uint64_p(u64 *at, u64 value, int pe));
CALL(u8, nvshmem_uint8_g(const u8 *at, int pe));
CALL(u16, nvshmem_uint16_g(const u16 *at, int pe));
CALL(u32, nvshmem_uint32_g(const u32 *at, int pe));
CALL(u64, nvshmem_uint64_g(const u64 *at, int pe));
CALL(void, nvshmemx_putmem_warp(void *to, const void *from, u64 bytes, int pe));
CALL(void, nvshmemx_getmem_warp(void *to, const void *from, u64 bytes, int pe));
CALL(void, nvshmem_quiet(void));
CALL(void, nvshmemx_signal_op(u64 *at, u64 value, int operation, int pe));
CALL(u32, nvshmem_uint32_atomic_fetch_add(u32 *at, u32 value, int pe));
CALL(u64, nvshmem_uint64_atomic_fetch_add(u64 *at, u64 value, int pe));
CALL(u32, nvshmem_uint32_atomic_swap(u32 *at, u32 value, int pe));
CALL(u64, nvshmem_uint64_atomic_swap(u64 *at, u64 value, int pe));
CALL(u32, nvshmem_uint32_atomic_fetch(const u32 *at, int pe));
CALL(u64, nvshmem_uint64_atomic_fetch(const u64 *at, int pe));
CALL(u32, nvshmem_uint32_atomic_compare_swap(u32 *at, u32 expected, u32 value, int pe));
CALL(u64, nvshmem_uint64_atomic_compare_swap(u64 *at, u64 expected, u64 value, int pe));

CALL(void, __assertfail(const char *said, const char *file, u32 line, const char *function, u64 size));

// Ends a kernel that is to send from the GPU, and is compiled without what does.
__attribute__((noinline, cold, noreturn)) void symm_no_transport(void) {
  __assertfail("NVSHMEM sends from the GPU here, and this kernel is compiled without: set NVSHMEM_IB_ENABLE_IBGDA or "
               "NVSHMEM_GPUNETIO_ENABLE_GDAKI, as on this machine, where it is compiled",
               "far.c", 0, "symm", 1);
  __builtin_unreachable();
}

// The numbers of symm_abi::far::Update, and sums of floats after them.
enum { SET, ADD, SUB, AND, OR, XOR, MIN, MAX, UMIN, UMAX, SWAP, FADD, BFADD, FMIN, FMAX };

// What nvshmemx_signal_op is to do.
enum { SIGNAL_SET = 9, SIGNAL_ADD = 10 };

// What a warp of a copy moves at least.
#define LEAST 1024u

static inline u32 lane(void) { return __nvvm_read_ptx_sreg_tid_x() % 32; }

static inline void together(void) { __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }

static inline void fence(void) { __asm__ volatile("fence.acq_rel.sys;" ::: "memory"); }

// Has every thread of the block count those where a predicate holds.
static inline u32 count(u32 holds) {
  u32 counted;
  __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; bar.red.popc.u32 %0, 0, p; }"
                   : "=r"(counted)
                   : "r"(holds)
                   : "memory");
  return counted;
}

static inline u32 from_first_lane(u32 value) {
  u32 result;
  __asm__ volatile("shfl.sync.idx.b32 %0, %1, 0, 31, 0xffffffff;" : "=r"(result) : "r"(value));
  return result;
}

// Gives all threads of the block what the first one has: the lanes of its warp say five bits at a time by their number.
static inline u64 from_first(u64 value, u32 bits) {
  together();
  u64 told = (u64)from_first_lane((u32)value) | (u64)from_first_lane((u32)(value >> 32)) << 32;
  u32 is_first = __nvvm_read_ptx_sreg_tid_x() < 32;
  u64 result = 0;
  for (u32 at = 0; at < bits; at += 5) {
    result |= (u64)count(is_first && lane() < (u32)(told >> at) % 32) << at;
  }
  return result;
}

// Completes what the threads of each warp have sent (N3).
static inline void complete(void) {
  together();
  if (lane() == 0) {
    nvshmem_quiet();
  }
  together();
}

// For each element: stores a value, or loads one.

#define ELEMENT(bits, bytes)                                                                                          \
  int symm_far_p##bytes(i64 at, i64 value, int pe, int on) {                                                          \
    if (on) {                                                                                                         \
      nvshmem_uint##bits##_p((u##bits *)at, (u##bits)value, pe);                                                      \
    }                                                                                                                 \
    return 0;                                                                                                         \
  }                                                                                                                   \
  i64 symm_far_g##bytes(i64 at, i64 other, int pe, int on) {                                                          \
    return on ? (i64)nvshmem_uint##bits##_g((const u##bits *)at, pe) : other;                                         \
  }

ELEMENT(8, 1)
ELEMENT(16, 2)
ELEMENT(32, 4)
ELEMENT(64, 8)

// After such stores: they have arrived.
int symm_far_quiet(int none) {
  complete();
  return none;
}

// A scalar, by the first thread.

int symm_far_store(i64 at, i64 value, int bytes, int pe) {
  if (__nvvm_read_ptx_sreg_tid_x() == 0) {
    switch (bytes) {
    case 1:
      symm_far_p1(at, value, pe, 1);
      break;
    case 2:
      symm_far_p2(at, value, pe, 1);
      break;
    case 4:
      symm_far_p4(at, value, pe, 1);
      break;
    default:
      symm_far_p8(at, value, pe, 1);
    }
    nvshmem_quiet();
  }
  together();
  return 0;
}

i64 symm_far_load(i64 at, int bytes, int pe) {
  i64 value = 0;
  if (__nvvm_read_ptx_sreg_tid_x() == 0) {
    value = bytes == 1   ? symm_far_g1(at, 0, pe, 1)
            : bytes == 2 ? symm_far_g2(at, 0, pe, 1)
            : bytes == 4 ? symm_far_g4(at, 0, pe, 1)
                         : symm_far_g8(at, 0, pe, 1);
  }
  return (i64)from_first((u64)value, (u32)bytes * 8);
}

// Copies contiguous bytes, a part by each warp.

typedef struct {
  u64 start, bytes;
} Part;

static inline Part part(u64 bytes) {
  u64 warps = __nvvm_read_ptx_sreg_ntid_x() / 32, warp = __nvvm_read_ptx_sreg_tid_x() / 32;
  u64 each = ((bytes + warps - 1) / warps + 127) / 128 * 128;
  each = each < LEAST ? LEAST : each;
  u64 start = warp * each;
  u64 left = start < bytes ? bytes - start : 0;
  return (Part){start, left < each ? left : each};
}

int symm_far_put(i64 to, i64 from, i64 bytes, int pe) {
  Part mine = part((u64)bytes);
  if (mine.bytes) {
    nvshmemx_putmem_warp((char *)to + mine.start, (const char *)from + mine.start, mine.bytes, pe);
    complete();
  }
  return 0;
}

int symm_far_get(i64 to, i64 from, i64 bytes, int pe) {
  Part mine = part((u64)bytes);
  if (mine.bytes) {
    nvshmemx_getmem_warp((char *)to + mine.start, (const char *)from + mine.start, mine.bytes, pe);
    together();
  }
  return 0;
}

// Updates one value, once; the old value, in every thread.

static inline float as_float(u32 bits) {
  return __builtin_bit_cast(float, bits);
}

static inline u32 rounded_to_bfloat(float value) {
  u32 bits = __builtin_bit_cast(u32, value);
  if (value != value) {
    return bits >> 16 | 0x40;
  }
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static inline u64 float_of(int kind, u64 old, u64 operand, u32 bits) {
  if (bits == 64) {
    double one = __builtin_bit_cast(double, old), other = __builtin_bit_cast(double, operand);
    double least = other < one ? other : one, most = other > one ? other : one;
    double result = kind == FADD ? one + other : kind == FMIN ? least : most;
    return __builtin_bit_cast(u64, result);
  }
  if (bits == 16 && kind == BFADD) {
    return rounded_to_bfloat(as_float((u32)old << 16) + as_float((u32)operand << 16));
  }
  if (bits == 16) {
    _Float16 one = __builtin_bit_cast(_Float16, (u16)old), other = __builtin_bit_cast(_Float16, (u16)operand);
    return __builtin_bit_cast(u16, (_Float16)(one + other));
  }
  float one = as_float((u32)old), other = as_float((u32)operand);
  float result = kind == FADD ? one + other : kind == FMIN ? (other < one ? other : one) : (other > one ? other : one);
  return __builtin_bit_cast(u32, result);
}

// What becomes of an old value; all are zero-extended.
static inline u64 updated(int kind, u64 old, u64 operand, u64 expected, u32 bits) {
  u64 mask = ~0ull >> (64 - bits);
  i64 one = (i64)(old << (64 - bits)) >> (64 - bits), other = (i64)(operand << (64 - bits)) >> (64 - bits);
  switch (kind) {
  case SET:
    return operand;
  case ADD:
    return (old + operand) & mask;
  case SUB:
    return (old - operand) & mask;
  case AND:
    return old & operand;
  case OR:
    return old | operand;
  case XOR:
    return old ^ operand;
  case MIN:
    return one <= other ? old : operand;
  case MAX:
    return one >= other ? old : operand;
  case UMIN:
    return old <= operand ? old : operand;
  case UMAX:
    return old >= operand ? old : operand;
  case SWAP:
    return old == expected ? operand : old;
  default:
    return float_of(kind, old, operand, bits);
  }
}

// Swaps the new value in until nobody else has changed the old one meanwhile.
#define REPEAT(word, at, new, pe)                                                                                     \
  u##word seen = nvshmem_uint##word##_atomic_fetch(at, pe);                                                           \
  for (;;) {                                                                                                          \
    u##word old = seen;                                                                                               \
    seen = nvshmem_uint##word##_atomic_compare_swap(at, old, (u##word)(new), pe);                                     \
    if (seen == old) {                                                                                                \
      break;                                                                                                          \
    }                                                                                                                 \
  }

#define NATIVELY(word)                                                                                                \
  static inline u64 update##word(u64 address, int kind, u64 value, u64 expected, int pe) {                            \
    u##word *at = (u##word *)address;                                                                                 \
    switch (kind) {                                                                                                   \
    case SET:                                                                                                         \
      return nvshmem_uint##word##_atomic_swap(at, (u##word)value, pe);                                                \
    case ADD:                                                                                                         \
      return nvshmem_uint##word##_atomic_fetch_add(at, (u##word)value, pe);                                           \
    case SUB:                                                                                                         \
      return nvshmem_uint##word##_atomic_fetch_add(at, -(u##word)value, pe);                                          \
    case SWAP:                                                                                                        \
      return nvshmem_uint##word##_atomic_compare_swap(at, (u##word)expected, (u##word)value, pe);                     \
    default: {                                                                                                        \
      REPEAT(word, at, updated(kind, old, value, expected, word), pe)                                                 \
      return seen;                                                                                                    \
    }                                                                                                                 \
    }                                                                                                                 \
  }

NATIVELY(32)
NATIVELY(64)

// A value of less than four bytes, in the word that it is in.
static inline u64 update_narrow(u64 address, int kind, u32 bits, u64 value, u64 expected, int pe) {
  u32 *at = (u32 *)(address & ~3ull);
  u32 shift = (u32)(address & 3) * 8, mask = (bits == 8 ? 0xffu : 0xffffu) << shift;
  REPEAT(32, at,
         (old & ~mask) | ((u32)updated(kind, (old & mask) >> shift, value, expected, bits) << shift & mask), pe)
  return (seen & mask) >> shift;
}

static inline u64 update(u64 at, int kind, int bytes, u64 value, u64 expected, int pe) {
  u64 old = 0;
  if (__nvvm_read_ptx_sreg_tid_x() == 0) {
    // What the program has written to near peers and to itself comes first, and the engine's atomics order nothing.
    fence();
    old = bytes == 8   ? update64(at, kind, value, expected, pe)
          : bytes == 4 ? update32(at, kind, value, expected, pe)
                       : update_narrow(at, kind, (u32)bytes * 8, value, expected, pe);
    nvshmem_quiet();
    fence();
  }
  return old;
}

i64 symm_far_update(i64 at, int kind, int bytes, i64 value, i64 expected, int pe) {
  u64 old = update((u64)at, kind, bytes, (u64)value, (u64)expected, pe);
  return (i64)from_first(old, (u32)bytes * 8);
}

// Likewise without the old value, for signals: one of 8 bytes does not wait for it.
int symm_far_signal(i64 at, int kind, int bytes, i64 value, int pe) {
  if (bytes != 8 || kind > ADD) {
    update((u64)at, kind, bytes, (u64)value, 0, pe);
  } else if (__nvvm_read_ptx_sreg_tid_x() == 0) {
    fence();
    nvshmemx_signal_op((u64 *)at, (u64)value, kind == SET ? SIGNAL_SET : SIGNAL_ADD, pe);
    nvshmem_quiet();
  }
  together();
  return 0;
}
