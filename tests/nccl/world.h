// Functions that test programs of NCCL's calls need besides those, in two worlds: the libnccl of
// the tests with streams and memory of the host, and NCCL with those of a GPU (NCCL_ON_GPUS). A
// program that uses only these runs in both.
#pragma once

#ifdef NCCL_ON_GPUS
#include <cuda_runtime_api.h>

#include "native/nccl_abi.h"
#else
#include "fake_nccl/fake_cuda.h"
#endif

#include <cstddef>
#include <cstdint>
#include <vector>

namespace world {

#ifdef NCCL_ON_GPUS
inline constexpr bool kOnGpus = true;
#else
inline constexpr bool kOnGpus = false;
#endif

using Bytes = std::vector<std::byte>;

// The calling thread's GPU is that one, modulo their number.
void use_gpu(int number);

// Complete when they return, on the calling thread's own stream: nothing of the program's is waited
// for.
void write(void* to, const void* from, std::size_t bytes);
void read(void* to, const void* from, std::size_t bytes);

// By the stream, after it comes to it; `from` stays as it is until then.
void write_in_order(void* to, const Bytes& from, cudaStream_t stream);

// Enqueues some work that nobody looks at.
void keep_busy(cudaStream_t stream);

// Buffers for calls that are all given back at once: a driver that gives memory back one by one may
// wait for all that is under way.
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Never null; `off` bytes after an address that suits any type. Ends the process if there is
  // no memory.
  std::byte* take(std::size_t bytes, std::size_t off = 0);
  std::byte* take(const Bytes& values, std::size_t off = 0);
  void give_back_all();

 private:
  struct Piece {
    std::byte* memory;
    std::size_t bytes;
  };
  std::vector<Piece> pieces_;
  std::size_t piece_ = 0, used_ = 0;
};

Bytes read(const std::byte* from, std::size_t bytes);

}  // namespace world
