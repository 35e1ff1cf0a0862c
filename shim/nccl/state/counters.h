// Figures of one communicator: counts of each operation, and the memory of its GPU that was free
// around first calls.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

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
  // This rank's among them, at replays of graphs.
  std::atomic<std::uint64_t> spilled_at_replays{0};
  // Bytes of results that were coded as differences from earlier ones; all ranks' blocks.
  std::atomic<std::uint64_t> difference_bytes{0};
  std::atomic<std::uint64_t> sample_encodes{0};  // reports name them `trials`
  // Calls that are to be added in the order of the ranks: those that are, compressed or raw, and
  // those that NCCL adds in its own.
  std::atomic<std::uint64_t> in_rank_order{0}, out_of_rank_order{0};
};

// Adds the figures of `more`.
void add(Counters& to, const Counters& more);

// How much memory of its GPU was free before and after the first compressed call of each kind of
// a communicator: with the call NCCL may have connected ranks. For the report.
struct FreeMemory {
  int operation = 0;
  std::uint32_t dtype = 0;        // tw_dtype
  std::uint64_t least_bytes = 0;  // of the kind: below twice as many
  std::uint64_t before = 0, after = 0;
};

class FreeMemories {
 public:
  void add(const FreeMemory& of);
  // As a list of JSON objects, and as lines of a report in words.
  std::string as_json() const;
  std::string as_text() const;

 private:
  // Programs whose kinds never end would fill the memory.
  static constexpr std::size_t kMost = 256;

  std::vector<FreeMemory> all() const;

  mutable std::mutex mutex_;
  std::vector<FreeMemory> of_kinds_;
};

}  // namespace thinwire::nccl
