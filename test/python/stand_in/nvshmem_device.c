// A stand-in for NVSHMEM's device library: the functions that far accesses call, each a call that shows in PTX.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

typedef struct { int version, connected; } State;
typedef struct { int major, minor, patch; } Version;
#define CONSTANT __attribute__((address_space(4)))
CONSTANT __attribute__((used)) State nvshmemi_device_state_d;
CONSTANT __attribute__((used)) Version nvshmemi_device_lib_version_d = {3, 4, 5};

#define MADE(type, ...) __attribute__((noinline, convergent)) type __VA_ARGS__
#define SAY(text) __asm__ volatile("// engine: " text ::: "memory")

#define ELEMENT(bits)                                                                                                 \
  MADE(void, nvshmem_uint##bits##_p(u##bits *at, u##bits value, int pe)) { SAY("p"); *at = value; }                   \
  MADE(u##bits, nvshmem_uint##bits##_g(const u##bits *at, int pe)) { SAY("g"); return *at; }

ELEMENT(8)
ELEMENT(16)
ELEMENT(32)
ELEMENT(64)

#define WORD(bits)                                                                                                    \
  MADE(u##bits, nvshmem_uint##bits##_atomic_fetch(const u##bits *at, int pe)) { SAY("fetch"); return *at; }           \
  MADE(u##bits, nvshmem_uint##bits##_atomic_fetch_add(u##bits *at, u##bits value, int pe)) {                          \
    SAY("add");                                                                                                       \
    return *at += value;                                                                                              \
  }                                                                                                                   \
  MADE(u##bits, nvshmem_uint##bits##_atomic_swap(u##bits *at, u##bits value, int pe)) {                               \
    SAY("swap");                                                                                                      \
    return *at = value;                                                                                               \
  }                                                                                                                   \
  MADE(u##bits, nvshmem_uint##bits##_atomic_compare_swap(u##bits *at, u##bits expected, u##bits value, int pe)) {     \
    SAY("compare_swap");                                                                                              \
    return *at == expected ? (*at = value) : 0;                                                                       \
  }

WORD(32)
WORD(64)

MADE(void, nvshmem_quiet(void)) {
  SAY("quiet");
  if (*(volatile CONSTANT int *)&nvshmemi_device_state_d.connected) {
    SAY("quiet");
  }
}
MADE(void, nvshmemx_signal_op(u64 *at, u64 value, int operation, int pe)) { SAY("signal"); *at = value; }
MADE(void, nvshmemx_putmem_warp(char *to, const char *from, u64 bytes, int pe)) { SAY("putmem"); *to = *from; }
MADE(void, nvshmemx_getmem_warp(char *to, const char *from, u64 bytes, int pe)) { SAY("getmem"); *to = *from; }

// What is not called, and is not to be linked.
MADE(void, nvshmem_unused(int *at)) { SAY("unused"); *at = 0; }
