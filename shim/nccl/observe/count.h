// Counts a call of the program's, in the figures of its communicator, of the policy and of the
// trace.
#pragma once

#include <cstdint>

#include "state/communicators.h"

namespace thinwire::nccl {

// Whether a sum that is to be added in the order of the ranks is; kAny: no call of these.
enum class Order : std::uint8_t { kAny, kOfRanks, kOfNccl };

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
  Order order = Order::kAny;
};
void count(const Count& call);

// THINWIRE_TRACE and THINWIRE_METRICS of an NCCL program: what it asked of NCCL, over time, in
// files of each process (docs/reference/trace.md).

// Whether either is wanted.
bool is_traced();

// Any thread. The first one begins the trace; calls that only receive are left to who sends.
void trace_call(const Count& call);

// Writes what is left; waits for that. No more calls are traced.
void end_trace();

}  // namespace thinwire::nccl
