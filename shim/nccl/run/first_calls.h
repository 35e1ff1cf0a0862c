// Free memory of the GPU around calls that are the first compressed ones of their kinds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "run/planned.h"

namespace thinwire::nccl {

class FirstCalls {
 public:
  // The calls are about to be enqueued; nobody has their compressors' locks.
  explicit FirstCalls(std::span<const Planned> calls);
  // The calls are enqueued, and NCCL has taken the memory for them.
  void note_end() const;

 private:
  struct First {
    const Planned* call;
    std::uint64_t before;
  };
  std::vector<First> first_;
};

}  // namespace thinwire::nccl
