// Calls of one communicator, on whichever streams, one after the other: what NCCL does with them
// anyway, for what a call does before and behind NCCL.
#pragma once

#include <atomic>
#include <cstdint>

#include "abi/cuda.h"

namespace thinwire::nccl {

// Of one host thread at a time. Calls are not in a graph.
class InOrder {
 public:
  InOrder() = default;
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;

  // What comes next on the stream waits for what was enqueued before the last end(). False: CUDA
  // has refused.
  bool begin(cudaStream_t stream);
  bool end(cudaStream_t stream);

  // Nothing is under way any more.
  void release();

 private:
  struct Turn;
  static void wait(void* turn);
  static void finish(void* turn);

  void* event_ = nullptr;  // on GPUs
  Turn* turn_ = nullptr;   // that is begun, on streams of host functions
  std::uint64_t begun_ = 0;
  std::atomic<std::uint64_t> finished_{0};
};

}  // namespace thinwire::nccl
