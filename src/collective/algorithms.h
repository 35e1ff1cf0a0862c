// The table of schedules: tests, plan, benches and the C ABI enumerate it.
#pragma once

#include <cstdint>
#include <span>

#include "collective/schedule.h"

namespace thinwire::collective {

// Values are part of the C ABI (tw_algorithm); never renumber. kPlanned names none.
enum class Algorithm : std::uint32_t {
  kPlanned = 0,
  kRing = 1,
  kRecursiveDoubling = 2,
  kDirect = 3,  // all-to-all of pieces; of rooted operations: the root talks to each rank
  kChain = 4,
  kBinomial = 5,
  kPairwise = 6,
  kBruck = 7,
};
inline constexpr int kAlgorithmCount = 8;

// How packets are coded on their way.
enum class Coding : std::uint32_t {
  kOnce = 0,      // values are encoded where they come from and packets are forwarded untouched
  kPerHop = 1,    // every rank decodes what it gets and encodes what it sends
  kTwoLevel = 2,  // values between the ranks of a node, packets between nodes
};

struct Row {
  Operation operation;
  Algorithm algorithm;
  Coding coding;
  Schedule (*make)(const Topology& topology);

  // Most codings, one behind the other or summed up, that reach one value of the result.
  std::uint64_t (*codings)(int size);
};

std::span<const Row> algorithms();

// nullptr where there is no such row.
const Row* find_algorithm(Operation operation, Algorithm algorithm, Coding coding);

const char* operation_name(Operation operation);  // as in "allreduce"
const char* algorithm_name(Algorithm algorithm);  // as in "recursive-doubling"
const char* coding_name(Coding coding);           // as in "per-hop"

}  // namespace thinwire::collective
