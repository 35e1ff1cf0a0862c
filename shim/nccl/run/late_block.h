// A block that a call waits for, as it did not fit its slot, and that does not come.
#pragma once

#include <chrono>

namespace thinwire::nccl {

// Belongs to the service thread.
class LateBlock {
 public:
  void came() { since_ = {}; }
  // It is looked for again, in vain. Says so once a process, if it has been so for a while.
  void missed(int from);

 private:
  std::chrono::steady_clock::time_point since_{};
};

}  // namespace thinwire::nccl
