// A stand-in for NVSHMEM's device library: the functions that far accesses call, each a call that shows in PTX.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

typedef struct { int version, connected, transport; } State;
typedef struct { int queues; } TransportState;
typedef struct { int major, minor, patch; } Version;
#define CONSTANT __attribute__((address_space(4)))
CONSTANT __attribute__((used)) State nvshmemi_device_state_d;
CONSTANT __attribute__((used)) Version nvshmemi_device_lib_version_d = {3, 4, 5};

CONSTANT __attribute__((used)) TransportState nvshmemi_ibgda_device_state_d, nvshmemi_gpunetio_device_state_d;

#define MADE(type, ...) __attribute__((noinline, convergent)) type __VA_ARGS__
#define SAY(text) __asm__ volatile("// engine: " text ::: "memory")
// What is called, and the register of the peer's number.
#define SAY_TO(text, pe) __asm__ volatile("// engine: " text "\n\t// pe: %0" : : "r"(pe) : "memory")

#define ELEMENT(bits)                                                                                                 \
  MADE(void, nvshmem_uint##bits##_p(u##bits *at, u##bits value, int pe)) { SAY_TO("p", pe); *at = value; }            \
  MADE(u##bits, nvshmem_uint##bits##_g(const u##bits *at, int pe)) { SAY_TO("g", pe); return *at; }

ELEMENT(8)
ELEMENT(16)
ELEMENT(32)
ELEMENT(64)

#define WORD(bits)                                                                                                    \
  MADE(u##bits, nvshmem_uint##bits##_atomic_fetch(const u##bits *at, int pe)) { SAY_TO("fetch", pe); return *at; }    \
  MADE(u##bits, nvshmem_uint##bits##_atomic_fetch_add(u##bits *at, u##bits value, int pe)) {                          \
    SAY_TO("add", pe);                                                                                                \
    return *at += value;                                                                                              \
  }                                                                                                                   \
  MADE(u##bits, nvshmem_uint##bits##_atomic_swap(u##bits *at, u##bits value, int pe)) {                               \
    SAY_TO("swap", pe);                                                                                               \
    return *at = value;                                                                                               \
  }                                                                                                                   \
  MADE(u##bits, nvshmem_uint##bits##_atomic_compare_swap(u##bits *at, u##bits expected, u##bits value, int pe)) {     \
    SAY_TO("compare_swap", pe);                                                                                       \
    return *at == expected ? (*at = value) : 0;                                                                       \
  }                                                                                                                   \
  MADE(u##bits, nvshmem_uint##bits##_atomic_fetch_and(u##bits *at, u##bits value, int pe)) {                          \
    SAY_TO("and", pe);                                                                                                \
    return *at &= value;                                                                                              \
  }                                                                                                                   \
  MADE(u##bits, nvshmem_uint##bits##_atomic_fetch_or(u##bits *at, u##bits value, int pe)) {                           \
    SAY_TO("or", pe);                                                                                                 \
    return *at |= value;                                                                                              \
  }                                                                                                                   \
  MADE(u##bits, nvshmem_uint##bits##_atomic_fetch_xor(u##bits *at, u##bits value, int pe)) {                          \
    SAY_TO("xor", pe);                                                                                                \
    return *at ^= value;                                                                                              \
  }

WORD(32)
WORD(64)

// As in NVSHMEM 3.8: the transports are inlined after a switch on what the host has chosen. Each has values for what
// follows, which the other ways have, too.
MADE(int, nvshmemi_transfer_quiet(int sent)) {
  int seen = sent;
  switch (*(const CONSTANT int *)&nvshmemi_device_state_d.transport) {
  case 1:
    SAY("ibgda");
    for (int at = 0; at < nvshmemi_ibgda_device_state_d.queues; ++at) {
      SAY("ibgda polls");
      seen += at * sent;
    }
    break;
  case 2:
    SAY("gpunetio");
    seen = nvshmemi_gpunetio_device_state_d.queues + sent;
    break;
  default:
    SAY("quiet");
    seen -= 1;
  }
  SAY("quiet");
  return seen;
}
MADE(void, nvshmem_quiet(void)) {
  int sent = nvshmemi_device_state_d.version;
  if (nvshmemi_transfer_quiet(sent)) {
    SAY("quiet");
  }
}
MADE(void, nvshmemx_signal_op(u64 *at, u64 value, int operation, int pe)) { SAY_TO("signal", pe); *at = value; }

#define COPIES(name, group)                                                                                           \
  MADE(void, name##_putmem##group(char *to, const char *from, u64 bytes, int pe)) {                                   \
    SAY_TO("putmem", pe);                                                                                             \
    *to = *from;                                                                                                      \
  }                                                                                                                   \
  MADE(void, name##_getmem##group(char *to, const char *from, u64 bytes, int pe)) {                                   \
    SAY_TO("getmem", pe);                                                                                             \
    *to = *from;                                                                                                      \
  }                                                                                                                   \
  MADE(void, name##_putmem_signal##group(char *to, const char *from, u64 bytes, u64 *at, u64 value, int operation,    \
                                         int pe)) {                                                                   \
    SAY_TO("putmem_signal", pe);                                                                                      \
    *to = *from;                                                                                                      \
    *at = value;                                                                                                      \
  }

COPIES(nvshmem, )
COPIES(nvshmemx, _warp)
COPIES(nvshmemx, _block)

// What is not called, and is not to be linked.
MADE(void, nvshmem_unused(int *at)) { SAY("unused"); *at = 0; }
