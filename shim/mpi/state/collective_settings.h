// The user's wishes for collectives, and how the ranks tell each other.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// The calls that may be compressed as a whole, with the names that THINWIRE_COLLECTIVES has for
// them, which are those of its row in the core's table of settings. Those of which no rank knows
// all counts are compressed only if they are named: the third column.
// clang-format off
#define THINWIRE_COLLECTIVE_CALLS(X)                    \
  X(kBcast, "bcast", true)                              \
  X(kReduce, "reduce", true)                            \
  X(kAllreduce, "allreduce", true)                      \
  X(kReduceScatter, "reduce-scatter", true)             \
  X(kReduceScatterBlock, "reduce-scatter-block", true)  \
  X(kAllgather, "allgather", true)                      \
  X(kAllgatherv, "allgatherv", true)                    \
  X(kGather, "gather", true)                            \
  X(kGatherv, "gatherv", false)                         \
  X(kScatter, "scatter", true)                          \
  X(kScatterv, "scatterv", false)                       \
  X(kAlltoall, "alltoall", true)                        \
  X(kAlltoallv, "alltoallv", false)                     \
  X(kAlltoallw, "alltoallw", false)
// clang-format on

enum class CollectiveCall : std::uint32_t {
#define THINWIRE_ENUMERATOR(name, text, by_default) name,
  THINWIRE_COLLECTIVE_CALLS(THINWIRE_ENUMERATOR)
#undef THINWIRE_ENUMERATOR
};

constexpr std::uint32_t bit_of(CollectiveCall call) { return 1U << static_cast<unsigned>(call); }

constexpr bool compressed_by_name_alone(CollectiveCall call) {
  constexpr bool kByDefault[] = {
#define THINWIRE_BY_DEFAULT(name, text, by_default) by_default,
      THINWIRE_COLLECTIVE_CALLS(THINWIRE_BY_DEFAULT)
#undef THINWIRE_BY_DEFAULT
  };
  return !kByDefault[static_cast<unsigned>(call)];
}

struct CollectiveSettings {
  std::uint32_t calls = 0;  // THINWIRE_COLLECTIVES: bit_of() each that may be compressed as a whole
  double link_bytes_per_second = 0;  // THINWIRE_LINK; 0: not stated
  std::uint32_t algorithm =
      TW_ALGORITHM_PLANNED;  // THINWIRE_ALGORITHM names one, a coding, or both
  std::uint32_t coding = TW_CODING_PLANNED;
  bool root_decodes = false;  // THINWIRE_BCAST_ROOT is "decoded"
  std::uint64_t policy = 0;   // its hash; 0: there is none
};

// For what is wrong its default is taken; tw_settings_judge() says it.
CollectiveSettings read_collective_settings();

// For people, and for comparing: what is equal on all ranks of a compressed collective.
std::string collective_settings_text(const CollectiveSettings& settings, const tw_codec* codec,
                                     const tw_plan_settings& plan);

}  // namespace thinwire::mpi
