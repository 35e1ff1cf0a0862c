// Counts a call of the program's, in the figures of its communicator, of the policy and of the
// trace.
#pragma once

#include <cstdint>

#include "state/communicators.h"

namespace thinwire::nccl {

// One call as it is counted.
struct Count {
  Communicator* communicator = nullptr;
  Operation operation = kAllReduce;
  int peer = -1;       // of a message
  unsigned codec = 0;  // of Settings::codecs
  int reason = 0;      // 0: compressed
  std::uint64_t bytes = 0;
  std::uint64_t wire_bytes = 0;
  int rule = -1;  // of the policy
};
void count(const Count& call);

}  // namespace thinwire::nccl
