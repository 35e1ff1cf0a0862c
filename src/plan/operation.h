// Properties of collective operations, and the ways there are to do them.
#pragma once

#include <cstdint>

namespace thinwire::plan {

// Values are part of the C ABI (tw_operation, tw_reduction, tw_algorithm, tw_coding); never
// renumber.
enum class Operation : std::uint32_t {
  kBcast = 0,
  kAllgather = 1,
  kGather = 2,
  kScatter = 3,
  kAlltoall = 4,
  kReduce = 5,
  kAllreduce = 6,
  kReduceScatter = 7,
};
inline constexpr int kOperationCount = 8;

// Whether its results are reductions of what several ranks have.
constexpr bool reduces(Operation operation) { return operation >= Operation::kReduce; }

enum class Reduction : std::uint32_t { kSum = 0, kProduct = 1, kMinimum = 2, kMaximum = 3 };
inline constexpr int kReductionCount = 4;

// kPlanned names none.
enum class Algorithm : std::uint32_t {
  kPlanned = 0,
  kRing = 1,
  kRecursiveDoubling = 2,
  kDirect = 3,  // all-to-all of pieces; of rooted operations: the root talks to each rank
  kChain = 4,
  kBinomial = 5,
  kPairwise = 6,
  kBruck = 7,
  kRankOrder = 8,  // of reductions: as kDirect, added in the order of the ranks
  kExact = 9,      // the same, but of a sum the exact total is rounded once
};
inline constexpr int kAlgorithmCount = 10;

// How packets are coded on their way; kPlanned names none.
enum class Coding : std::uint32_t {
  kPlanned = 0,
  kOnce = 1,      // values are encoded where they come from and packets are forwarded untouched
  kPerHop = 2,    // every rank decodes what it gets and encodes what it sends
  kTwoLevel = 3,  // values between the ranks of a node, packets between nodes
};
inline constexpr int kCodingCount = 4;

}  // namespace thinwire::plan
