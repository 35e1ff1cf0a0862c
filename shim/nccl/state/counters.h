// Counts of one operation on one communicator.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "state/operation.h"
#include "state/reason.h"

namespace thinwire::nccl {

// Counts of one operation on one communicator.
struct Counters {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> bytes{0};  // that this rank gives the others, itself among them
  std::array<std::atomic<std::uint64_t>, kReasons> raw{};  // calls, by why they went raw
  std::atomic<std::uint64_t> compressed{0};                // calls
  std::atomic<std::uint64_t> wire_bytes{0};  // of `bytes`, as they travel beside what is spilled
  // Counts of compressed calls alone:
  std::atomic<std::uint64_t> compressed_bytes{0}, compressed_wire_bytes{0};
  std::atomic<std::uint64_t> frames{0};  // blocks of this rank that fitted their slots
  std::atomic<std::uint64_t> spilled_blocks{0}, spilled_blocks_received{0};
  // Bytes of results that were coded as differences from earlier ones; all ranks' blocks.
  std::atomic<std::uint64_t> difference_bytes{0};
  std::atomic<std::uint64_t> sample_encodes{0};  // reports name them `trials`
};

// Adds the figures of `more`.
void add(Counters& to, const Counters& more);

}  // namespace thinwire::nccl
