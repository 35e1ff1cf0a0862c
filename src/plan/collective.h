// How one collective is done, and whether compressed. Pure, from what is equal on all ranks: every
// rank computes the same plan.
#pragma once

#include <cstdint>
#include <span>

#include "base/dtype.h"
#include "codec/spec.h"
#include "plan/operation.h"
#include "plan/plan.h"
#include "plan/work.h"

namespace thinwire::plan {

// Alike on all ranks, the cost agreed between them.
struct CollectiveSettings {
  std::uint64_t threshold = 0;
  bool same_node = false;            // compress if no message leaves the node
  double link_bytes_per_second = 0;  // of a node; 0: not stated, the codec is trusted to win
  CodecCost cost;                    // of the slowest rank; read only if a link is stated
  std::uint64_t piece_bytes = 0;     // 0: planned
  bool force = false;                // compress whatever it costs
};

struct CollectiveFacts {
  Operation operation = Operation::kBcast;
  Reduction reduction = Reduction::kSum;  // read where the operation reduces
  Dtype dtype = Dtype::kBytes;
  std::uint64_t bytes = 0;  // of the whole array, as Work has it
  Spread spread;
  Algorithm algorithm = Algorithm::kPlanned;  // asked for
  Coding coding = Coding::kPlanned;
  std::span<const Way> ways;  // that there are, of any operations
};

struct CollectivePlan {
  Reason reason = Reason::kCompress;
  Algorithm algorithm = Algorithm::kPlanned;  // kPlanned: none does what is asked
  Coding coding = Coding::kPlanned;
  std::uint64_t piece_bytes = 0;
  std::uint32_t window = 0;  // pieces of a block under way at once
  double raw_seconds = 0;    // predicted, by the fastest way; 0 if no link is stated
  double seconds = 0;      // predicted, compressed; under "auto" at the most that can be hoped for
  double least_ratio = 0;  // below this one raw is faster; 0 if no link is stated
};

// Whatever the reason, algorithm and pieces are those to use: for raw values if it is not
// kCompress. A bound of the result may still prove too small for the data; collective/budget.h.
CollectivePlan plan_collective(const codec::Spec& spec, const CollectiveSettings& settings,
                               const CollectiveFacts& given);

// Whether a block is coded as its difference from an earlier one. Pure.

struct ReferenceFacts {
  double ordinary_share = 1;         // of a byte, what ordinary coding leaves
  double difference_share = 1;       // and what coding the difference leaves
  double link_bytes_per_second = 0;  // 0: not stated, what is smaller is taken to win
  double seconds_per_byte = 0;       // for differences on both ends and for keeping the result
};

// The gain of a reference: what it saves of each byte, in 4096ths; 0 if it does not pay.
std::uint32_t reference_gain(const ReferenceFacts& facts);
inline constexpr std::uint32_t kMostGain = 4096;

}  // namespace thinwire::plan
