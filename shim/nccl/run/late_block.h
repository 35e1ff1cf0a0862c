// A block that a call waits for, as it did not fit its slot, and that does not come.
#pragma once

#include <chrono>

namespace thinwire::nccl {

// Belongs to the service thread.
class LateBlock {
 public:
  void came() { since_ = {}; }
  // The block was looked for again, in vain. If it has been late for a while, logs that, once a
  // process.
  void missed(int from);

 private:
  std::chrono::steady_clock::time_point since_{};
};

}  // namespace thinwire::nccl
