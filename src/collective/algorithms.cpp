#include "collective/algorithms.h"

#include <bit>
#include <vector>

#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

// ---- Codings that reach one value, of so many ranks or, of two levels, nodes ----

std::uint64_t one(int size) { return size > 1 ? 1 : 0; }
std::uint64_t each_other(int size) { return static_cast<std::uint64_t>(size) - 1; }
std::uint64_t each(int size) { return size > 1 ? static_cast<std::uint64_t>(size) : 0; }
std::uint64_t twice_each_other(int size) { return 2 * each_other(size); }

// The levels of a binomial tree below its root.
std::uint64_t levels(int size) {
  return static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(size))) - 1;
}

// Recursive doubling over a power of two, and each rank above it before.
std::uint64_t doublings(int size) {
  const std::uint64_t places = std::bit_floor(static_cast<unsigned>(size));
  return 2 * (places - 1) + (static_cast<std::uint64_t>(size) - places);
}

// Rounds of recursive doubling: one addition a round, and one of the rank that stands aside before
// them.
std::uint64_t rounds(int size) {
  return levels(size) + (std::has_single_bit(static_cast<unsigned>(size)) ? 0 : 1);
}

using enum Operation;
using enum Algorithm;
using Coding::kOnce, Coding::kPerHop, Coding::kTwoLevel;

constexpr Row kRows[] = {
    {kBcast, kChain, kOnce, bcast_chain, one},
    {kBcast, kChain, kPerHop, bcast_chain_per_hop, each_other},
    {kBcast, kChain, kTwoLevel, bcast_chain_two_level, one},
    {kBcast, kBinomial, kOnce, bcast_binomial, one},
    {kBcast, kBinomial, kPerHop, bcast_binomial_per_hop, levels},
    {kBcast, kBinomial, kTwoLevel, bcast_binomial_two_level, one},
    {kAllgather, kRing, kOnce, allgather_ring, one},
    {kAllgather, kRing, kPerHop, allgather_ring_per_hop, each_other},
    {kAllgather, kRing, kTwoLevel, allgather_ring_two_level, one},
    {kAllgather, kRecursiveDoubling, kOnce, allgather_recursive_doubling, one},
    {kAllgather, kBruck, kOnce, allgather_bruck, one},
    {kAllgather, kDirect, kOnce, allgather_direct, one},
    {kGather, kBinomial, kOnce, gather_binomial, one},
    {kGather, kBinomial, kTwoLevel, gather_binomial_two_level, one},
    {kGather, kDirect, kOnce, gather_direct, one},
    {kGather, kDirect, kTwoLevel, gather_direct_two_level, one},
    {kScatter, kBinomial, kOnce, scatter_binomial, one},
    {kScatter, kBinomial, kPerHop, scatter_binomial_per_hop, levels},
    {kScatter, kBinomial, kTwoLevel, scatter_binomial_two_level, one},
    {kScatter, kDirect, kOnce, scatter_direct, one},
    {kScatter, kDirect, kTwoLevel, scatter_direct_two_level, one},
    {kAlltoall, kPairwise, kOnce, alltoall_pairwise, one},
    {kAlltoall, kPairwise, kTwoLevel, alltoall_pairwise_two_level, one},
    {kReduce, kBinomial, kOnce, reduce_binomial, each_other},
    {kReduce, kBinomial, kTwoLevel, reduce_binomial_two_level, each_other},
    {kReduce, kDirect, kOnce, reduce_direct, each},
    {kReduce, kRankOrder, kOnce, reduce_in_rank_order, each},
    {kReduce, kExact, kOnce, reduce_exactly, each},
    {kAllreduce, kRing, kOnce, allreduce_ring, each},
    {kAllreduce, kRing, kPerHop, allreduce_ring_per_hop, twice_each_other},
    {kAllreduce, kRing, kTwoLevel, allreduce_ring_two_level, each},
    {kAllreduce, kRecursiveDoubling, kOnce, allreduce_recursive_doubling, doublings, rounds},
    {kAllreduce, kDirect, kOnce, allreduce_direct, each},
    {kAllreduce, kDirect, kTwoLevel, allreduce_direct_two_level, each},
    {kAllreduce, kRankOrder, kOnce, allreduce_in_rank_order, each},
    {kAllreduce, kExact, kOnce, allreduce_exactly, each},
    {kReduceScatter, kRing, kOnce, reduce_scatter_ring, each_other},
    {kReduceScatter, kRing, kPerHop, reduce_scatter_ring, each_other},
    {kReduceScatter, kRing, kTwoLevel, reduce_scatter_ring_two_level, each_other},
    {kReduceScatter, kDirect, kOnce, reduce_scatter_direct, each_other},
    {kReduceScatter, kRankOrder, kOnce, reduce_scatter_in_rank_order, each_other},
    {kReduceScatter, kExact, kOnce, reduce_scatter_exactly, each_other},
};

constexpr const char* kOperationNames[] = {"bcast",    "allgather", "gather",    "scatter",
                                           "alltoall", "reduce",    "allreduce", "reduce-scatter"};
static_assert(std::size(kOperationNames) == plan::kOperationCount);

constexpr const char* kAlgorithmNames[] = {"planned",    "ring",     "recursive-doubling", "direct",
                                           "chain",      "binomial", "pairwise",           "bruck",
                                           "rank-order", "exact"};
static_assert(std::size(kAlgorithmNames) == plan::kAlgorithmCount);

constexpr const char* kCodingNames[] = {"planned", "once", "per-hop", "two-level"};
static_assert(std::size(kCodingNames) == plan::kCodingCount);

}  // namespace

std::span<const Row> algorithms() { return kRows; }

std::span<const plan::Way> all_ways() {
  static const auto* const ways = [] {
    auto* const found = new std::vector<plan::Way>;
    for (const Row& row : kRows) found->push_back({row.operation, row.algorithm, row.coding});
    return found;
  }();
  return *ways;
}

const Row* find_algorithm(Operation operation, Algorithm algorithm, Coding coding) {
  for (const Row& row : kRows) {
    if (row.operation == operation && row.algorithm == algorithm && row.coding == coding) {
      return &row;
    }
  }
  return nullptr;
}

const char* operation_name(Operation operation) {
  return kOperationNames[static_cast<std::size_t>(operation)];
}

const char* algorithm_name(Algorithm algorithm) {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

const char* coding_name(Coding coding) { return kCodingNames[static_cast<std::size_t>(coding)]; }

}  // namespace thinwire::collective
