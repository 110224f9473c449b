; A library that is none of NVSHMEM's.
target triple = "nvptx64-nvidia-cuda"

define void @nothing() {
  ret void
}
